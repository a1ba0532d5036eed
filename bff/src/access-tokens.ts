import { createPublicKey } from 'node:crypto'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { createVerifier } from 'fast-jwt'
import { z } from 'zod'
import type { Config } from './config.ts'
import type { Upstream } from './upstream.ts'

const claimsSchema = z.object({
  token_use: z.literal('access'),
  sub: z.string(),
  username: z.string(),
  client_id: z.string(),
  iss: z.string(),
  exp: z.number(),
})
type AccessTokenClaims = z.infer<typeof claimsSchema>

/** Rejects an empty key set, which would sign everybody out. */
const keySetSchema = z.object({ keys: z.array(z.looseObject({ kid: z.string() })).min(1) })

/** The key set's max-age: a key that was withdrawn because it leaked is gone by then. */
const fetchEveryMs = 5 * 60_000
/**
 * How long keys are trusted while identity is unreachable. An access token lives for a day at most and only identity issues
 * new ones, so after a day there is no valid token left to verify.
 */
const trustedForMs = 24 * 3_600_000
/** The minimum time between two fetches, even if tokens name unknown keys. */
const minFetchIntervalMs = 2_000

export interface AccessTokens {
  /**
   * Verifies a token except for its expiry; renewing it is up to the caller.
   * @throws DomainError `sign_in_required` for a token that is not ours or whose key was withdrawn, `upstream_unavailable` if
   * identity's keys cannot be fetched
   */
  verify(token: string): Promise<AccessTokenClaims>
}

/** Verifies access tokens with identity's published keys, and keeps these up to date. */
export function startAccessTokens(http: Http, { config, log }: Context<Config>, service: Upstream): AccessTokens {
  const issuer = `${(config.IDENTITY_ISSUER_URL ?? config.IDENTITY_URL).replace(/\/+$/, '')}/${config.IDENTITY_POOL}`
  let keys = new Map<string, string>()
  let verifier = newVerifier()
  let fetchedAt = -Infinity
  let triedAt = -Infinity
  let fetching: Promise<void> | undefined

  /** A verifier caches its results, so it has to be replaced with its keys. */
  function newVerifier() {
    return createVerifier({
      key: async ({ header }: { header: { kid?: string } }) => keyOf(header.kid ?? ''),
      algorithms: ['RS256'],
      allowedIss: issuer,
      cache: 10_000,
      errorCacheTTL: -1,
      // Expiry is checked by our own clock, and an expiring token is renewed.
      ignoreExpiration: true,
    })
  }

  async function fetchKeys(): Promise<void> {
    triedAt = performance.now()
    const { status, body } = await service.raw('GET', `/${config.IDENTITY_POOL}/.well-known/jwks.json`)
    if (status !== 200) throw unavailable(new Error(`the key set request returned ${status}`))
    let published: Map<string, string>
    try {
      published = new Map(
        keySetSchema.parse(JSON.parse(body.toString())).keys.map((key) => {
          const publicKey = createPublicKey({ key: key as Record<string, string>, format: 'jwk' })
          return [key.kid, publicKey.export({ type: 'spki', format: 'pem' })]
        }),
      )
    } catch (error) {
      throw unavailable(error)
    }
    const isSame = published.size === keys.size && [...published].every(([kid, key]) => keys.get(kid) === key)
    if (!isSame) {
      keys = published
      verifier = newVerifier()
    }
    fetchedAt = performance.now()
  }

  /** Shared by all concurrent callers. */
  function fetchOnce(): Promise<void> {
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined
    })
    return fetching
  }

  const isTrusted = () => performance.now() - fetchedAt < trustedForMs

  /** Fetches the key set if the key is unknown, because it may be new. */
  async function keyOf(kid: string): Promise<string> {
    if (!keys.has(kid) && (fetching || performance.now() - triedAt > minFetchIntervalMs)) await fetchOnce()
    const key = keys.get(kid)
    if (key === undefined) throw new DomainError('sign_in_required', 'Please log in.')
    return key
  }

  const timer = setInterval(() => {
    // Fetches nothing before the first token.
    if (keys.size === 0 || performance.now() - fetchedAt < fetchEveryMs) return
    fetchOnce().catch((error: unknown) => log.warn({ err: error }, 'The key set of identity could not be fetched'))
  }, 60_000)
  http.addHook('onClose', () => clearInterval(timer))

  return {
    async verify(token) {
      if (!isTrusted() && (fetching || performance.now() - triedAt > minFetchIntervalMs)) await fetchOnce()
      if (!isTrusted()) throw unavailable(new Error('the key set of identity is too old'))
      try {
        const claims = claimsSchema.parse(await verifier(token))
        if (claims.client_id === config.IDENTITY_CLIENT_ID) return claims
      } catch (error) {
        const { originalError } = error as { originalError?: unknown }
        for (const cause of [error, originalError]) if (cause instanceof DomainError) throw cause
        log.warn({ err: error }, 'rejected an access token')
      }
      throw new DomainError('sign_in_required', 'Please log in.')
    },
  }
}
