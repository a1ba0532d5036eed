import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { pagePaths } from '@robokids/contracts/pages'
import type { StubApi } from './stub-api.ts'

const web = join(import.meta.dirname, '..')

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** What the real door allows; a page that needs more fails here as well. */
const policy =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; object-src 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'self'"

export interface Build {
  dist: string
  remove: () => Promise<void>
}

/** The web as it is shipped, in a folder of its own. */
export async function buildWeb(...options: string[]): Promise<Build> {
  const dist = await mkdtemp(join(tmpdir(), 'robokids-web-'))
  const vite = join(web, '..', 'node_modules', 'vite', 'bin', 'vite.js')
  await promisify(execFile)(
    process.execPath,
    [vite, 'build', '--outDir', dist, '--emptyOutDir', '--logLevel', 'error', ...options],
    {
      cwd: web,
      env: { ...process.env, NODE_ENV: 'production' },
    },
  )
  return { dist, remove: () => rm(dist, { recursive: true, force: true }) }
}

export interface Site {
  url: string
  close: () => Promise<void>
}

/** Serves a build (the newest one, where `dist` tells which) as the BFF does, with the API's answers and the card page from `api`. */
export async function serveSite(dist: string | (() => string), api: StubApi): Promise<Site> {
  const file = (name: string) => readFile(join(typeof dist === 'string' ? dist : dist(), name))
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site')
    if (pathname.startsWith('/api/') || pathname === '/waiver.pdf' || pathname === '/card-page') {
      return api.answer(request, response)
    }
    response.setHeader('content-security-policy', policy)
    const extension = extname(pathname)
    if (extension in types) {
      const content = await file(pathname).catch(() => undefined)
      response.writeHead(content ? 200 : 404, { 'content-type': content ? types[extension] : 'application/json' })
      return response.end(content ?? '{}')
    }
    const known = (pagePaths as readonly string[]).includes(pathname)
    response.writeHead(known ? 200 : 404, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
    return response.end(await file('index.html'))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
