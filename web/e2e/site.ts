import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type PagePath, redirects } from '@robokids/contracts/pages'
import { contentSecurityPolicy } from '../../bff/src/request-guards.ts'
import { readSiteFiles, type SiteFiles } from '../../bff/src/site-files.ts'
import type { StubApi } from './stub-api.ts'

const web = join(import.meta.dirname, '..')

export interface Build {
  dist: string
  remove: () => Promise<void>
}

/** A production build of the web in a temporary folder. */
export async function anotherBuild(...options: string[]): Promise<Build> {
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

/** Serves a build (the latest, if `dist` is a function) as the BFF does, with the responses and the card page of the current `api`. */
export async function serveSite(dist: string | (() => string), api: () => StubApi): Promise<Site> {
  let url = 'http://localhost'
  const builds = new Map<string, Promise<SiteFiles>>()
  const build = () => {
    const folder = typeof dist === 'string' ? dist : dist()
    const files = builds.get(folder) ?? readSiteFiles(folder, url, contentSecurityPolicy)
    builds.set(folder, files)
    return files
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', url)
    if (pathname.startsWith('/api/') || pathname === '/waiver.pdf' || pathname === '/card-page') {
      return api().answer(request, response)
    }
    const redirect = redirects[pathname]
    if (redirect) {
      response.writeHead(301, { location: redirect })
      return response.end()
    }
    const { files, documents, notFound } = await build()
    const found = documents.get(pathname as PagePath)?.file() ?? files.get(pathname)
    const { headers, body, status } = (found ?? notFound.file()).answer({
      acceptEncoding: request.headers['accept-encoding'],
      ifNoneMatch: found && request.headers['if-none-match'],
    })
    if (!found && pathname.startsWith('/assets/')) {
      response.writeHead(404, { 'content-type': 'application/json' })
      return response.end('{}')
    }
    response.writeHead(found ? status : 404, headers)
    return response.end(body)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  url = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    url,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
