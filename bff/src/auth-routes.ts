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
import { confirmingMs, stepMs, type Cookies, type SignInSession } from './cookies.ts'
import { confirmDevice, isForgotten, proveDevice } from './device.ts'
import type { AuthAnswer, Identity, TokenAnswer } from './identity.ts'
import type { MailLimits } from './mail-limits.ts'
import type { Proofs } from './proofs.ts'
import type { Sessions } from './session.ts'
import { answerStep, nextStep } from './sign-in-steps.ts'
import { within } from './within.ts'

/** As long as browsers keep a cookie at most. */
const deviceMs = 400 * 86_400_000

/** For how long the name in a page's frame waits for identity. */
const waitForAddressMs = 2_000

/** What the routes of accounts share. */
export interface Accounts {
  cookies: Cookies
  sessions: Sessions
  identity: Identity
}

/** What the person of a device signs in by. */
const namesOf = (username: string, verifiedEmail: string | null) =>
  [username, ...(verifiedEmail === null ? [] : [verifiedEmail])].map((name) => name.toLowerCase())

export function deliveryOf(details: { Destination: string; DeliveryMedium: 'EMAIL' | 'SMS' }): CodeDelivery {
  return { medium: details.DeliveryMedium, destination: details.Destination }
}

/**
 * Refuses who is no adult on the school's calendar, by the rule that pages go by too.
 * @throws DomainError `validation_failed`
 */
export function requireAdult(birthdate: string, now: Temporal.Instant): void {
  const last = Temporal.PlainDate.from(latestAdultBirthdate(now.toString()))
  const refuse = (message: string) => {
    throw new DomainError('validation_failed', message, [{ path: 'birthdate', message }])
  }
  if (Temporal.PlainDate.compare(birthdate, last) > 0) refuse('You must be 18 or older to register.')
  if (Temporal.PlainDate.compare(birthdate, last.subtract({ years: 120 })) < 0) refuse('Enter your date of birth.')
}

/** What a browser can be trusted after: what was asked for besides the first proof. */
const secondFactors = ['SOFTWARE_TOKEN_MFA', 'SMS_MFA', 'EMAIL_OTP']

const stepExpired = () => new DomainError('sign_in_step_expired', 'Your login took too long. Please start again.')

const alreadySignedIn = () => new DomainError('already_signed_in', 'There is already a signed in user.')

function passwordRequired(): DomainError {
  const message = 'This is not the browser that you signed up in. Enter the password that you chose then.'
  return new DomainError('password_required', message, [{ path: 'password', message }])
}

