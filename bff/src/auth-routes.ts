import { randomUUIDv7 } from 'node:crypto'
import {
  changePasswordBodySchema,
  composeAddress,
  confirmSignUpResponseSchema,
  confirmSignUpBodySchema,
  deliveryResponseSchema,
  emptyResponseSchema,
  nameBodySchema,
  resetPasswordBodySchema,
  sessionSchema,
  signInAgainBodySchema,
  signInAnswerBodySchema,
  signInBodySchema,
  signInStepSchema,
  signedOutSchema,
  signOutBodySchema,
  signUpResponseSchema,
  signUpBodySchema,
  type CodeDelivery,
  type SignInStep,
} from '@robokids/contracts/auth'
import { latestAdultBirthdate } from '@robokids/contracts/adult'
import { emailKey } from '@robokids/contracts/fields'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import { pendingConfirmationMs, stepMs, type Cookies, type SignInSession } from './cookies.ts'
import { confirmDevice, isForgotten, proveDevice } from './device.ts'
import type { AuthAnswer, Identity, TokenAnswer } from './identity.ts'
import type { MailLimits } from './mail-limits.ts'
import type { Proofs } from './proofs.ts'
import type { Sessions } from './session.ts'
import { answerStep, nextStep } from './sign-in-steps.ts'
import { within } from './within.ts'

/** The maximum lifetime of cookies in browsers. */
const deviceMs = 400 * 86_400_000

/** How long the displayed name waits for identity. */
const addressTimeoutMs = 2_000

/** Shared by the account routes. */
export interface Accounts {
  cookies: Cookies
  sessions: Sessions
  identity: Identity
}

/** The names that a device's user signs in with. */
const namesOf = (username: string, verifiedEmail: string | null) =>
  [username, ...(verifiedEmail === null ? [] : [verifiedEmail])].map((name) => name.toLowerCase())

export function deliveryOf(details: { Destination: string; DeliveryMedium: 'EMAIL' | 'SMS' }): CodeDelivery {
  return { medium: details.DeliveryMedium, destination: details.Destination }
}

/**
 * Rejects a user who is not an adult by the school's calendar; the pages use the same rule.
 * @throws DomainError `validation_failed`
 */
export function requireAdult(birthdate: string, now: Temporal.Instant): void {
  const last = Temporal.PlainDate.from(latestAdultBirthdate(now.toString()))
  const reject = (message: string) => {
    throw new DomainError('validation_failed', message, [{ path: 'birthdate', message }])
  }
  if (Temporal.PlainDate.compare(birthdate, last) > 0) reject('You must be 18 or older to register.')
  if (Temporal.PlainDate.compare(birthdate, last.subtract({ years: 120 })) < 0) reject('Enter your birthdate.')
}

/** The challenges after which a browser can be trusted. */
const secondFactors = ['SOFTWARE_TOKEN_MFA', 'SMS_MFA', 'EMAIL_OTP']

const stepExpired = () => new DomainError('sign_in_step_expired', 'Your login took too long. Please start again.')

const alreadySignedIn = () => new DomainError('already_signed_in', 'There is already a signed in user.')

function passwordRequired(): DomainError {
  const message = 'You signed up in a different browser. Please enter the password you chose.'
  return new DomainError('password_required', message, [{ path: 'password', message }])
}

/** The URL that signs a browser out of the hosted service's sign-in pages and returns it to the site. */
function hostedLogout({ IDENTITY_PAGES_URL, IDENTITY_CLIENT_ID, SITE_URL }: Config): { logoutUrl?: string } {
  if (IDENTITY_PAGES_URL === undefined) return {}
  const query = new URLSearchParams({ client_id: IDENTITY_CLIENT_ID, logout_uri: `${SITE_URL}/` })
  return { logoutUrl: `${IDENTITY_PAGES_URL}/logout?${query}` }
}

