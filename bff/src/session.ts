import { createHash, createPublicKey } from 'node:crypto'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { createDecoder, createVerifier } from 'fast-jwt'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Config } from './config.ts'
import type { Cookies, SessionCookie } from './cookies.ts'
import type { Identity, TokenAnswer } from './identity.ts'
import { unavailable, type Upstream } from './upstream.ts'

const claimsSchema = z.object({
  token_use: z.literal('access'),
  sub: z.string(),
  username: z.string(),
  client_id: z.string(),
  iss: z.string(),
  exp: z.number(),
})
const identityClaims = z.object({ email: z.string().default('') })

/** How long before its end a token is not used any more. */
const toleranceMs = 5_000
const sessionDays = 30

const keySetSchema = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) })

/** Whether the service has said that a sign-in is over, rather than that it cannot or will not say so now. */
function isOver(error: unknown): boolean {
  if (!(error instanceof DomainError)) return false
  if (error.code === 'NotAuthorizedException') {
    return /^(Access Token|Refresh Token|Invalid (Access|Refresh) Token|User is disabled)/.test(error.message)
  }
  return error.code === 'sign_in_required' || error.code === 'RefreshTokenReuseException'
}

/** Who is signed in in which browser. */
export interface Sessions {
  /** Begins a session with the tokens of a sign-in. */
  begin(reply: FastifyReply, tokens: TokenAnswer): Promise<SessionCookie>
  /** @returns the session of the request, with tokens that are good for a while; undefined where nobody is signed in. */
  find(request: FastifyRequest, reply: FastifyReply): Promise<SessionCookie | undefined>
  /** As `find`. @throws DomainError `sign_in_required` */
  need(request: FastifyRequest, reply: FastifyReply): Promise<SessionCookie>
  /**
   * Does something with a session's access token, and ends the session where the service says that it is over.
   * @throws DomainError `sign_in_required` then
   */
  use<T>(reply: FastifyReply, work: () => Promise<T>): Promise<T>
  end(reply: FastifyReply): void
}

export function startSessions(
  context: Context<Config>,
  cookies: Cookies,
  identity: Identity,
  service: Upstream,
): Sessions {
  const { config, clock, log } = context
  const now = () => clock.now().epochMilliseconds
  const issuer = `${(config.IDENTITY_ISSUER_URL ?? config.IDENTITY_URL).replace(/\/+$/, '')}/${config.IDENTITY_POOL}`
  const keys = new Map<string, string>()
  let askedAt = -Infinity
  let asking: Promise<void> | undefined

  async function askKeys(): Promise<void> {
    const { status, body } = await service.raw('GET', `/${config.IDENTITY_POOL}/.well-known/jwks.json`)
    if (status !== 200) throw unavailable(new Error(`the key set was answered ${status}`))
    for (const key of keySetSchema.parse(JSON.parse(body.toString())).keys) {
      const publicKey = createPublicKey({ key: key as Record<string, string>, format: 'jwk' })
      keys.set(key.kid, publicKey.export({ type: 'spki', format: 'pem' }))
    }
    askedAt = performance.now()
  }

  /** A key that is not known yet may be new: the service is asked for it, once for all who wait, but not for each token that names one. */
  async function keyOf(kid: string): Promise<string> {
    if (!keys.has(kid) && performance.now() - askedAt > 2_000) {
      asking ??= askKeys().finally(() => {
        asking = undefined
      })
      await asking
    }
    const key = keys.get(kid)
    if (key === undefined) throw new DomainError('sign_in_required', 'Please sign in.')
    return key
  }

  const verifier = createVerifier({
    key: async ({ header }: { header: { kid?: string } }) => keyOf(header.kid ?? ''),
    algorithms: ['RS256'],
    allowedIss: issuer,
    cache: 10_000,
    errorCacheTTL: -1,
    // Its end is judged by our own clock, and a token at its end is renewed.
    ignoreExpiration: true,
  })
  const decode = createDecoder()

  /** @throws DomainError `sign_in_required` for a token that is not ours. */
  async function verify(token: string): Promise<z.infer<typeof claimsSchema>> {
    try {
      const claims = claimsSchema.parse(await verifier(token))
      if (claims.client_id === config.IDENTITY_CLIENT_ID) return claims
    } catch (error) {
      const { originalError } = error as { originalError?: unknown }
      for (const known of [error, originalError]) if (known instanceof DomainError) throw known
      log.warn({ err: error }, 'a token was refused')
    }
    throw new DomainError('sign_in_required', 'Please sign in.')
  }

  async function sessionOf(tokens: TokenAnswer, refreshToken: string, since: number): Promise<SessionCookie> {
    const { sub, username } = await verify(tokens.AccessToken)
    return {
      accessToken: tokens.AccessToken,
      refreshToken: tokens.RefreshToken ?? refreshToken,
      userId: sub,
      username,
      email: identityClaims.parse(decode(tokens.IdToken)).email,
      since,
      until: since + sessionDays * 86_400_000,
    }
  }

  /** Requests of one page come at once: the first one renews for all of them. */
  const renewals = new Map<string, Promise<SessionCookie>>()
  function renew(session: SessionCookie, deviceKey: string | undefined, address: string): Promise<SessionCookie> {
    const id = createHash('sha256').update(session.refreshToken).digest('base64url')
    const known = renewals.get(id)
    if (known) return known
    const renewing = (async () => {
      const { AuthenticationResult } = await identity.call(
        'GetTokensFromRefreshToken',
        {
          ...identity.secretClient(),
          RefreshToken: session.refreshToken,
          ...(deviceKey === undefined ? {} : { DeviceKey: deviceKey }),
        },
        address,
      )
      return sessionOf(AuthenticationResult, session.refreshToken, session.since)
    })()
    renewals.set(id, renewing)
    const forget = () => setTimeout(() => renewals.delete(id), 5_000).unref()
    void renewing.then(forget, () => renewals.delete(id))
    return renewing
  }

  const sessions: Sessions = {
    async begin(reply, tokens) {
      if (tokens.RefreshToken === undefined) throw unavailable(new Error('a sign-in came without a refresh token'))
      const session = await sessionOf(tokens, tokens.RefreshToken, now())
      cookies.session.write(reply, session)
      return session
    },

    async find(request, reply) {
      const session = cookies.session.read(request)
      if (!session) return undefined
      try {
        const { exp } = await verify(session.accessToken)
        if (exp * 1000 - toleranceMs > now()) return session
        const device = cookies.device.read(request)
        const deviceKey = device?.names.includes(session.username.toLowerCase()) ? device.key : undefined
        const renewed = await renew(session, deviceKey, request.ip)
        cookies.session.write(reply, renewed)
        return renewed
      } catch (error) {
        if (!isOver(error)) throw error
        sessions.end(reply)
        return undefined
      }
    },

    async need(request, reply) {
      const session = await sessions.find(request, reply)
      if (!session) throw new DomainError('sign_in_required', 'Please sign in.')
      return session
    },

    async use(reply, work) {
      try {
        return await work()
      } catch (error) {
        if (!isOver(error)) throw error
        sessions.end(reply)
        throw new DomainError('sign_in_required', 'Please sign in.')
      }
    },

    end(reply) {
      cookies.session.clear(reply)
    },
  }
  return sessions
}
