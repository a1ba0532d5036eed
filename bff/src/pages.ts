import { redirects } from '@robokids/contracts/pages'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import { contentSecurityPolicy } from './doorkeeping.ts'
import { readSiteFiles, type SiteFile } from './site-files.ts'

function send(request: FastifyRequest, reply: FastifyReply, file: SiteFile, status?: 404) {
  const answer = file.answer({
    acceptEncoding: String(request.headers['accept-encoding'] ?? ''),
    // Nothing is "not modified" at an address that has nothing.
    ifNoneMatch: status === 404 ? undefined : request.headers['if-none-match'],
  })
  return reply
    .code(status ?? answer.status)
    .headers(answer.headers)
    .send(answer.body)
}

/** Serves the built web: hashed files for ever, pages always fresh, and 404 with a page for addresses that have none. */
export async function pages(http: Http, config: Config): Promise<void> {
  const { files, documents, notFound } = await readSiteFiles(config.WEB_DIST, config.SITE_URL, contentSecurityPolicy)

  for (const [path, document] of documents) {
    http.get(path, (request, reply) => send(request, reply, document.file()))
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