export function authRoutes(
  http: Http,
  context: Context<Config>,
  { cookies, sessions, identity, proofs, mailLimits }: Accounts & { proofs: Proofs; mailLimits: MailLimits },
): void {
  const { clock, config, log } = context
  const until = () => clock.now().epochMilliseconds + stepMs

  /**
   * Handles the identity service's response: a session, or the next step.
   * @param trust whether to trust this browser.
   * @param again the `userId` of the signed-in user who signs in again.
   */
  async function continueSignIn(
    answer: AuthAnswer,
    username: string,
    request: FastifyRequest,
    reply: FastifyReply,
    { trust = false, again }: { trust?: boolean; again?: string | undefined } = {},
  ): Promise<SignInStep> {
    if (answer.ChallengeName === 'DEVICE_SRP_AUTH') {
      const name = answer.ChallengeParameters['USERNAME'] ?? username
      const device = cookies.devices.of(request, name)
      if (!device) throw stepExpired()
      const proven = await proveDevice(answer, name, device, identity, clock.now(), request.ip)
      return continueSignIn(proven, name, request, reply)
    }
    if (answer.AuthenticationResult) {
      const signInSession = await sessions.begin(reply, answer.AuthenticationResult)
      await rememberDevice(answer.AuthenticationResult, signInSession, trust, request, reply)
      cookies.step.clear(reply)
      cookies.pendingSignUp.clear(reply)
      cookies.pendingConfirmation.clear(reply)
      return { step: 'DONE' }
    }
    const { shown, kept } = await nextStep(answer, { username }, identity, request.ip)
    if (kept) cookies.step.write(reply, { ...kept, ...(again === undefined ? {} : { again }), until: until() })
    return shown
  }

  /** A browser that cannot be registered as a device needs the second factor each time, but can sign in. */
  async function rememberDevice(
    tokens: TokenAnswer,
    signInSession: SignInSession,
    trust: boolean,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { username, accessToken } = signInSession
    try {
      const agent = request.headers['user-agent'] ?? ''
      const confirmed = await confirmDevice(tokens, agent, identity, request.ip)
      const addresses = confirmed ? await sessions.addressesOf(signInSession, request, reply) : undefined
      const names = namesOf(username, addresses?.verifiedEmail ?? null)
      const device = confirmed
        ? { ...confirmed, names, until: clock.now().epochMilliseconds + deviceMs }
        : cookies.devices.of(request, username)
      if (confirmed && device) cookies.devices.keep(request, reply, device)
      if (!trust || !device) return
      const status = { DeviceKey: device.key, DeviceRememberedStatus: 'remembered' }
      await identity.call('UpdateDeviceStatus', { AccessToken: accessToken, ...status }, request.ip)
    } catch (error) {
      log.warn({ err: error }, 'could not confirm a device')
    }
  }

  /** The device key if this browser is one of the user's devices, whose attempts strangers cannot use up. */
  function deviceOf(name: string, request: FastifyRequest): { DeviceKey?: string } {
    const device = cookies.devices.of(request, name)
    return device ? { DeviceKey: device.key } : {}
  }

  const provenSignIn = proofs.required('sign-in')
  const provenPasswords = new WeakSet<FastifyRequest>()

  /**
   * Passwords are expensive for identity: while it is busy, a browser that is new to the account must bring a proof of work, once
   * per request.
   */
  async function requireProofForPassword(name: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!identity.isBusy || deviceOf(name, request).DeviceKey !== undefined || provenPasswords.has(request)) return
    await provenSignIn(request, reply)
    provenPasswords.add(request)
  }

  /** Starts a sign-in, with the browser's device of that user if it has one. */
  async function initiate(
    AuthFlow: 'USER_PASSWORD_AUTH' | 'USER_AUTH',
    name: string,
    parameters: Record<string, string>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<AuthAnswer> {
    if (AuthFlow === 'USER_PASSWORD_AUTH') await requireProofForPassword(name, request, reply)
    const { DeviceKey } = deviceOf(name, request)
    if (DeviceKey !== undefined) {
      try {
        return await identity.initiate(AuthFlow, name, { ...parameters, DEVICE_KEY: DeviceKey }, request.ip)
      } catch (error) {
        if (!isForgotten(error)) throw error
        cookies.devices.drop(request, reply, DeviceKey)
      }
    }
    return identity.initiate(AuthFlow, name, parameters, request.ip)
  }

  async function checkNotSignedIn(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const signInSession = await sessions.find(request, reply)
    if (!signInSession) return
    try {
      await sessions.use(reply, () => identity.call('GetUser', { AccessToken: signInSession.accessToken }, request.ip))
    } catch (error) {
      // A session that was ended elsewhere does not block a new one.
      if (error instanceof DomainError && error.code === 'sign_in_required') return
      throw error
    }
    throw alreadySignedIn()
  }

  /** Whether the session belongs to the user with that name. */
  async function belongsTo(
    signInSession: SignInSession,
    name: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<boolean> {
    if (signInSession.username === name) return true
    const { verifiedEmail } = await sessions.addressesOf(signInSession, request, reply)
    return verifiedEmail !== null && emailKey(verifiedEmail) === emailKey(name)
  }

  /**
   * The email to display for an account, or its username while identity is unavailable. Undefined if the sign-in has ended.
   */
  async function shownName(
    signInSession: SignInSession,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<string | undefined> {
    const { username } = signInSession
    try {
      const addresses = await within(addressTimeoutMs, sessions.addressesOf(signInSession, request, reply))
      if (!addresses) return username
      updateDeviceNames(username, addresses.verifiedEmail, request, reply)
      return addresses.verifiedEmail ?? addresses.email ?? username
    } catch (error) {
      if (error instanceof DomainError && error.code === 'sign_in_required') return undefined
      log.warn({ err: error }, 'could not read an account')
      return username
    }
  }

  /** Updates the names of this browser's device if the email was changed in another browser. */
  function updateDeviceNames(
    username: string,
    verifiedEmail: string | null,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const device = cookies.devices.of(request, username)
    const names = namesOf(username, verifiedEmail)
    if (device && device.names.join() !== names.join()) cookies.devices.keep(request, reply, { ...device, names })
  }

  const userOf = ({ userId, username }: SignInSession, email: string) => ({ userId, username, email })

  http.get('/api/auth/session', { schema: { response: { 200: sessionSchema } } }, async (request, reply) => {
    try {
      const signInSession = await sessions.find(request, reply)
      if (!signInSession) return { user: null }
      const name = await shownName(signInSession, request, reply)
      return { user: name === undefined ? null : userOf(signInSession, name) }
    } catch (error) {
      log.warn({ err: error }, 'could not renew a session')
      const signInSession = cookies.signInSession.read(request)
      return { user: signInSession ? userOf(signInSession, signInSession.username) : null }
    }
  })

  http.post(
    '/api/auth/sign-up',
    {
      schema: { body: signUpBodySchema, response: { 200: signUpResponseSchema } },
      preHandler: [proofs.required('sign-up'), mailLimits.ofAccount],
    },
    async (request, reply) => {
      const { email, password, middle_name: decoy, ...person } = request.body
      if (decoy !== undefined && decoy !== '') return { delivery: null, confirmed: false }
      requireAdult(person.birthdate, clock.now())
      const newName = `user_${randomUUIDv7()}`
      const attributes = {
        email,
        given_name: person.given_name,
        family_name: person.family_name,
        birthdate: person.birthdate,
        phone_number: person.phone_number,
        address: composeAddress(person),
      }
      const answer = await identity.call(
        'SignUp',
        {
          ...identity.client(newName),
          Username: newName,
          Password: password,
          UserAttributes: Object.entries(attributes).map(([Name, Value]) => ({ Name, Value })),
          Repeatable: true,
        },
        request.ip,
      )
      const username = answer.Username ?? newName
      cookies.pendingSignUp.write(reply, { username, email, password, until: until() })
      cookies.pendingConfirmation.write(reply, {
        username,
        email,
        until: clock.now().epochMilliseconds + pendingConfirmationMs,
      })
      const details = answer.CodeDeliveryDetails
      return { delivery: details ? deliveryOf(details) : null, confirmed: answer.UserConfirmed }
    },
  )

  /** Signs in unless this user is already signed in, by another tab. @throws DomainError `already_signed_in` if somebody else is */
  async function signInOnce(
    name: string,
    password: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SignInStep> {
    const signInSession = await sessions.find(request, reply)
    if (signInSession && !(await belongsTo(signInSession, name, request, reply))) throw alreadySignedIn()
    if (signInSession) return { step: 'DONE' }
    return continueSignIn(
      await initiate('USER_PASSWORD_AUTH', name, { PASSWORD: password }, request, reply),
      name,
      request,
      reply,
    )
  }

  async function completePendingSignUp(request: FastifyRequest, reply: FastifyReply): Promise<SignInStep> {
    const pendingSignUp = cookies.pendingSignUp.read(request)
    if (!pendingSignUp) {
      if (await sessions.find(request, reply)) return { step: 'DONE' }
      throw new DomainError('sign_in_step_expired', 'The account was not confirmed on time.')
    }
    try {
      return await signInOnce(pendingSignUp.username, pendingSignUp.password, request, reply)
    } catch (error) {
      if (error instanceof DomainError && error.code === 'UserNotConfirmedException') return { step: 'waiting' }
      throw error
    }
  }

  http.post('/api/auth/auto-sign-in', { schema: { response: { 200: signInStepSchema } } }, completePendingSignUp)

  /** The username of the account that signed up in this browser: another unconfirmed one may have the same email. */
  function usernameFor(email: string, request: FastifyRequest): string {
    for (const cookie of [cookies.pendingConfirmation, cookies.pendingSignUp]) {
      const own = cookie.read(request)
      if (own && emailKey(own.email) === emailKey(email)) return own.username
    }
    return email
  }

  /**
   * Whether the user is signed in although the confirmation failed: because the response to the first attempt was lost, or
   * another tab was faster.
   */
  async function isSignedInAs(email: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const signInSession = await sessions.find(request, reply)
    if (signInSession) return belongsTo(signInSession, email, request, reply)
    if (usernameFor(email, request) === email) return false
    const step = await completePendingSignUp(request, reply).catch(() => undefined)
    return step?.step === 'DONE'
  }

  http.post(
    '/api/auth/confirm-sign-up',
    { schema: { body: confirmSignUpBodySchema, response: { 200: confirmSignUpResponseSchema } } },
    async (request, reply) => {
      const { email, code } = request.body
      const name = usernameFor(email, request)
      const pendingSignUp = cookies.pendingSignUp.read(request)
      // Anybody may have signed up with this email, and its owner may type a code that they did not request. So the password is
      // required to confirm an account that was not created in this browser.
      const isPending = pendingSignUp !== undefined && emailKey(pendingSignUp.email) === emailKey(email)
      const password = request.body.password ?? (isPending ? pendingSignUp.password : undefined)
      const isOwn = name !== email
      const input = {
        ...identity.client(name),
        Username: name,
        ConfirmationCode: code,
        ...(isOwn ? {} : { Password: password }),
      }
      if (password !== undefined) await requireProofForPassword(name, request, reply)
      try {
        if (!isOwn && password === undefined) throw passwordRequired()
        await identity.call('ConfirmSignUp', input, request.ip)
      } catch (error) {
        if (await isSignedInAs(email, request, reply)) return { signedIn: true }
        throw error
      }
      cookies.pendingConfirmation.clear(reply)
      if (password === undefined) return { signedIn: false }
      // The account is confirmed, even if the sign-in fails.
      const step = await signInOnce(name, password, request, reply).catch((error: unknown) => {
        log.warn({ err: error }, 'could not sign in a new user')
      })
      return { signedIn: step?.step === 'DONE' }
    },
  )

  http.post(
    '/api/auth/resend-code',
    {
      schema: { body: nameBodySchema, response: { 200: deliveryResponseSchema } },
      preHandler: [proofs.required('code'), mailLimits.ofAccount],
    },
    async (request) => {
      const { email } = request.body
      const name = usernameFor(email, request)
      const input = { ...identity.client(name), Username: name }
      const { CodeDeliveryDetails } = await identity.call('ResendConfirmationCode', input, request.ip)
      return { delivery: deliveryOf(CodeDeliveryDetails) }
    },
  )

  http.post(
    '/api/auth/forgot-password',
    {
      schema: { body: nameBodySchema, response: { 200: deliveryResponseSchema } },
      preHandler: [proofs.required('password'), mailLimits.ofAccount],
    },
    async (request) => {
      const { email } = request.body
      const { CodeDeliveryDetails } = await identity.call(
        'ForgotPassword',
        { ...identity.client(email), Username: email, ...deviceOf(email, request) },
        request.ip,
      )
      return { delivery: deliveryOf(CodeDeliveryDetails) }
    },
  )

  http.post(
    '/api/auth/confirm-forgot-password',
    { schema: { body: resetPasswordBodySchema, response: { 200: emptyResponseSchema } } },
    async (request, reply) => {
      const { email, code, password } = request.body
      await requireProofForPassword(email, request, reply)
      const input = { ...identity.client(email), Username: email, ConfirmationCode: code, Password: password }
      await identity.call('ConfirmForgotPassword', { ...input, ...deviceOf(email, request) }, request.ip)
      sessions.forget()
      return {}
    },
  )

  http.post(
    '/api/auth/sign-in',
    { schema: { body: signInBodySchema, response: { 200: signInStepSchema } } },
    async (request, reply): Promise<SignInStep> => {
      await checkNotSignedIn(request, reply)
      const { email, password, preferred } = request.body
      // Without a password, it may send a mail.
      if (password === undefined) await provenSignIn(request, reply)
      try {
        const answer =
          password === undefined
            ? await initiate('USER_AUTH', email, preferred ? { PREFERRED_CHALLENGE: preferred } : {}, request, reply)
            : await initiate('USER_PASSWORD_AUTH', email, { PASSWORD: password }, request, reply)
        return await continueSignIn(answer, email, request, reply)
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        if (error.code === 'PasswordResetRequiredException') return { step: 'RESET_PASSWORD' }
        if (error.code !== 'UserNotConfirmedException') throw error
        // The password was correct: the user can continue here with the code from the sign-up.
        if (password !== undefined)
          cookies.pendingSignUp.write(reply, { username: email, email, password, until: until() })
        return { step: 'CONFIRM_SIGN_UP' }
      }
    },
  )

  http.post(
    '/api/auth/sign-in-again',
    { onRequest: sessions.required, schema: { body: signInAgainBodySchema, response: { 200: signInStepSchema } } },
    async (request, reply): Promise<SignInStep> => {
      const { username, userId } = await sessions.require(request, reply)
      const { password, preferred } = request.body
      const [flow, parameters] =
        password === undefined
          ? (['USER_AUTH', preferred ? { PREFERRED_CHALLENGE: preferred } : {}] as const)
          : (['USER_PASSWORD_AUTH', { PASSWORD: password }] as const)
      const answer = await initiate(flow, username, parameters, request, reply)
      return continueSignIn(answer, username, request, reply, { again: userId })
    },
  )

  http.post(
    '/api/auth/sign-in/answer',
    { schema: { body: signInAnswerBodySchema, response: { 200: signInStepSchema } } },
    async (request, reply): Promise<SignInStep> => {
      const kept = cookies.step.read(request)
      if (!kept) throw stepExpired()
      const { again } = kept
      if (again !== undefined && (await sessions.find(request, reply))?.userId !== again) throw stepExpired()
      const { answer, attributes = {}, trust, instead } = request.body
      if (kept.step === 'CONFIRM_SIGN_IN_WITH_PASSWORD') await requireProofForPassword(kept.username, request, reply)
      const outcome = await answerStep(kept, { answer, attributes, instead }, identity, request.ip)
      if ('answer' in outcome) {
        const options = { trust: trust && secondFactors.includes(kept.challenge), again }
        return continueSignIn(outcome.answer, kept.username, request, reply, options)
      }
      const { shown, kept: next } = outcome.next
      if (next) cookies.step.write(reply, { ...next, until: until() })
      return shown
    },
  )

  http.post(
    '/api/auth/sign-out',
    { schema: { body: signOutBodySchema, response: { 200: signedOutSchema } } },
    async (request, reply) => {
      const kept = cookies.signInSession.read(request)
      if (request.body.everywhere) {
        // Clears nothing here until identity has succeeded, so that the response is truthful.
        const { accessToken, username, userId } = await sessions.require(request, reply)
        const input = { AccessToken: accessToken, ForgetDevices: true }
        await sessions.use(reply, () => identity.call('GlobalSignOut', input, request.ip))
        sessions.forget(userId)
        const device = cookies.devices.of(request, username)
        if (device) cookies.devices.drop(request, reply, device.key)
      } else if (kept) {
        const input = { ...identity.secretClient(), Token: kept.refreshToken }
        await identity.call('RevokeToken', input, request.ip).catch((error: unknown) => {
          log.warn({ err: error }, 'could not revoke a token at identity')
        })
        sessions.forget(kept.userId)
      }
      sessions.end(reply)
      for (const cookie of [cookies.step, cookies.pendingSignUp, cookies.pendingConfirmation]) cookie.clear(reply)
      return hostedLogout(config)
    },
  )

  http.post(
    '/api/auth/change-password',
    {
      onRequest: sessions.required,
      schema: { body: changePasswordBodySchema, response: { 200: emptyResponseSchema } },
    },
    async (request, reply) => {
      const { accessToken, userId } = await sessions.require(request, reply)
      const { previousPassword, proposedPassword } = request.body
      const input = { AccessToken: accessToken, PreviousPassword: previousPassword, ProposedPassword: proposedPassword }
      await sessions.use(reply, () => identity.call('ChangePassword', input, request.ip))
      // The account's other sessions have ended.
      sessions.forget(userId)
      return {}
    },
  )
}
