import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin, Rolldown, ViteDevServer } from 'vite'
import type { ClientFiles } from './src/app/page-files.ts'
import type * as Server from './src/app/server.tsx'

type Chunk = Rolldown.OutputChunk

/** Where a page's document is in the built site. */
const documentOf = (path: string) => (path === '/' ? 'index.html' : `${path.slice(1)}.html`)

/** What the documents have to load, by what the build of the browser's files put out. */
function clientFilesOf(source: string, output: readonly (Chunk | Rolldown.OutputAsset)[]): ClientFiles {
  const chunks = new Map(output.filter((file) => file.type === 'chunk').map((chunk) => [chunk.fileName, chunk]))
  const withImports = (file: string, found = new Set<string>()): Set<string> => {
    if (found.has(file)) return found
    found.add(file)
    for (const imported of chunks.get(file)?.imports ?? []) withImports(imported, found)
    return found
  }
  const addresses = (files: Iterable<string>) => [...files].map((file) => `/${file}`)
  const entry = [...chunks.values()].find(({ isEntry }) => isEntry)
  if (!entry) throw new Error('The build has no entry.')
  return {
    script: `/${entry.fileName}`,
    styles: addresses(output.filter(({ fileName }) => fileName.endsWith('.css')).map(({ fileName }) => fileName)),
    preloads: addresses(withImports(entry.fileName)),
    filesOf: (module) => {
      const id = resolve(source, module)
      const chunk = [...chunks.values()].find(({ moduleIds }) => moduleIds.includes(id))
      if (!chunk) throw new Error(`The build has no file with ${module}.`)
      return addresses(withImports(chunk.fileName))
    },
  }
}

/** Renders every page, and the one for addresses that have none, into a file of its own. */
async function renderPages(server: typeof Server, files: ClientFiles, outDir: string): Promise<void> {
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(outDir, file)), { recursive: true })
    await writeFile(join(outDir, file), text)
  }
  for (const path of server.pagePaths) {
    const { status, html } = await server.renderPage(path, server.buildOrigin, files)
    if (status !== 200) throw new Error(`${path} was rendered with status ${status}.`)
    await write(documentOf(path), html)
  }
  const notFound = await server.renderPage('/no/page', server.buildOrigin, files)
  if (notFound.status !== 404) throw new Error(`An unknown address was rendered with status ${notFound.status}.`)
  await write('404.html', notFound.html)
  for (const [file, text] of Object.entries(server.feeds(server.buildOrigin))) await write(file, text)
}

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Puts a brotli and a gzip file beside each that gets smaller by it. Documents are compressed where they are served. */
async function compress(outDir: string): Promise<void> {
  const entries = await readdir(outDir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && /\.(js|css|svg|webmanifest)$/.test(entry.name))
  await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      const content = await readFile(path)
      const [smaller, small] = await Promise.all([
        brotli(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
        gzipped(content, { level: 9 }),
      ])
      if (small.length < content.length) await writeFile(`${path}.gz`, small)
      if (smaller.length < content.length) await writeFile(`${path}.br`, smaller)
    }),
  )
}

/**
 * Builds the browser's files, then the same pages for a server, and has it render each of them to a document. The server's are
 * put out as well: the server re-renders the documents whose prices and dates change. While developing, each document is rendered when it is asked for.
 */
export function prerender(): Plugin {
  let source = ''
  return {
    name: 'prerender',
    config: ({ build }, { command }) => ({
      appType: 'custom',
      builder: {},
      environments: {
        client: { build: { rolldownOptions: { input: 'src/app/main.tsx' } } },
        ssr: {
          // Whole in itself, in one file: where it runs there are none of the packages, and another build may take the folder's place.
          ...(command === 'build'
            ? { resolve: { noExternal: true }, define: { 'process.env.NODE_ENV': '"production"' } }
            : {}),
          build: {
            outDir: join(build?.outDir ?? 'dist', 'server'),
            rolldownOptions: { input: 'src/app/server.tsx', output: { codeSplitting: false } },
            ssr: true,
            copyPublicDir: false,
            emitAssets: false,
            minify: false,
          },
        },
      },
    }),
    configResolved({ root }) {
      source = resolve(root, 'src/app')
    },
    transform(code, id) {
      if (this.environment.name !== 'ssr' || id !== join(source, 'router.tsx')) return null
      return code.replaceAll(
        /\bimport\((['"])(\.{1,2}\/[^'"]+)\1\)/g,
        (found, _quote, module: string) => `(globalThis.importedModules?.push(${JSON.stringify(module)}), ${found})`,
      )
    },
    async buildApp(builder) {
      const { client, ssr } = builder.environments
      if (!client || !ssr) throw new Error('Vite has no environments to build.')
      const built = await builder.build(client)
      if (!('output' in built)) throw new Error('The build put out more than one.')
      const outDir = resolve(builder.config.root, client.config.build.outDir)
      await compress(outDir)
      await builder.build(ssr)
      const server = (await import(pathToFileURL(join(outDir, 'server/server.js')).href)) as typeof Server
      await renderPages(server, clientFilesOf(source, built.output), outDir)
    },
    configureServer: (vite) => () => renderOnDemand(vite),
  }
}

function renderOnDemand(vite: ViteDevServer): void {
  const files = { script: '/src/app/main.tsx', styles: [], preloads: [], filesOf: () => [] }
  vite.middlewares.use((request, response, next) => {
    const path = request.originalUrl ?? '/'
    const answer = async () => {
      const server = (await vite.ssrLoadModule('/src/app/server.tsx')) as typeof Server
      const { status, html } = await server.renderPage(path, `http://${request.headers.host}`, files)
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
      response.end(await vite.transformIndexHtml(path, html))
    }
    answer().catch(next)
  })
}
