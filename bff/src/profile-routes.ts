import {
  deleteAccountBodySchema,
  deviceBodySchema,
  deliveryResponseSchema,
  emptyResponseSchema,
  mfaPreferenceBodySchema,
  passkeyBodySchema,
  passkeyOptionsSchema,
  profileChangeSchema,
  profileSchema,
  totpSetUpSchema,
  totpVerifyBodySchema,
  verificationBodySchema,
  verificationConfirmBodySchema,
  type MfaType,
  type Profile,
} from '@robokids/contracts/auth'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { deliveryOf, requireAdult, type Accounts } from './auth-routes.ts'
import type { Config } from './config.ts'
import type { SignInSession } from './cookies.ts'
import { totpUri } from './sign-in-steps.ts'
import { profileView } from './views/profile.ts'

/** The identity service's attribute names for the profile's fields. */
const attributeNames = {
  email: 'email',
  givenName: 'given_name',
  familyName: 'family_name',
  birthdate: 'birthdate',
  phoneNumber: 'phone_number',
  address: 'address',
} as const satisfies Partial<Record<keyof Profile, string>>

const mfaSettings = {
  TOTP: 'SoftwareTokenMfaSettings',
  SMS: 'SMSMfaSettings',
  EMAIL: 'EmailMfaSettings',
} as const satisfies Record<MfaType, string>

const byId = z.object({ id: z.string().min(1).max(1024) })

