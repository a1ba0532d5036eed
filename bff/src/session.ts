import { createHash } from 'node:crypto'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { createDecoder } from 'fast-jwt'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccessTokens } from './access-tokens.ts'
import type { Config } from './config.ts'
import type { Cookies, SessionCookie } from './cookies.ts'
import type { Identity, TokenAnswer } from './identity.ts'
import { unavailable } from './upstream.ts'

const identityClaims = z.object({ email: z.string().default('') })

/** How long before its end a token is not used any more. */
const toleranceMs = 5_000
const sessionDays = 30

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
   * Whose a purchase is that this request asks for: the `userId` of who is signed in, also while the identity service
   * cannot be asked to renew the session; null for nobody. Never throws.
   */
  ownerOf(request: FastifyRequest, reply: FastifyReply): Promise<string | null>
  /**
   * Does something with a session's access token, and ends the session where the service says that it is over.
   * @throws DomainError `sign_in_required` then
   */
  use<T>(reply: FastifyReply, work: () => Promise<T>): Promise<T>
  end(reply: FastifyReply): void
}

export function startSessions(
  { clock, log }: Context<Config>,
  cookies: Cookies,
  identity: Identity,
  accessTokens: AccessTokens,
): Sessions {
  const now = () => clock.now().epochMilliseconds
  const decode = createDecoder()

  async function sessionOf(tokens: TokenAnswer, refreshToken: string, since: number): Promise<SessionCookie> {
    const { sub, username } = await accessTokens.verify(tokens.AccessToken)
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
        const { exp } = await accessTokens.verify(session.accessToken)
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

    async ownerOf(request, reply) {
      const session = await sessions.find(request, reply).catch((error: unknown) => {
        log.warn({ err: error }, 'a session could not be renewed')
        return cookies.session.read(request)
      })
      return session?.userId ?? null
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
