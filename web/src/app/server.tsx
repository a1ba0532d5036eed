import { type PageData, type RenderApplication, structuredDataScript } from '@robokids/contracts/pages'
import { QueryClient } from '@tanstack/react-query'
import {
  type AnyRoute,
  type AnyRouter,
  type AsyncRouteComponent,
  rootRouteId,
  RouterContextProvider,
} from '@tanstack/react-router'
import { createRequestHandler, RouterServer, renderRouterToString } from '@tanstack/react-router/ssr/server'
import { renderToString } from 'react-dom/server'
import { headOf } from '../head/head-of.ts'
import { pageMetadata } from '../head/page-metadata.ts'
import { structuredData } from '../head/structured-data.ts'
import { Document } from './Document.tsx'
import { answerQueries } from './page-data.ts'
import type { ClientFiles } from './page-files.ts'
import { buildRouter, type Context } from './router.tsx'

declare global {
  /** Records the router's dynamic imports during the build. */
  var importedModules: string[] | undefined
}

/** Options for rendering documents only: in the browser, `followNavigation` updates the head. */
function documentOptions(path: string, title: string) {
  return {
    // For pages about one visitor only the frame is prerendered.
    ssr: path === '' || Object.hasOwn(pageMetadata, path),
    head: ({ match }: { match: { context: Context } }) => headOf({ path, title, siteUrl: match.context.siteUrl }),
  }
}

const { routesByPath, routesById } = buildRouter(new QueryClient())
routesById[rootRouteId]?.update(documentOptions('', 'Page not found'))
for (const [path, route] of Object.entries(routesByPath as Record<string, AnyRoute>)) {
  route.update(documentOptions(path, route.options.staticData?.title ?? ''))
}

type Screen = Pick<AsyncRouteComponent<object>, 'preload'>

const modulesOf = new Map<unknown, Promise<string[]>>()

/** The modules of a screen, recorded at its first import, one screen at a time. */
function screenModules(screen: Screen | undefined): Promise<string[]> {
  const load = async () => {
    globalThis.importedModules = []
    await screen?.preload?.()
    const modules = globalThis.importedModules
    globalThis.importedModules = undefined
    return modules
  }
  const known = modulesOf.get(screen) ?? load()
  modulesOf.set(screen, known)
  return known
}

/** The request handler for a page. */
function handler(path: string, siteUrl: string, data: PageData = {}) {
  const queryClient = new QueryClient()
  answerQueries(queryClient, data, Date.now())
  return createRequestHandler({
    createRouter: () => buildRouter(queryClient, { siteUrl }),
    request: new Request(new URL(path, siteUrl)),
  })
}

/** Rendered separately, as it is hydrated: React counts its ids from this root. */
function applicationOf(router: AnyRouter): string {
  const application = renderToString(<RouterServer router={router} />)
  // React's marker for a boundary that failed on the server.
  if (application.includes('<!--$!-->')) throw new Error(`${router.latestLocation.href} needs a browser.`)
  return application
}

/** Renders a page's markup with current data, to replace that in its document. */
export const renderApplication: RenderApplication = async (path, siteUrl, data) => {
  const handle = handler(path, siteUrl, data)
  const response = await handle(async ({ router }) => new Response(applicationOf(router)))
  return response.text()
}

/** Renders the document of a path, without any visitor's data. */
export async function renderPage(
  path: string,
  siteUrl: string,
  files: ClientFiles,
): Promise<{ status: number; html: string }> {
  const route = (routesByPath as Record<string, AnyRoute>)[path]
  const screen: unknown = route ? route.options.component : routesById[rootRouteId]?.options.notFoundComponent
  const modules = await screenModules(screen as Screen | undefined)
  const pageFiles = { ...files, preloads: [...new Set([...files.preloads, ...modules.flatMap(files.filesOf)])] }
  const handle = handler(path, siteUrl)
  const response = await handle(({ router, responseHeaders }) =>
    renderRouterToString({
      router,
      responseHeaders,
      children: (
        <RouterContextProvider router={router}>
          <Document application={applicationOf(router)} siteUrl={siteUrl} files={pageFiles} />
        </RouterContextProvider>
      ),
    }),
  )
  const things = structuredData(path, route?.options.staticData?.title ?? '', siteUrl)
  const html = await response.text()
  return { status: response.status, html: html.replace('</head>', () => `${structuredDataScript(things)}</head>`) }
}

export { feeds } from '../head/feeds.ts'
export { buildOrigin, pagePaths } from '@robokids/contracts/pages'
