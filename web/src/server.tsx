import { QueryClient } from '@tanstack/react-query'
import { type AnyRoute, type AsyncRouteComponent, rootRouteId } from '@tanstack/react-router'
import { createRequestHandler, RouterServer, renderRouterToString } from '@tanstack/react-router/ssr/server'
import { structuredData } from './head/structured-data.ts'
import { buildRouter } from './router.tsx'

/** What the build made of the modules of `src`, for the tags that load it. */
export interface ClientFiles {
  script: string
  styles: string[]
  /** The files that the script asks for at once. */
  preloads: string[]
  /** Those in which the module, `./routes/Home.tsx`, is, with what they ask for at once. */
  filesOf: (module: string) => string[]
}

declare global {
  /** The router's dynamic imports, as they are made: the build notes them. */
  var importedModules: string[] | undefined
}

type Screen = Pick<AsyncRouteComponent<object>, 'preload'>

const modulesOf = new Map<unknown, Promise<string[]>>()

/** The modules that a screen is loaded from. They are noted at its first load, one screen after the other. */
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

/** Renders the document that an address answers with, before any visitor is known. */
export async function renderPage(
  path: string,
  siteUrl: string,
  files: ClientFiles,
): Promise<{ status: number; html: string }> {
  const { routesByPath, routesById } = buildRouter(new QueryClient())
  const route = (routesByPath as Record<string, AnyRoute>)[path]
  const screen: unknown = route ? route.options.component : routesById[rootRouteId].options.notFoundComponent
  const modules = await screenModules(screen as Screen | undefined)
  const preloads = new Set([...files.preloads, ...modules.flatMap(files.filesOf)])
  const handle = createRequestHandler({
    createRouter: () => buildRouter(new QueryClient(), { siteUrl }),
    request: new Request(new URL(path, siteUrl)),
    getRouterManifest: () => ({
      routes: {
        [rootRouteId]: {
          css: files.styles,
          scripts: [{ attrs: { type: 'module', src: files.script } }],
          preloads: [...preloads],
        },
      },
    }),
  })
  const response = await handle(({ router, responseHeaders }) =>
    renderRouterToString({ router, responseHeaders, children: <RouterServer router={router} /> }),
  )
  const things = structuredData(path, route?.options.staticData?.title ?? '', siteUrl)
  const html = await response.text()
  if (things.length === 0) return { status: response.status, html }
  // No text in it ends it.
  const json = JSON.stringify({ '@context': 'https://schema.org', '@graph': things }).replaceAll('<', '\\u003c')
  const script = `<script type="application/ld+json">${json}</script>`
  return { status: response.status, html: html.replace('</head>', () => `${script}</head>`) }
}

export { feeds } from './head/feeds.ts'
export { pagePaths } from '@robokids/contracts/pages'
