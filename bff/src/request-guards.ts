import rateLimit from '@fastify/rate-limit'
import { isAccessCheck } from '@robokids/runtime/access-check'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { networkOf } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import { RequestCounts } from './request-counts.ts'

/** Allows a page to load our own files, and to run inline scripts and styles with these hashes. */
export function contentSecurityPolicy({ scripts, styles }: { scripts: string[]; styles: string[] }): string {
  return [
    "default-src 'self'",
    ["script-src 'self'", ...scripts].join(' '),
    ["style-src 'self'", ...(styles.length > 0 ? ["'unsafe-hashes'"] : []), ...styles].join(' '),
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    // The waiver is embedded in its page.
    "object-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ')
}

/** Built once: building them per response halves the throughput. */
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
 * Whether the matched route is part of the API. Not decided by the request's URL, because an encoded letter or an absolute URL in
 * the request line matches the same route.
 */
export function isApi(request: FastifyRequest): boolean {
  return request.routeOptions.url?.startsWith('/api/') ?? false
}

/** Whether a request only reads. */
export function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Applies to all public requests: security headers, rate limits, client ids and the origin of changes. */
export async function registerRequestGuards(http: Http, context: Context<Config>): Promise<void> {
  const { config } = context
  Object.assign(http.responseHeaders, securityHeaders(config.SITE_URL))
  http.addHook('onSend', async (request, reply) => {
    if (isApi(request) && reply.getHeader('cache-control') === undefined) void reply.header('cache-control', 'no-store')
  })

  await http.register(rateLimit, {
    timeWindow: '1 minute',
    store: class extends RequestCounts {
      constructor() {
        super(context)
      }
    },
    max: (request) => (isRead(request) ? config.RATE_LIMIT_READS : config.RATE_LIMIT_WRITES),
    // Reads and writes are counted separately, so that polling never blocks a payment.
    keyGenerator: (request) => `${isRead(request) ? 'read' : 'write'} ${networkOf(request.ip)}`,
    allowList: (request) => !isApi(request),
    errorResponseBuilder: () => new DomainError('rate_limited', 'Too many requests. Please try again in a minute.'),
  })

  // Runs access checks after the rate limit, so that guesses are counted like all requests.
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