/** The signed-in user's own account: each call is made with their token. */
export function profileRoutes(http: Http, { clock }: Context<Config>, { sessions, identity, cookies }: Accounts): void {
  http.addHook('onRoute', (route) => {
    route.onRequest = [route.onRequest ?? [], sessions.required].flat()
  })
  type Call = ReturnType<typeof callFor>
  const callFor =
    (signInSession: SignInSession, request: FastifyRequest, reply: FastifyReply) =>
    <Name extends Parameters<typeof identity.call>[0]>(name: Name, input: Record<string, unknown> = {}) =>
      sessions.use(reply, () => identity.call(name, { AccessToken: signInSession.accessToken, ...input }, request.ip))

  const callOf = async (request: FastifyRequest, reply: FastifyReply) =>
    callFor(await sessions.require(request, reply), request, reply)
  /** For changes with which an attacker could take over the account. */
  const freshCallOf = async (request: FastifyRequest, reply: FastifyReply) =>
    callFor(await sessions.requireFresh(request, reply), request, reply)

  async function view(call: Call, request: FastifyRequest, reply: FastifyReply): Promise<Profile> {
    // Cached per request.
    const { username } = await sessions.require(request, reply)
    return profileView(call, cookies.devices.of(request, username)?.key)
  }

  /** Returns the profile after a change, which may have ended the account's sessions in other browsers. */
  async function viewChanged(call: Call, request: FastifyRequest, reply: FastifyReply): Promise<Profile> {
    sessions.forget((await sessions.require(request, reply)).userId)
    return view(call, request, reply)
  }

  /**
   * Adds a route that changes something and returns the updated profile.
   * @param requiresFresh whether an attacker could take over the account with it.
   */
  function change<Body>(
    method: 'POST' | 'PATCH',
    path: string,
    body: z.ZodType<Body>,
    make: (call: Call, body: Body) => Promise<unknown>,
    requiresFresh: (body: Body) => boolean = () => false,
  ): void {
    http.route({
      method,
      url: path,
      schema: { body, response: { 200: profileSchema } },
      async handler(request, reply) {
        const body = request.body as Body
        const call = await (requiresFresh(body) ? freshCallOf : callOf)(request, reply)
        await make(call, body)
        return viewChanged(call, request, reply)
      },
    })
  }

  http.get('/api/profile', { schema: { response: { 200: profileSchema } } }, async (request, reply) =>
    view(await callOf(request, reply), request, reply),
  )

  change(
    'PATCH',
    '/api/profile',
    profileChangeSchema,
    async (call, changes) => {
      if (changes.birthdate !== undefined) requireAdult(changes.birthdate, clock.now())
      const attributes = Object.entries(changes).map(([name, Value]) => ({
        Name: attributeNames[name as keyof typeof attributeNames],
        Value,
      }))
      if (attributes.length > 0) await call('UpdateUserAttributes', { UserAttributes: attributes })
    },
    ({ email, phoneNumber }) => email !== undefined || phoneNumber !== undefined,
  )

  http.delete(
    '/api/profile',
    { schema: { body: deleteAccountBodySchema, response: { 200: emptyResponseSchema } } },
    async (request, reply) => {
      const signInSession = await sessions.require(request, reply)
      // The password protects against a browser that was left signed in.
      await callFor(signInSession, request, reply)('DeleteUser', { Password: request.body.password })
      sessions.forget(signInSession.userId)
      const { devices, ...others } = cookies
      for (const cookie of Object.values(others)) cookie.clear(reply)
      const device = devices.of(request, signInSession.username)
      if (device) devices.drop(request, reply, device.key)
      return {}
    },
  )

  http.post(
    '/api/profile/verification',
    { schema: { body: verificationBodySchema, response: { 200: deliveryResponseSchema } } },
    async (request, reply) => {
      const call = await callOf(request, reply)
      const { attribute } = request.body
      const { CodeDeliveryDetails } = await call('GetUserAttributeVerificationCode', { AttributeName: attribute })
      return { delivery: deliveryOf(CodeDeliveryDetails) }
    },
  )

  change('POST', '/api/profile/verification/confirm', verificationConfirmBodySchema, (call, { attribute, code }) =>
    call('VerifyUserAttribute', { AttributeName: attribute, Code: code }),
  )

  change(
    'POST',
    '/api/profile/mfa',
    mfaPreferenceBodySchema,
    (call, { type, enabled, preferred }) =>
      call('SetUserMFAPreference', { [mfaSettings[type]]: { Enabled: enabled, PreferredMfa: enabled && preferred } }),
    () => true,
  )

  http.post('/api/profile/totp', { schema: { response: { 200: totpSetUpSchema } } }, async (request, reply) => {
    const signInSession = await sessions.requireFresh(request, reply)
    const { email, verifiedEmail } = await sessions.addressesOf(signInSession, request, reply)
    const { SecretCode } = await callFor(signInSession, request, reply)('AssociateSoftwareToken')
    return { secret: SecretCode, uri: totpUri(SecretCode, verifiedEmail ?? email ?? signInSession.username) }
  })

  change('POST', '/api/profile/totp/verify', totpVerifyBodySchema, async (call, { code, deviceName }) => {
    await call('VerifySoftwareToken', { UserCode: code, ...(deviceName ? { FriendlyDeviceName: deviceName } : {}) })
    await call('SetUserMFAPreference', { SoftwareTokenMfaSettings: { Enabled: true, PreferredMfa: true } })
  })

  http.post(
    '/api/profile/passkeys/options',
    { schema: { response: { 200: passkeyOptionsSchema } } },
    async (request, reply) => {
      const call = await freshCallOf(request, reply)
      const { CredentialCreationOptions } = await call('StartWebAuthnRegistration')
      return { options: CredentialCreationOptions }
    },
  )

  // Needs no fresh sign-in, since only its initiator, who had one, knows the challenge or the authenticator's secret.
  change('POST', '/api/profile/passkeys', passkeyBodySchema, (call, { credential }) =>
    call('CompleteWebAuthnRegistration', { Credential: credential }),
  )
  http.delete(
    '/api/profile/passkeys/:id',
    { schema: { params: byId, response: { 200: profileSchema } } },
    async (request, reply) => {
      const call = await callOf(request, reply)
      await call('DeleteWebAuthnCredential', { CredentialId: request.params.id })
      return viewChanged(call, request, reply)
    },
  )

  http.post(
    '/api/profile/devices/:id',
    { schema: { params: byId, body: deviceBodySchema, response: { 200: profileSchema } } },
    async (request, reply) => {
      const { remembered } = request.body
      const call = await (remembered ? freshCallOf : callOf)(request, reply)
      await call('UpdateDeviceStatus', {
        DeviceKey: request.params.id,
        DeviceRememberedStatus: remembered ? 'remembered' : 'not_remembered',
      })
      return viewChanged(call, request, reply)
    },
  )

  http.delete(
    '/api/profile/devices/:id',
    { schema: { params: byId, response: { 200: profileSchema } } },
    async (request, reply) => {
      const call = await callOf(request, reply)
      const { id } = request.params
      await call('ForgetDevice', { DeviceKey: id })
      cookies.devices.drop(request, reply, id)
      return viewChanged(call, request, reply)
    },
  )
}
