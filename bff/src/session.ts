import { createHash, randomUUID } from 'node:crypto'
import { accessCheck } from '@robokids/runtime/access-check'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { AccessTokens } from './access-tokens.ts'
import type { Config } from './config.ts'
import type { Cookies, SessionCookie } from './cookies.ts'
import type { Identity, TokenAnswer } from './identity.ts'
import { says } from './identity-refusals.ts'
import { unavailable } from './upstream.ts'

/** How long before its end a token is not used any more: it may take a while on its way, and clocks differ. */
const toleranceMs = 60_000
const sessionDays = 30
/** As the settings of this app client say at the identity service, which asks for the same. */
const freshForMs = 5 * 60_000
/** From its last purchase on, as long as a class lies ahead and its waiver may be signed. */
const browserDays = 365
/** For how long requests of the same page, which come a moment later, get what one of them has renewed. */
const repeatForMs = 5_000

/** Whether the service has said that a sign-in is over, rather than that it cannot or will not say so now. */
function isOver(error: unknown): boolean {
  if (says(error, 'sessionOver')) return true
  return (
    error instanceof DomainError && (error.code === 'sign_in_required' || error.code === 'RefreshTokenReuseException')
  )
}

/** What an account has now: it may change in any browser, so no session keeps it. */
interface AccountAddresses {
  /** As it was last given, proven or not; null where there is none. */
  email: string | null
  /** The one that is proven, whatever `email` is about to become. */
  verifiedEmail: string | null
}

/** Who is signed in in which browser. */
export interface Sessions {
  /** Begins a session with the tokens of a sign-in. */
  begin(reply: FastifyReply, tokens: TokenAnswer): Promise<SessionCookie>
  /**
   * @returns the session of the request, with tokens that are good for a while; undefined where nobody is signed in. Asked
   * again within a request, it answers the same.
   */
  find(request: FastifyRequest, reply: FastifyReply): Promise<SessionCookie | undefined>
  /** The `onRequest` of a route that needs somebody who is signed in: it is asked before anything that was sent is read. */
  required: onRequestHookHandler
  /** As `find`. @throws DomainError `sign_in_required`, `upstream_unavailable` */
  need(request: FastifyRequest, reply: FastifyReply): Promise<SessionCookie>
  /**
   * As `need`, for what gives an account away: a browser that was left open, or a stolen cookie, is not enough.
   * @throws DomainError `FreshSignInRequiredException` where the sign-in was a while ago
   */
  needFresh(request: FastifyRequest, reply: FastifyReply): Promise<SessionCookie>
  /**
   * Whose a purchase is that this request asks for: the `userId` of who is signed in, also while the identity service
   * cannot be asked to renew the session; null for nobody. Never throws.
   */
  ownerOf(request: FastifyRequest, reply: FastifyReply): Promise<string | null>
  /**
   * Who asks for a purchase: as `ownerOf`, with the browser, which is given its cookie where it has none yet. Never throws.
   */
  askerOf(request: FastifyRequest, reply: FastifyReply): Promise<{ ownerId: string | null; browserId: string }>
  /**
   * Asks for the addresses of a session's account.
   * @throws DomainError `sign_in_required` where the sign-in was ended meanwhile, `upstream_unavailable`
   */
  addressesOf(session: SessionCookie, request: FastifyRequest, reply: FastifyReply): Promise<AccountAddresses>
  /**
   * Does something with a session's access token, and ends the session where the service says that it is over.
   * @throws DomainError `sign_in_required` then, `upstream_unavailable` where the token ended on its way
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

  async function sessionOf(tokens: TokenAnswer, refreshToken: string, since: number): Promise<SessionCookie> {
    const { sub, username } = await accessTokens.verify(tokens.AccessToken)
    return {
      accessToken: tokens.AccessToken,
      refreshToken: tokens.RefreshToken ?? refreshToken,
      userId: sub,
      username,
      since,
      until: since + sessionDays * 86_400_000,
    }
  }

  /** Requests of one page come at once: the first one renews for all of them. */
  const renewals = new Map<string, { renewing: Promise<SessionCookie>; until: number }>()
  function renew(session: SessionCookie, deviceKey: string | undefined, address: string): Promise<SessionCookie> {
    const id = createHash('sha256').update(session.refreshToken).digest('base64url')
    const known = renewals.get(id)
    if (known && now() < known.until) return known.renewing
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
    const renewal = { renewing, until: Infinity }
    renewals.set(id, renewal)
    const forget = () => {
      if (renewals.get(id) === renewal) renewals.delete(id)
    }
    const keep = () => {
      renewal.until = now() + repeatForMs
      setTimeout(forget, repeatForMs).unref()
    }
    void renewing.then(keep, forget)
    return renewing
  }

  const found = new WeakMap<FastifyRequest, Promise<SessionCookie | undefined>>()
  async function findNew(request: FastifyRequest, reply: FastifyReply): Promise<SessionCookie | undefined> {
    const session = cookies.session.read(request)
    if (!session) return undefined
    try {
      const { exp } = await accessTokens.verify(session.accessToken)
      if (exp * 1000 - toleranceMs > now()) return session
      const renewed = await renew(session, cookies.devices.of(request, session.username)?.key, request.ip)
      cookies.session.write(reply, renewed)
      return renewed
    } catch (error) {
      if (!isOver(error)) throw error
      sessions.end(reply)
      return undefined
    }
  }

  const sessions: Sessions = {
    async begin(reply, tokens) {
      if (tokens.RefreshToken === undefined) throw unavailable(new Error('a sign-in came without a refresh token'))
      const session = await sessionOf(tokens, tokens.RefreshToken, now())
      cookies.session.write(reply, session)
      return session
    },

    find(request, reply) {
      const known = found.get(request)
      if (known) return known
      const finding = findNew(request, reply)
      found.set(request, finding)
      return finding
    },

    required: accessCheck((request, reply, next) => {
      sessions.need(request, reply).then(() => next(), next)
    }),

    async need(request, reply) {
      const session = await sessions.find(request, reply)
      if (!session) throw new DomainError('sign_in_required', 'Please sign in.')
      return session
    },

    async needFresh(request, reply) {
      const session = await sessions.need(request, reply)
      if (now() - session.since > freshForMs) {
        throw new DomainError('FreshSignInRequiredException', 'Please confirm that it is you.')
      }
      return session
    },

    async ownerOf(request, reply) {
      const session = await sessions.find(request, reply).catch((error: unknown) => {
        log.warn({ err: error }, 'a session could not be renewed')
        return cookies.session.read(request)
      })
      return session?.userId ?? null
    },

    async askerOf(request, reply) {
      const browserId = cookies.browser.read(request)?.id ?? randomUUID()
      cookies.browser.write(reply, { id: browserId, until: now() + browserDays * 86_400_000 })
      return { ownerId: await sessions.ownerOf(request, reply), browserId }
    },

    async addressesOf({ accessToken }, request, reply) {
      const call = () => identity.call('GetUser', { AccessToken: accessToken }, request.ip)
      const { UserAttributes, VerifiedEmail } = await sessions.use(reply, call)
      const attributes = new Map(UserAttributes.map(({ Name, Value }) => [Name, Value]))
      const email = attributes.get('email') ?? null
      return { email, verifiedEmail: VerifiedEmail ?? (attributes.get('email_verified') === 'true' ? email : null) }
    },

    async use(reply, work) {
      try {
        return await work()
      } catch (error) {
        if (says(error, 'tokenExpired')) throw unavailable(error)
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
