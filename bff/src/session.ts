import { createHash, randomUUID } from 'node:crypto'
import { emailKey } from '@robokids/contracts/fields'
import { accessCheck } from '@robokids/runtime/access-check'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { z } from 'zod'
import type { AccessTokens } from './access-tokens.ts'
import type { Config } from './config.ts'
import type { Cookies, SignInSession } from './cookies.ts'
import type { Identity, TokenAnswer, UserAnswer } from './identity.ts'
import { isIdentityError } from './identity-errors.ts'
import { within } from './within.ts'

/** How long before its expiry a token is renewed: requests take time, and clocks differ. */
const toleranceMs = 60_000
const sessionDays = 30
/** Must match this app client's setting at the identity service, which checks the same. */
const freshForMs = 5 * 60_000
/** From its last purchase on: long enough until a class is over and its waiver signed. */
const browserDays = 365
/** How long a renewal is reused by other requests of the same page. */
const reuseRenewalMs = 5_000
/** How long the result of a session check is cached. */
const checkedForMs = 60_000
/** How long a purchase waits for a session check. */
const checkTimeoutMs = 2_000

/** The message to the other BFFs after sessions have been ended: those of an account, or of any. */
const sessionsEnded = 'sessions-ended'
const sessionsEndedSchema = z.object({ userId: z.string().optional() })

/** Whether an error means that the sign-in has ended, as opposed to being unverifiable at the moment. */
function isOver(error: unknown): boolean {
  if (isIdentityError(error, 'sessionOver')) return true
  return (
    error instanceof DomainError && (error.code === 'sign_in_required' || error.code === 'RefreshTokenReuseException')
  )
}

/** Whether the service was unavailable or limited, as opposed to rejecting the token: then the user stays signed in. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof DomainError) || isIdentityError(error, 'tokenExpired')) return true
  return ['upstream_unavailable', 'busy', 'TooManyRequestsException', 'LimitExceededException'].includes(error.code)
}

/** The current emails of an account. Not part of the session, because any browser may change them. */
interface AccountAddresses {
  /** The latest email, verified or not; null if there is none. */
  email: string | null
  /** The verified email, even while a change to `email` is pending. */
  verifiedEmail: string | null
}

function addressesIn({ UserAttributes, VerifiedEmail }: UserAnswer): AccountAddresses {
  const attributes = new Map(UserAttributes.map(({ Name, Value }) => [Name, Value]))
  const email = attributes.get('email') ?? null
  return { email, verifiedEmail: VerifiedEmail ?? (attributes.get('email_verified') === 'true' ? email : null) }
}

/** The owner of a request. */
interface Owner {
  /** The `userId` of the signed-in user; null if nobody is signed in (any more). */
  ownerId: string | null
  /** The account's verified email; null if there is none or it is unknown. */
  verifiedEmail: string | null
  /** Whether the identity service confirmed it within the last minute; otherwise it is only from our cookie. */
  isConfirmed: boolean
  /** Whether the sign-in turned out to have ended, so that the request was composed for a user who is not signed in any more. */
  isOver: boolean
}

/** Whether an email is the verified one of the request's account. */
export function isOwnAddress(address: string, { verifiedEmail }: Owner): boolean {
  return verifiedEmail !== null && emailKey(verifiedEmail) === emailKey(address)
}

/** Who requests a purchase: a browser, and the account if signed in. */
interface Requester {
  ownerId: string | null
  browserId: string
}

/** The sign-in sessions of browsers. */
export interface Sessions {
  /** Starts a session with the tokens of a sign-in. */
  begin(reply: FastifyReply, tokens: TokenAnswer): Promise<SignInSession>
  /**
   * @returns the request's session, with tokens that are valid for a while; undefined if nobody is signed in. Cached per request.
   */
  find(request: FastifyRequest, reply: FastifyReply): Promise<SignInSession | undefined>
  /** The `onRequest` hook of routes that require a sign-in: it runs before the body is read. */
  required: onRequestHookHandler
  /** As `find`. @throws DomainError `sign_in_required`, `upstream_unavailable` */
  require(request: FastifyRequest, reply: FastifyReply): Promise<SignInSession>
  /**
   * As `require`, for changes that could take over an account, for which a browser left signed in, or a stolen cookie, is not enough.
   * @throws DomainError `FreshSignInRequiredException` if the sign-in was a while ago
   */
  requireFresh(request: FastifyRequest, reply: FastifyReply): Promise<SignInSession>
  /**
   * The owner of a request, as confirmed by the identity service within the last minute. While that is unavailable, the unconfirmed
   * owner of the cookie, which is enough only for paying. Never throws.
   */
  ownerOf(request: FastifyRequest, reply: FastifyReply): Promise<Owner>
  /**
   * Who requests a purchase: as `ownerOf`, with the browser, which gets its cookie if it has none. Never throws.
   * @returns also whether it may replace an earlier purchase.
   */
  requesterOf(request: FastifyRequest, reply: FastifyReply): Promise<{ requester: Requester; mayReplace: boolean }>
  /** As `requesterOf`, but requires a confirmed account, or none. @throws DomainError `upstream_unavailable` */
  confirmedRequesterOf(request: FastifyRequest, reply: FastifyReply): Promise<Requester>
  /**
   * Whether a sign-in that was valid at the start of a long response has not ended since, as identity said within the last minute
   * or could not say.
   */
  isStill(signInSession: SignInSession, request: FastifyRequest): Promise<boolean>
  /** Discards the cached session checks of an account, or all, after sessions have been ended, also those of the other BFFs. */
  forget(userId?: string): void
  /**
   * Fetches the emails of a session's account.
   * @throws DomainError `sign_in_required` if the sign-in has ended, `upstream_unavailable`
   */
  addressesOf(signInSession: SignInSession, request: FastifyRequest, reply: FastifyReply): Promise<AccountAddresses>
  /**
   * Runs `work` with a session's access token, and ends the session if the service says that the sign-in has ended.
   * @throws DomainError `sign_in_required` then, `upstream_unavailable` if the token expired in transit
   */
  use<T>(reply: FastifyReply, work: () => Promise<T>): Promise<T>
  end(reply: FastifyReply): void
}

