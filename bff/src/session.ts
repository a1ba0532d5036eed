import { createHash, randomUUID } from 'node:crypto'
import { emailKey } from '@robokids/contracts/fields'
import { accessCheck } from '@robokids/runtime/access-check'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { AccessTokens } from './access-tokens.ts'
import type { Config } from './config.ts'
import type { Cookies, SignInSession } from './cookies.ts'
import type { Identity, TokenAnswer, UserAnswer } from './identity.ts'
import { says } from './identity-refusals.ts'
import { within } from './within.ts'

/** How long before its end a token is not used any more: it may take a while on its way, and clocks differ. */
const toleranceMs = 60_000
const sessionDays = 30
/** As the settings of this app client say at the identity service, which asks for the same. */
const freshForMs = 5 * 60_000
/** From its last purchase on, as long as a class lies ahead and its waiver may be signed. */
const browserDays = 365
/** For how long requests of the same page, which come a moment later, get what one of them has renewed. */
const repeatForMs = 5_000
/** For how long a session is good, or over, by what the identity service has said of it. */
const judgedForMs = 60_000
/** For how long whoever buys something waits for that. */
const waitForJudgementMs = 2_000

/** Whether the service has said that a sign-in is over, rather than that it cannot or will not say so now. */
function isOver(error: unknown): boolean {
  if (says(error, 'sessionOver')) return true
  return (
    error instanceof DomainError && (error.code === 'sign_in_required' || error.code === 'RefreshTokenReuseException')
  )
}

/** Whether the service was not reached or would not judge, rather than that it has refused: that makes nobody a stranger. */
function isAway(error: unknown): boolean {
  if (!(error instanceof DomainError) || says(error, 'tokenExpired')) return true
  return ['upstream_unavailable', 'busy', 'TooManyRequestsException', 'LimitExceededException'].includes(error.code)
}

/** What an account has now: it may change in any browser, so no session keeps it. */
interface AccountAddresses {
  /** As it was last given, proven or not; null where there is none. */
  email: string | null
  /** The one that is proven, whatever `email` is about to become. */
  verifiedEmail: string | null
}

function addressesIn({ UserAttributes, VerifiedEmail }: UserAnswer): AccountAddresses {
  const attributes = new Map(UserAttributes.map(({ Name, Value }) => [Name, Value]))
  const email = attributes.get('email') ?? null
  return { email, verifiedEmail: VerifiedEmail ?? (attributes.get('email_verified') === 'true' ? email : null) }
}

/** Whose a request is. */
interface Owner {
  /** The `userId` of who is signed in; null for nobody, and where the sign-in is over. */
  ownerId: string | null
  /** The address that is proven to be that account's; null where there is none, or none is known. */
  verifiedEmail: string | null
  /** Whether the identity service has said so within the last minute; without it, it is what a cookie of ours says. */
  isConfirmed: boolean
  /** Whether somebody was signed in here whose sign-in turns out to be over: what they ask for now was composed for them. */
  isOver: boolean
}

/** Whether an address is proven to be that of the account whose a request is, by identity's word. */
export function isOwnAddress(address: string, { verifiedEmail }: Owner): boolean {
  return verifiedEmail !== null && emailKey(verifiedEmail) === emailKey(address)
}

/** Who asks for a purchase: an account or nobody, in a browser. */
interface Asker {
  ownerId: string | null
  browserId: string
}

/** Who is signed in in which browser. */
export interface Sessions {
  /** Begins a session with the tokens of a sign-in. */
  begin(reply: FastifyReply, tokens: TokenAnswer): Promise<SignInSession>
  /**
   * @returns the session of the request, with tokens that are good for a while; undefined where nobody is signed in. Asked
   * again within a request, it answers the same.
   */
  find(request: FastifyRequest, reply: FastifyReply): Promise<SignInSession | undefined>
  /** The `onRequest` of a route that needs somebody who is signed in: it is asked before anything that was sent is read. */
  required: onRequestHookHandler
  /** As `find`. @throws DomainError `sign_in_required`, `upstream_unavailable` */
  need(request: FastifyRequest, reply: FastifyReply): Promise<SignInSession>
  /**
   * As `need`, for what gives an account away: a browser that was left open, or a stolen cookie, is not enough.
   * @throws DomainError `FreshSignInRequiredException` where the sign-in was a while ago
   */
  needFresh(request: FastifyRequest, reply: FastifyReply): Promise<SignInSession>
  /**
   * Whose a request is, by what the identity service has said of the session within the last minute. While that cannot be
   * asked, it is whose the cookie is, unconfirmed: enough to pay, and for nothing else. Never throws.
   */
  ownerOf(request: FastifyRequest, reply: FastifyReply): Promise<Owner>
  /**
   * Who asks for a purchase: as `ownerOf`, with the browser, which is given its cookie where it has none yet. Never throws.
   * @returns also whether what was bought before may give way to it.
   */
  askerOf(request: FastifyRequest, reply: FastifyReply): Promise<{ asker: Asker; mayReplace: boolean }>
  /** Who asks for what needs an account that is confirmed, or none. @throws DomainError `upstream_unavailable` */
  confirmedAskerOf(request: FastifyRequest, reply: FastifyReply): Promise<Asker>
  /** Sign-ins of an account, or of one that is not known here, have been ended: those that go on are asked about again. */
  forget(userId?: string): void
  /**
   * Asks for the addresses of a session's account.
   * @throws DomainError `sign_in_required` where the sign-in was ended meanwhile, `upstream_unavailable`
   */
  addressesOf(signInSession: SignInSession, request: FastifyRequest, reply: FastifyReply): Promise<AccountAddresses>
  /**
   * Does something with a session's access token, and ends the session where the service says that it is over.
   * @throws DomainError `sign_in_required` then, `upstream_unavailable` where the token ended on its way
   */
  use<T>(reply: FastifyReply, work: () => Promise<T>): Promise<T>
  end(reply: FastifyReply): void
}

