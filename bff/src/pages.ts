import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import fastifyStatic from '@fastify/static'
import { pagePaths, redirects } from '@robokids/contracts/pages'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Config } from './config.ts'

/** Serves the built web: hashed files for ever, pages always fresh, and 404 with a page for addresses that have none. */
export async function pages(http: Http, config: Config): Promise<void> {
  const root = resolve(config.WEB_DIST)
  const document = await readFile(join(root, 'index.html'))

  await http.register(fastifyStatic, {
    root,
    index: false,
    wildcard: false,
    cacheControl: false,
    setHeaders(reply, path) {
      const hashed = path.startsWith(join(root, 'assets'))
      void reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
    },
  })

  for (const path of pagePaths) {
    http.get(path, (_request, reply) =>
      reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(document),
    )
  }
  for (const [from, to] of Object.entries(redirects)) http.get(from, (_request, reply) => reply.redirect(to, 301))

  http.get<{ Params: { '*': string } }>('/*', (request, reply) => {
    const wantsPage = /\btext\/html\b/.test(request.headers.accept ?? '')
    if (!wantsPage || /^(api|assets|webhooks)\//.test(request.params['*'])) {
      throw new DomainError('not_found', 'There is nothing at this address.')
    }
    return reply.code(404).type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(document)
  })
}