/** The error for a sign-in with invalid tokens. */
function invalidTokensError(cause: unknown): DomainError {
  const error = new DomainError('upstream_unavailable', 'Invalid tokens')
  error.cause = cause
  return error
}

/** Caches the result per request. */
function oncePerRequest<T>(
  known: WeakMap<FastifyRequest, Promise<T>>,
  find: (request: FastifyRequest, reply: FastifyReply) => Promise<T>,
) {
  return (request: FastifyRequest, reply: FastifyReply): Promise<T> => {
    const finding = known.get(request) ?? find(request, reply)
    known.set(request, finding)
    return finding
  }
}

export function startSessions(
  { bus, clock, log }: Context<Config>,
  cookies: Cookies,
  identity: Identity,
  accessTokens: AccessTokens,
): Sessions {
  const now = () => clock.now().epochMilliseconds

  async function signInSessionOf(tokens: TokenAnswer, refreshToken: string, since: number): Promise<SignInSession> {
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

  /** The requests of a page are concurrent: the first one renews the session for all of them. */
  const renewals = new Map<string, { renewing: Promise<SignInSession>; until: number }>()
  function renew(signInSession: SignInSession, deviceKey: string | undefined, address: string): Promise<SignInSession> {
    const id = createHash('sha256').update(signInSession.refreshToken).digest('base64url')
    const known = renewals.get(id)
    if (known && now() < known.until) return known.renewing
    const renewing = (async () => {
      const { AuthenticationResult } = await identity.call(
        'GetTokensFromRefreshToken',
        {
          ...identity.secretClient(),
          RefreshToken: signInSession.refreshToken,
          ...(deviceKey === undefined ? {} : { DeviceKey: deviceKey }),
        },
        address,
      )
      return signInSessionOf(AuthenticationResult, signInSession.refreshToken, signInSession.since)
    })()
    const renewal = { renewing, until: Infinity }
    renewals.set(id, renewal)
    const forget = () => {
      if (renewals.get(id) === renewal) renewals.delete(id)
    }
    const keep = (forMs: number) => {
      renewal.until = now() + forMs
      setTimeout(forget, forMs).unref()
    }
    void renewing.then(
      () => keep(reuseRenewalMs),
      (error: unknown) => (isUnavailable(error) ? forget() : keep(checkedForMs)),
    )
    return renewing
  }

  const found = new WeakMap<FastifyRequest, Promise<SignInSession | undefined>>()
  async function findNew(request: FastifyRequest, reply: FastifyReply): Promise<SignInSession | undefined> {
    const signInSession = cookies.signInSession.read(request)
    if (!signInSession) return undefined
    try {
      const { exp } = await accessTokens.verify(signInSession.accessToken)
      if (exp * 1000 - toleranceMs > now()) return signInSession
      const renewed = await renew(signInSession, cookies.devices.of(request, signInSession.username)?.key, request.ip)
      cookies.signInSession.write(reply, renewed)
      return renewed
    } catch (error) {
      if (!isOver(error)) throw error
      sessions.end(reply)
      return undefined
    }
  }

  type Account = Pick<AccountAddresses, 'verifiedEmail'>
  /** The session checks by access token; an undefined account means that the sign-in has ended. */
  const checks = new Map<string, { userId: string; checking: Promise<Account | undefined>; until: number }>()
  function checkSession({ accessToken, userId }: SignInSession, address: string): Promise<Account | undefined> {
    const id = createHash('sha256').update(accessToken).digest('base64url')
    const known = checks.get(id)
    if (known && now() < known.until) return known.checking
    const checking = (async () => {
      try {
        return addressesIn(await identity.call('GetUser', { AccessToken: accessToken }, address))
      } catch (error) {
        if (isUnavailable(error)) throw unavailable(error)
        return undefined
      }
    })()
    const check = { userId, checking, until: now() + checkedForMs }
    checks.set(id, check)
    const forget = () => {
      if (checks.get(id) === check) checks.delete(id)
    }
    void checking.then(() => setTimeout(forget, checkedForMs).unref(), forget)
    return checking
  }

  function forgetHere(userId: string | undefined): void {
    for (const [id, check] of checks) {
      if (userId === undefined || check.userId === userId) checks.delete(id)
    }
  }
  bus.watchCopies(sessionsEnded, (message) => forgetHere(sessionsEndedSchema.parse(message).userId))

  const owners = new WeakMap<FastifyRequest, Promise<Owner>>()
  const anonymous: Owner = { ownerId: null, verifiedEmail: null, isConfirmed: true, isOver: false }
  async function findOwner(request: FastifyRequest, reply: FastifyReply): Promise<Owner> {
    try {
      const signInSession = await sessions.find(request, reply)
      if (!signInSession) return anonymous
      const checked = await within(
        checkTimeoutMs,
        checkSession(signInSession, request.ip).then((account) => ({ account })),
      )
      if (!checked) throw unavailable(new Error('identity took too long to check a session'))
      if (checked.account) {
        const { verifiedEmail } = checked.account
        return { ownerId: signInSession.userId, verifiedEmail, isConfirmed: true, isOver: false }
      }
      // Also for the rest of this request.
      found.set(request, Promise.resolve(undefined))
      sessions.end(reply)
      return { ...anonymous, isOver: true }
    } catch (error) {
      if (!isUnavailable(error)) return { ...anonymous, isOver: true }
      log.warn({ err: error }, 'could not confirm a session')
      const kept = cookies.signInSession.read(request)
      return { ownerId: kept?.userId ?? null, verifiedEmail: null, isConfirmed: kept === undefined, isOver: false }
    }
  }

  function browserOf(request: FastifyRequest, reply: FastifyReply): string {
    const browserId = cookies.browser.read(request)?.id ?? randomUUID()
    cookies.browser.write(reply, { id: browserId, until: now() + browserDays * 86_400_000 })
    return browserId
  }

  const sessions: Sessions = {
    async begin(reply, tokens) {
      if (tokens.RefreshToken === undefined)
        throw invalidTokensError(new Error('a sign-in came without a refresh token'))
      const signInSession = await signInSessionOf(tokens, tokens.RefreshToken, now()).catch((error: unknown) => {
        throw isUnavailable(error) ? error : invalidTokensError(error)
      })
      cookies.signInSession.write(reply, signInSession)
      return signInSession
    },

    find: oncePerRequest(found, findNew),

    required: accessCheck('session', (request, reply, next) => {
      sessions.require(request, reply).then(() => next(), next)
    }),

    async require(request, reply) {
      const signInSession = await sessions.find(request, reply)
      if (!signInSession) throw new DomainError('sign_in_required', 'Please log in.')
      return signInSession
    },

    async requireFresh(request, reply) {
      const signInSession = await sessions.require(request, reply)
      if (now() - signInSession.since > freshForMs) {
        throw new DomainError('FreshSignInRequiredException', 'Please confirm that it’s you.')
      }
      return signInSession
    },

    ownerOf: oncePerRequest(owners, findOwner),

    async requesterOf(request, reply) {
      const browserId = browserOf(request, reply)
      const { ownerId, isConfirmed } = await sessions.ownerOf(request, reply)
      return { requester: { ownerId, browserId }, mayReplace: isConfirmed }
    },

    async confirmedRequesterOf(request, reply) {
      const { ownerId, isConfirmed } = await sessions.ownerOf(request, reply)
      if (!isConfirmed) throw unavailable(new Error('could not confirm a session'))
      return { ownerId, browserId: browserOf(request, reply) }
    },

    async isStill(signInSession, request) {
      try {
        return (await checkSession(signInSession, request.ip)) !== undefined
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        return true
      }
    },

    forget(userId) {
      forgetHere(userId)
      bus.notifyCopies(sessionsEnded, userId === undefined ? {} : { userId })
    },

    async addressesOf({ accessToken }, request, reply) {
      const call = () => identity.call('GetUser', { AccessToken: accessToken }, request.ip)
      return addressesIn(await sessions.use(reply, call))
    },

    async use(reply, work) {
      try {
        return await work()
      } catch (error) {
        if (isIdentityError(error, 'tokenExpired')) throw unavailable(error)
        if (!isOver(error)) throw error
        sessions.end(reply)
        throw new DomainError('sign_in_required', 'Please log in.')
      }
    },

    end(reply) {
      cookies.signInSession.clear(reply)
    },
  }
  return sessions
}