/** Where the sign-in pages of a hosted service end what a browser is signed in with there, and send it back to the site. */
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
   * Goes on where the identity service's answer leads: a session, or the next step.
   * @param trust whether this browser is to be trusted.
   * @param again the `userId` of who was signed in before, where it is the same person again.
   */
  async function follow(
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
      return follow(proven, name, request, reply)
    }
    if (answer.AuthenticationResult) {
      const signInSession = await sessions.begin(reply, answer.AuthenticationResult)
      await rememberDevice(answer.AuthenticationResult, signInSession, trust, request, reply)
      cookies.step.clear(reply)
      cookies.newcomer.clear(reply)
      cookies.confirming.clear(reply)
      return { step: 'DONE' }
    }
    const { shown, kept } = await nextStep(answer, { username }, identity, request.ip)
    if (kept) cookies.step.write(reply, { ...kept, ...(again === undefined ? {} : { again }), until: until() })
    return shown
  }

  /** A browser that cannot be made a device is asked for the second factor each time: no reason to refuse the sign-in. */
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
      const made = await confirmDevice(tokens, agent, identity, request.ip)
      const addresses = made ? await sessions.addressesOf(signInSession, request, reply) : undefined
      const names = namesOf(username, addresses?.verifiedEmail ?? null)
      const device = made
        ? { ...made, names, until: clock.now().epochMilliseconds + deviceMs }
        : cookies.devices.of(request, username)
      if (made && device) cookies.devices.keep(request, reply, device)
      if (!trust || !device) return
      const status = { DeviceKey: device.key, DeviceRememberedStatus: 'remembered' }
      await identity.call('UpdateDeviceStatus', { AccessToken: accessToken, ...status }, request.ip)
    } catch (error) {
      log.warn({ err: error }, 'a device could not be confirmed')
    }
  }

  /** What this browser is to somebody, where it is one of their devices: strangers do not use up its tries. */
  function deviceOf(name: string, request: FastifyRequest): { DeviceKey?: string } {
    const device = cookies.devices.of(request, name)
    return device ? { DeviceKey: device.key } : {}
  }

  const provenSignIn = proofs.required('sign-in')
  const provenPasswords = new WeakSet<FastifyRequest>()

  /**
   * A password is work for identity: while that has too much of it, whoever is in a browser that is new to the account does some
   * as well, once for a request, whichever way the password comes in.
   */
  async function provePassword(name: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!identity.isBusy || deviceOf(name, request).DeviceKey !== undefined || provenPasswords.has(request)) return
    await provenSignIn(request, reply)
    provenPasswords.add(request)
  }

  /** Begins a sign-in, as the device that this browser is of that person. */
  async function initiate(
    AuthFlow: 'USER_PASSWORD_AUTH' | 'USER_AUTH',
    name: string,
    parameters: Record<string, string>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<AuthAnswer> {
    if (AuthFlow === 'USER_PASSWORD_AUTH') await provePassword(name, request, reply)
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

  async function refuseSignedIn(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const signInSession = await sessions.find(request, reply)
    if (!signInSession) return
    try {
      await sessions.use(reply, () => identity.call('GetUser', { AccessToken: signInSession.accessToken }, request.ip))
    } catch (error) {
      // One that was ended elsewhere stands in nobody's way.
      if (error instanceof DomainError && error.code === 'sign_in_required') return
      throw error
    }
    throw alreadySignedIn()
  }

  /** Whether it is the session of who signs in by that name now. */
  async function isOf(
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
   * The address that an account goes by, or its name while identity cannot be asked: the session is still whose it is.
   * Undefined where the sign-in was ended meanwhile.
   */
  async function shownName(
    signInSession: SignInSession,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<string | undefined> {
    const { username } = signInSession
    try {
      const addresses = await within(waitForAddressMs, sessions.addressesOf(signInSession, request, reply))
      if (!addresses) return username
      keepDeviceNames(username, addresses.verifiedEmail, request, reply)
      return addresses.verifiedEmail ?? addresses.email ?? username
    } catch (error) {
      if (error instanceof DomainError && error.code === 'sign_in_required') return undefined
      log.warn({ err: error }, 'an account could not be asked for')
      return username
    }
  }

  /** Where the address was changed in another browser, this one is known by the new one as well. */
  function keepDeviceNames(
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
      log.warn({ err: error }, 'a session could not be renewed')
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
      cookies.newcomer.write(reply, { username, email, password, until: until() })
      cookies.confirming.write(reply, { username, email, until: clock.now().epochMilliseconds + confirmingMs })
      const details = answer.CodeDeliveryDetails
      return { delivery: details ? deliveryOf(details) : null, confirmed: answer.UserConfirmed }
    },
  )

  /** Signs in whose account is confirmed now, here or in another tab. @throws DomainError `already_signed_in` over somebody else. */
  async function signInOnce(
    name: string,
    password: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SignInStep> {
    const signInSession = await sessions.find(request, reply)
    if (signInSession && !(await isOf(signInSession, name, request, reply))) throw alreadySignedIn()
    if (signInSession) return { step: 'DONE' }
    return follow(
      await initiate('USER_PASSWORD_AUTH', name, { PASSWORD: password }, request, reply),
      name,
      request,
      reply,
    )
  }

  async function signNewcomerIn(request: FastifyRequest, reply: FastifyReply): Promise<SignInStep> {
    const newcomer = cookies.newcomer.read(request)
    if (!newcomer) {
      if (await sessions.find(request, reply)) return { step: 'DONE' }
      throw new DomainError('sign_in_step_expired', 'The account was not confirmed on time.')
    }
    try {
      return await signInOnce(newcomer.username, newcomer.password, request, reply)
    } catch (error) {
      if (error instanceof DomainError && error.code === 'UserNotConfirmedException') return { step: 'waiting' }
      throw error
    }
  }

  http.post('/api/auth/auto-sign-in', { schema: { response: { 200: signInStepSchema } } }, signNewcomerIn)

  /** The newcomer's own account by its name, where another has the same address and was never confirmed. */
  function ownName(email: string, request: FastifyRequest): string {
    for (const cookie of [cookies.confirming, cookies.newcomer]) {
      const own = cookie.read(request)
      if (own && emailKey(own.email) === emailKey(email)) return own.username
    }
    return email
  }

  /**
   * Whether the newcomer is signed in after all where a confirmation was refused: its first try went through and the
   * answer was lost, or another tab was faster.
   */
  async function isSignedInAs(email: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const signInSession = await sessions.find(request, reply)
    if (signInSession) return isOf(signInSession, email, request, reply)
    if (ownName(email, request) === email) return false
    const step = await signNewcomerIn(request, reply).catch(() => undefined)
    return step?.step === 'DONE'
  }

  http.post(
    '/api/auth/confirm-sign-up',
    { schema: { body: confirmSignUpBodySchema, response: { 200: confirmSignUpResponseSchema } } },
    async (request, reply) => {
      const { email, code } = request.body
      const name = ownName(email, request)
      const newcomer = cookies.newcomer.read(request)
      // Anybody may have signed up with this address, and its reader type a code that came unasked: of an account that was
      // not begun in this browser, whoever confirms it has to know the password.
      const isNewcomer = newcomer !== undefined && emailKey(newcomer.email) === emailKey(email)
      const password = request.body.password ?? (isNewcomer ? newcomer.password : undefined)
      const isOwn = name !== email
      const input = {
        ...identity.client(name),
        Username: name,
        ConfirmationCode: code,
        ...(isOwn ? {} : { Password: password }),
      }
      if (password !== undefined) await provePassword(name, request, reply)
      try {
        if (!isOwn && password === undefined) throw passwordRequired()
        await identity.call('ConfirmSignUp', input, request.ip)
      } catch (error) {
        if (await isSignedInAs(email, request, reply)) return { signedIn: true }
        throw error
      }
      cookies.confirming.clear(reply)
      if (password === undefined) return { signedIn: false }
      // It is confirmed: that is what the answer says, whatever becomes of the sign-in.
      const step = await signInOnce(name, password, request, reply).catch((error: unknown) => {
        log.warn({ err: error }, 'a newcomer could not be signed in')
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
      const name = ownName(email, request)
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
      await provePassword(email, request, reply)
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
      await refuseSignedIn(request, reply)
      const { email, password, preferred } = request.body
      // Without a password it may begin with a mail.
      if (password === undefined) await provenSignIn(request, reply)
      try {
        const answer =
          password === undefined
            ? await initiate('USER_AUTH', email, preferred ? { PREFERRED_CHALLENGE: preferred } : {}, request, reply)
            : await initiate('USER_PASSWORD_AUTH', email, { PASSWORD: password }, request, reply)
        return await follow(answer, email, request, reply)
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        if (error.code === 'PasswordResetRequiredException') return { step: 'RESET_PASSWORD' }
        if (error.code !== 'UserNotConfirmedException') throw error
        // The password was right: the code that was sent at the sign-up leads on, here too.
        if (password !== undefined) cookies.newcomer.write(reply, { username: email, email, password, until: until() })
        return { step: 'CONFIRM_SIGN_UP' }
      }
    },
  )

  http.post(
    '/api/auth/sign-in-again',
    { onRequest: sessions.required, schema: { body: signInAgainBodySchema, response: { 200: signInStepSchema } } },
    async (request, reply): Promise<SignInStep> => {
      const { username, userId } = await sessions.need(request, reply)
      const { password, preferred } = request.body
      const [flow, parameters] =
        password === undefined
          ? (['USER_AUTH', preferred ? { PREFERRED_CHALLENGE: preferred } : {}] as const)
          : (['USER_PASSWORD_AUTH', { PASSWORD: password }] as const)
      const answer = await initiate(flow, username, parameters, request, reply)
      return follow(answer, username, request, reply, { again: userId })
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
      if (kept.step === 'CONFIRM_SIGN_IN_WITH_PASSWORD') await provePassword(kept.username, request, reply)
      const outcome = await answerStep(kept, { answer, attributes, instead }, identity, request.ip)
      if ('answer' in outcome) {
        const how = { trust: trust && secondFactors.includes(kept.challenge), again }
        return follow(outcome.answer, kept.username, request, reply, how)
      }
      const { shown, kept: next } = outcome.asked
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
        // Whoever asks for it is told the truth of it: nothing is forgotten here before it is done.
        const { accessToken, username, userId } = await sessions.need(request, reply)
        const input = { AccessToken: accessToken, ForgetDevices: true }
        await sessions.use(reply, () => identity.call('GlobalSignOut', input, request.ip))
        sessions.forget(userId)
        const device = cookies.devices.of(request, username)
        if (device) cookies.devices.drop(request, reply, device.key)
      } else if (kept) {
        const input = { ...identity.secretClient(), Token: kept.refreshToken }
        await identity.call('RevokeToken', input, request.ip).catch((error: unknown) => {
          log.warn({ err: error }, 'a sign-out could not be told to identity')
        })
        sessions.forget(kept.userId)
      }
      sessions.end(reply)
      for (const cookie of [cookies.step, cookies.newcomer, cookies.confirming]) cookie.clear(reply)
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
      const { accessToken, userId } = await sessions.need(request, reply)
      const { previousPassword, proposedPassword } = request.body
      const input = { AccessToken: accessToken, PreviousPassword: previousPassword, ProposedPassword: proposedPassword }
      await sessions.use(reply, () => identity.call('ChangePassword', input, request.ip))
      // The others of the account are over.
      sessions.forget(userId)
      return {}
    },
  )
}
