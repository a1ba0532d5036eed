import rateLimit from '@fastify/rate-limit'
import { isAccessCheck } from '@robokids/runtime/access-check'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { networkOf } from '@robokids/runtime/network-address'
import type { FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import { RequestCounts } from './request-counts.ts'

/** What a page may load and run: our own files, and of what is written into it only what these hashes name. */
export function contentSecurityPolicy({ scripts, styles }: { scripts: string[]; styles: string[] }): string {
  return [
    "default-src 'self'",
    ["script-src 'self'", ...scripts].join(' '),
    ["style-src 'self'", ...(styles.length > 0 ? ["'unsafe-hashes'"] : []), ...styles].join(' '),
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    // The waiver is shown inside its page.
    "object-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ')
}

/** Built once: made anew for every answer they cost half of the throughput. */
function securityHeaders(siteUrl: string): Record<string, string> {
  return {
    'content-security-policy': contentSecurityPolicy({ scripts: [], styles: [] }),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    ...(siteUrl.startsWith('https:') ? { 'strict-transport-security': 'max-age=63072000; includeSubDomains' } : {}),
  }
}

/**
 * Whether the route that answers is one of the API. The address as it was sent does not tell: an encoded letter or a whole
 * URL in the request line finds the same route.
 */
export function isApi(request: FastifyRequest): boolean {
  return request.routeOptions.url?.startsWith('/api/') ?? false
}

/** Whether a request changes nothing. */
export function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** What holds at the public door whatever is asked for: security headers, limits, client ids and the origin of changes. */
export async function doorkeeping(http: Http, config: Config): Promise<void> {
  Object.assign(http.responseHeaders, securityHeaders(config.SITE_URL))
  http.addHook('onSend', async (request, reply) => {
    if (isApi(request) && reply.getHeader('cache-control') === undefined) void reply.header('cache-control', 'no-store')
  })

  await http.register(rateLimit, {
    timeWindow: '1 minute',
    store: RequestCounts,
    max: (request) => (isRead(request) ? config.RATE_LIMIT_READS : config.RATE_LIMIT_WRITES),
    // Reads and writes are counted apart: a page that polls never uses up the way to pay.
    keyGenerator: (request) => `${isRead(request) ? 'read' : 'write'} ${networkOf(request.ip)}`,
    allowList: (request) => !isApi(request),
    errorResponseBuilder: () => new DomainError('rate_limited', 'Too many requests. Please try again in a minute.'),
  })

  // The limit comes before the question who somebody is: guesses are requests like any other.
  http.addHook('onRoute', (route) => {
    const hooks = [route.onRequest ?? []].flat()
    route.onRequest = [...hooks.filter((hook) => !isAccessCheck(hook)), ...hooks.filter(isAccessCheck)]
  })

  http.addHook('onRequest', async (request) => {
    if (!isApi(request)) return
    const changes = !isRead(request)
    const { origin } = request.headers
    if (changes && origin !== undefined && origin !== config.SITE_URL) {
      throw new DomainError('origin_forbidden', 'This request does not come from our site.')
    }
    const key = request.headers['x-api-key']
    if (key === undefined ? changes : !config.API_KEYS.includes(String(key))) {
      throw new DomainError('api_key_invalid', 'The x-api-key header is missing or unknown.')
    }
  })
}
