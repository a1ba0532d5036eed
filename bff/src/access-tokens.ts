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

/** Without any key nobody could be signed in: rather an answer that is not believed. */
const keySetSchema = z.object({ keys: z.array(z.looseObject({ kid: z.string() })).min(1) })

/** As long as the key set says that it may be kept: a key that was withdrawn, since it leaked, is gone by then. */
const fetchEveryMs = 5 * 60_000
/**
 * How long keys are trusted that identity could not be asked about. An access token lives a day at most, and a new one
 * takes identity to make: after a day without it there is no valid token left that its keys would have to open.
 */
const trustedForMs = 24 * 3_600_000
/** The least time between two questions, also where tokens come that name unknown keys. */
const pauseMs = 2_000

export interface AccessTokens {
  /**
   * Checks everything but the end of a token, which is its holder's to renew.
   * @throws DomainError `sign_in_required` for a token that is not ours or whose key was withdrawn, `upstream_unavailable`
   * where identity cannot be asked for its keys
   */
  verify(token: string): Promise<AccessTokenClaims>
}

/** Checks access tokens by the keys that identity publishes, and keeps up with these. */
export function startAccessTokens(http: Http, { config, log }: Context<Config>, service: Upstream): AccessTokens {
  const issuer = `${(config.IDENTITY_ISSUER_URL ?? config.IDENTITY_URL).replace(/\/+$/, '')}/${config.IDENTITY_POOL}`
  let keys = new Map<string, string>()
  let verifier = newVerifier()
  let fetchedAt = -Infinity
  let triedAt = -Infinity
  let fetching: Promise<void> | undefined

  /** A verifier remembers what it has verified, so one that knew other keys must go with them. */
  function newVerifier() {
    return createVerifier({
      key: async ({ header }: { header: { kid?: string } }) => keyOf(header.kid ?? ''),
      algorithms: ['RS256'],
      allowedIss: issuer,
      cache: 10_000,
      errorCacheTTL: -1,
      // Its end is judged by our own clock, and a token at its end is renewed.
      ignoreExpiration: true,
    })
  }

  async function fetchKeys(): Promise<void> {
    triedAt = performance.now()
    const { status, body } = await service.raw('GET', `/${config.IDENTITY_POOL}/.well-known/jwks.json`)
    if (status !== 200) throw unavailable(new Error(`the key set was answered ${status}`))
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

  /** Once for all who wait. */
  function fetchOnce(): Promise<void> {
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined
    })
    return fetching
  }

  const isTrusted = () => performance.now() - fetchedAt < trustedForMs

  /** A key that is not known yet may be new. */
  async function keyOf(kid: string): Promise<string> {
    if (!keys.has(kid) && (fetching || performance.now() - triedAt > pauseMs)) await fetchOnce()
    const key = keys.get(kid)
    if (key === undefined) throw new DomainError('sign_in_required', 'Please log in.')
    return key
  }

  const timer = setInterval(() => {
    // Nothing is fetched before the first token.
    if (keys.size === 0 || performance.now() - fetchedAt < fetchEveryMs) return
    fetchOnce().catch((error: unknown) => log.warn({ err: error }, 'The key set of identity could not be fetched'))
  }, 60_000)
  http.addHook('onClose', () => clearInterval(timer))

  return {
    async verify(token) {
      if (!isTrusted() && (fetching || performance.now() - triedAt > pauseMs)) await fetchOnce()
      if (!isTrusted()) throw unavailable(new Error('the key set of identity is too old'))
      try {
        const claims = claimsSchema.parse(await verifier(token))
        if (claims.client_id === config.IDENTITY_CLIENT_ID) return claims
      } catch (error) {
        const { originalError } = error as { originalError?: unknown }
        for (const known of [error, originalError]) if (known instanceof DomainError) throw known
        log.warn({ err: error }, 'a token was refused')
      }
      throw new DomainError('sign_in_required', 'Please log in.')
    },
  }
}
