import { type PagePath, redirects, type RenderApplication, structuredDataScript } from '@robokids/contracts/pages'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import { contentSecurityPolicy } from './request-guards.ts'
import type { Offers } from './offers.ts'
import { SharedAssets } from './shared-assets.ts'
import { readSiteFiles, sendFile, type SiteDocument, type SiteFile } from './site-files.ts'
import { type DynamicPage, dynamicPages } from './views/dynamic-pages.ts'

/** Renders a page with its data, once for all requests until the data changes. */
function renderer(path: PagePath, document: SiteDocument, siteUrl: string, render: RenderApplication) {
  let last: { page: DynamicPage; key: string; file: Promise<SiteFile> } | undefined

  async function renderFile({ data, jsonLd }: DynamicPage): Promise<SiteFile> {
    const markup = await render(path, siteUrl, data)
    return document.renderedFile({ markup, data, head: structuredDataScript(jsonLd) })
  }

  return async (page: DynamicPage): Promise<SiteFile> => {
    if (last?.page === page) return last.file
    const key = JSON.stringify(page.data)
    const rendering = { page, key, file: last?.key === key ? last.file : renderFile(page) }
    last = rendering
    try {
      return await rendering.file
    } catch (error) {
      if (last === rendering) last = undefined
      throw error
    }
  }
}

/** The files of other builds. If the folder cannot be used, the site is served without them. */
async function shareAssets({ config, log }: Context<Config>): Promise<SharedAssets | undefined> {
  if (config.WEB_ASSETS_SHARED === undefined) return undefined
  const assets = new SharedAssets(config.WEB_ASSETS_SHARED)
  try {
    await assets.publish(config.WEB_DIST)
  } catch (error) {
    log.error({ err: error }, 'Other versions of the site cannot serve the files of this one')
  }
  return assets
}

/** Serves the built web: hashed files as immutable, pages revalidated, and a 404 page for unknown paths. */
export async function pages(http: Http, context: Context<Config>, offers: Offers): Promise<void> {
  const { config, log } = context
  const site = await readSiteFiles(config.WEB_DIST, config.SITE_URL, contentSecurityPolicy)
  const { files, documents, notFound } = site
  const shared = await shareAssets(context)
  const pagesWithData = dynamicPages(offers, config.SITE_URL)

  for (const [path, document] of documents) {
    // For developers only.
    if (path === '/design-system' && config.APP_ENV === 'production') continue
    const read = pagesWithData.get(path)
    if (!read) {
      http.get(path, (request, reply) => sendFile(request, reply, document.file()))
      continue
    }
    const render = renderer(path, document, config.SITE_URL, site.renderApplication)
    http.get(path, async (request, reply) => {
      const page = await read()
      if (!page) return sendFile(request, reply, document.file())
      const file = await render(page).catch((error: unknown) => {
        log.warn({ err: error, path }, 'Serving a page as built, without its prices and dates')
      })
      return sendFile(request, reply, file ?? document.file())
    })
  }
  for (const [from, to] of Object.entries(redirects)) http.get(from, (_request, reply) => reply.redirect(to, 301))

  http.get<{ Params: { '*': string } }>('/*', async (request, reply) => {
    const path = request.params['*']
    const file = files.get(`/${path}`) ?? (await shared?.find(path).catch(() => undefined))
    if (file) return sendFile(request, reply, file)
    const wantsPage = /\btext\/html\b/.test(request.headers.accept ?? '')
    if (!wantsPage || /^(api|assets|webhooks)\//.test(path)) {
      throw new DomainError('not_found', 'There is nothing at this address.')
    }
    return sendFile(request, reply, notFound.file(), 404)
  })
}