/** A sign-in that ends with tokens which are none. */
function invalidTokens(cause: unknown): DomainError {
  const error = new DomainError('upstream_unavailable', 'Invalid tokens')
  error.cause = cause
  return error
}

/** Answers each time a request is asked about as it did the first time. */
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
  { clock, log }: Context<Config>,
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

  /** Requests of one page come at once: the first one renews for all of them. */
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
      () => keep(repeatForMs),
      (error: unknown) => (isAway(error) ? forget() : keep(judgedForMs)),
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
  /** What the service says of a sign-in, by its access token; undefined where it is over. */
  const judgements = new Map<string, { userId: string; judging: Promise<Account | undefined>; until: number }>()
  function judge({ accessToken, userId }: SignInSession, address: string): Promise<Account | undefined> {
    const id = createHash('sha256').update(accessToken).digest('base64url')
    const known = judgements.get(id)
    if (known && now() < known.until) return known.judging
    const judging = (async () => {
      try {
        return addressesIn(await identity.call('GetUser', { AccessToken: accessToken }, address))
      } catch (error) {
        if (isAway(error)) throw unavailable(error)
        return undefined
      }
    })()
    const judgement = { userId, judging, until: now() + judgedForMs }
    judgements.set(id, judgement)
    const forget = () => {
      if (judgements.get(id) === judgement) judgements.delete(id)
    }
    void judging.then(() => setTimeout(forget, judgedForMs).unref(), forget)
    return judging
  }

  const owners = new WeakMap<FastifyRequest, Promise<Owner>>()
  const nobody: Owner = { ownerId: null, verifiedEmail: null, isConfirmed: true, isOver: false }
  async function findOwner(request: FastifyRequest, reply: FastifyReply): Promise<Owner> {
    try {
      const signInSession = await sessions.find(request, reply)
      if (!signInSession) return nobody
      const judged = await within(
        waitForJudgementMs,
        judge(signInSession, request.ip).then((account) => ({ account })),
      )
      if (!judged) throw unavailable(new Error('identity takes long to say whether a session is over'))
      if (judged.account) {
        const { verifiedEmail } = judged.account
        return { ownerId: signInSession.userId, verifiedEmail, isConfirmed: true, isOver: false }
      }
      // For what is left of this request as well.
      found.set(request, Promise.resolve(undefined))
      sessions.end(reply)
      return { ...nobody, isOver: true }
    } catch (error) {
      if (!isAway(error)) return { ...nobody, isOver: true }
      log.warn({ err: error }, 'a session could not be confirmed')
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
      if (tokens.RefreshToken === undefined) throw invalidTokens(new Error('a sign-in came without a refresh token'))
      const signInSession = await signInSessionOf(tokens, tokens.RefreshToken, now()).catch((error: unknown) => {
        throw isAway(error) ? error : invalidTokens(error)
      })
      cookies.signInSession.write(reply, signInSession)
      return signInSession
    },

    find: oncePerRequest(found, findNew),

    required: accessCheck('session', (request, reply, next) => {
      sessions.need(request, reply).then(() => next(), next)
    }),

    async need(request, reply) {
      const signInSession = await sessions.find(request, reply)
      if (!signInSession) throw new DomainError('sign_in_required', 'Please log in.')
      return signInSession
    },

    async needFresh(request, reply) {
      const signInSession = await sessions.need(request, reply)
      if (now() - signInSession.since > freshForMs) {
        throw new DomainError('FreshSignInRequiredException', 'Please confirm that it is you.')
      }
      return signInSession
    },

    ownerOf: oncePerRequest(owners, findOwner),

    async askerOf(request, reply) {
      const browserId = browserOf(request, reply)
      const { ownerId, isConfirmed } = await sessions.ownerOf(request, reply)
      return { asker: { ownerId, browserId }, mayReplace: isConfirmed }
    },

    async confirmedAskerOf(request, reply) {
      const { ownerId, isConfirmed } = await sessions.ownerOf(request, reply)
      if (!isConfirmed) throw unavailable(new Error('a session could not be confirmed'))
      return { ownerId, browserId: browserOf(request, reply) }
    },

    forget(userId) {
      for (const [id, judgement] of judgements) {
        if (userId === undefined || judgement.userId === userId) judgements.delete(id)
      }
    },

    async addressesOf({ accessToken }, request, reply) {
      const call = () => identity.call('GetUser', { AccessToken: accessToken }, request.ip)
      return addressesIn(await sessions.use(reply, call))
    },

    async use(reply, work) {
      try {
        return await work()
      } catch (error) {
        if (says(error, 'tokenExpired')) throw unavailable(error)
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
