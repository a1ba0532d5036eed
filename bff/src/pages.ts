import { setTimeout as after } from 'node:timers/promises'
import { type PagePath, redirects, type RenderApplication, structuredDataScript } from '@robokids/contracts/pages'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import { contentSecurityPolicy } from './doorkeeping.ts'
import { readSiteFiles, type SiteDocument, type SiteFile } from './site-files.ts'
import type { Services } from './upstream.ts'
import { type LivePage, livePages } from './views/live-pages.ts'

/**
 * For how long documents repeat what the services said before they are asked again, for how long while they are, and how
 * long one waits for them where nothing newer is known.
 */
const repeatForMs = 5_000
const repeatMeanwhileForMs = 60_000
const waitForMs = 400

function send(request: FastifyRequest, reply: FastifyReply, file: SiteFile, status?: 404) {
  const answer = file.answer({
    acceptEncoding: request.headers['accept-encoding'],
    // Nothing is "not modified" at an address that has nothing.
    ifNoneMatch: status === 404 ? undefined : request.headers['if-none-match'],
  })
  return reply
    .code(status ?? answer.status)
    .headers(answer.headers)
    .send(answer.body)
}

/** Asks at most every few seconds, and has nobody wait who came a moment later; undefined where no answer comes in time. */
function lately<Answer>(ask: () => Promise<Answer | undefined>): () => Promise<Answer | undefined> {
  let last: { askedAt: number; answer: Promise<Answer | undefined> } | undefined
  let known: { askedAt: number; answer: Answer } | undefined
  return async () => {
    const now = performance.now()
    if (!last || now - last.askedAt > repeatForMs) {
      const asked = { askedAt: now, answer: ask() }
      last = asked
      void asked.answer.then((answer) => {
        if (answer !== undefined) known = { askedAt: asked.askedAt, answer }
      })
    }
    if (known && now - known.askedAt < repeatMeanwhileForMs) return known.answer
    const late = new AbortController()
    try {
      return await Promise.race([last.answer, after(waitForMs, undefined, { signal: late.signal })])
    } finally {
      late.abort()
    }
  }
}

/** Renders a page with what is known of it, anew where that changed. */
function renderer(path: PagePath, document: SiteDocument, siteUrl: string, render: RenderApplication) {
  let last: { known: string; file: SiteFile } | undefined
  return async ({ data, things }: LivePage): Promise<SiteFile> => {
    const known = JSON.stringify(data)
    if (last?.known === known) return last.file
    const markup = await render(path, siteUrl, data)
    const file = document.fileOfToday({ markup, data, head: structuredDataScript(things) })
    last = { known, file }
    return file
  }
}

/** Serves the built web: hashed files for ever, pages always fresh, and 404 with a page for addresses that have none. */
export async function pages(http: Http, { config, log }: Context<Config>, services: Services): Promise<void> {
  const site = await readSiteFiles(config.WEB_DIST, config.SITE_URL, contentSecurityPolicy)
  const { files, documents, notFound } = site
  const live = livePages(services, config.SITE_URL)

  for (const [path, document] of documents) {
    const read = live.get(path)
    if (!read) {
      http.get(path, (request, reply) => send(request, reply, document.file()))
      continue
    }
    const render = renderer(path, document, config.SITE_URL, site.renderApplication)
    const today = lately(async () => {
      try {
        return await render(await read())
      } catch (error) {
        log.warn({ err: error, path }, 'A page is served as it was built, without its prices and dates')
        return undefined
      }
    })
    http.get(path, async (request, reply) => send(request, reply, (await today()) ?? document.file()))
  }
  for (const [from, to] of Object.entries(redirects)) http.get(from, (_request, reply) => reply.redirect(to, 301))

  http.get<{ Params: { '*': string } }>('/*', (request, reply) => {
    const path = request.params['*']
    const file = files.get(`/${path}`)
    if (file) return send(request, reply, file)
    const wantsPage = /\btext\/html\b/.test(request.headers.accept ?? '')
    if (!wantsPage || /^(api|assets|webhooks)\//.test(path)) {
      throw new DomainError('not_found', 'There is nothing at this address.')
    }
    return send(request, reply, notFound.file(), 404)
  })
}
