import { createHmac } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { identityErrorStatus, type IdentityErrorName } from '@robokids/contracts/errors'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import { z } from 'zod'
import type { Config } from './config.ts'
import { busy, type Services } from './upstream.ts'

const codeDelivery = z.object({ Destination: z.string(), DeliveryMedium: z.enum(['EMAIL', 'SMS']) })

/** The identity service's responses, as far as the BFF reads them. */
const answers = {
  SignUp: z.object({
    UserConfirmed: z.boolean(),
    CodeDeliveryDetails: codeDelivery.optional(),
    /** An extension of our service: the username of an earlier sign-up that this one repeats. */
    Username: z.string().optional(),
  }),
  ConfirmSignUp: z.object({ Session: z.string().optional() }),
  ResendConfirmationCode: z.object({ CodeDeliveryDetails: codeDelivery }),
  ForgotPassword: z.object({ CodeDeliveryDetails: codeDelivery }),
  ConfirmForgotPassword: z.object({}),
  ChangePassword: z.object({}),
  GetUser: z.object({
    Username: z.string(),
    UserAttributes: z.array(z.object({ Name: z.string(), Value: z.string() })),
    UserMFASettingList: z.array(z.string()).default([]),
    PreferredMfaSetting: z.string().optional(),
    /** An extension of our service: the verified email, even while a change of the attribute is pending. */
    VerifiedEmail: z.string().optional(),
  }),
  UpdateUserAttributes: z.object({}),
  GetUserAttributeVerificationCode: z.object({ CodeDeliveryDetails: codeDelivery }),
  VerifyUserAttribute: z.object({}),
  AssociateSoftwareToken: z.object({ SecretCode: z.string(), Session: z.string().optional() }),
  VerifySoftwareToken: z.object({ Session: z.string().optional() }),
  SetUserMFAPreference: z.object({}),
  StartWebAuthnRegistration: z.object({ CredentialCreationOptions: z.record(z.string(), z.unknown()) }),
  CompleteWebAuthnRegistration: z.object({}),
  ListWebAuthnCredentials: z.object({
    Credentials: z.array(
      z.object({
        CredentialId: z.string(),
        FriendlyCredentialName: z.string().default(''),
        CreatedAt: z.number(),
      }),
    ),
  }),
  DeleteWebAuthnCredential: z.object({}),
  ConfirmDevice: z.object({}),
  ListDevices: z.object({
    Devices: z.array(
      z.object({
        DeviceKey: z.string(),
        DeviceAttributes: z.array(z.object({ Name: z.string(), Value: z.string().optional() })).default([]),
        DeviceLastAuthenticatedDate: z.number(),
      }),
    ),
    PaginationToken: z.string().optional(),
  }),
  ForgetDevice: z.unknown(),
  UpdateDeviceStatus: z.object({}),
  GlobalSignOut: z.object({}),
  RevokeToken: z.object({}),
  DeleteUser: z.unknown(),
} as const

export type UserAnswer = z.infer<typeof answers.GetUser>

const tokensSchema = z.object({
  AccessToken: z.string(),
  RefreshToken: z.string().optional(),
  NewDeviceMetadata: z.object({ DeviceKey: z.string(), DeviceGroupKey: z.string() }).optional(),
})
export type TokenAnswer = z.infer<typeof tokensSchema>

const authAnswer = z.object({
  AuthenticationResult: tokensSchema.optional(),
  ChallengeName: z.string().optional(),
  ChallengeParameters: z.record(z.string(), z.string()).default({}),
  AvailableChallenges: z.array(z.string()).optional(),
  Session: z.string().optional(),
})
export type AuthAnswer = z.infer<typeof authAnswer>

const authAnswers = {
  InitiateAuth: authAnswer,
  RespondToAuthChallenge: authAnswer,
  GetTokensFromRefreshToken: z.object({ AuthenticationResult: tokensSchema }),
} as const

const operations = { ...answers, ...authAnswers }
type Operations = typeof operations

const errorSchema = z.object({ __type: z.string(), message: z.string().default('') })

function isKnown(name: string): name is IdentityErrorName {
  return Object.hasOwn(identityErrorStatus, name)
}

/** The input fields with a password, which is hashed. */
const passwordFields = ['Password', 'ProposedPassword', 'PASSWORD', 'NEW_PASSWORD']
/** The input fields that show that the client was here before. */
const knownClientFields = ['AccessToken', 'DeviceKey', 'DEVICE_KEY']

/** Whether an input has one of these fields, itself or in its parameters. */
function hasField(input: Record<string, unknown>, names: string[]): boolean {
  const { AuthParameters = {}, ChallengeResponses = {} } = input
  const fields = { ...input, ...(AuthParameters as object), ...(ChallengeResponses as object) }
  return names.some((name) => Object.hasOwn(fields, name))
}

/** As in the hosted service's own client. */
const maxAttempts = 3
const maxRetryDelayMs = 5 * 60_000

/** The delay after a failed attempt, by its number: 200 to 300 ms, 400 to 500 ms, … */
export function retryDelay(attempt: number, random = Math.random()): number {
  return Math.min(2 ** attempt * 100 + random * 100, maxRetryDelayMs)
}

/** Errors before anything was sent, after which any call can be retried. */
const connectionErrors = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])
/** Reads can be retried even if the response was lost. */
const reads: ReadonlySet<string> = new Set(['GetUser', 'ListDevices', 'ListWebAuthnCredentials'])

function shouldRetry(name: string, error: unknown): boolean {
  if (!(error instanceof DomainError) || error.code !== 'upstream_unavailable') return false
  const { code } = (error.cause ?? {}) as { code?: string }
  return reads.has(name) || (code !== undefined && connectionErrors.has(code))
}

/** How long the service counts as busy after it rejected a call. */
const busyForMs = 60_000

/** The BFF's client of the identity service, as an app client with a secret. */
export class Identity {
  readonly #services: Pick<Services, 'identity' | 'hashing'>
  readonly #config: Config
  #busyUntil = -Infinity

  constructor(services: Pick<Services, 'identity' | 'hashing'>, config: Config) {
    this.#services = services
    this.#config = config
  }

  /** Whether there were recently more passwords to check than possible. */
  get isBusy(): boolean {
    return performance.now() < this.#busyUntil
  }

  #busy(): DomainError {
    this.#busyUntil = performance.now() + busyForMs
    return busy()
  }

  /**
   * Calls an operation for the visitor at `address`.
   * @throws DomainError with the service's own error name and message, or `validation_failed` if browsers do not know that name;
   * `busy` if there are too many passwords to hash; `upstream_unavailable` for everything else
   */
  async call<Name extends keyof Operations>(
    name: Name,
    input: Record<string, unknown>,
    address: string,
  ): Promise<z.infer<Operations[Name]>> {
    const begun = performance.now()
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(name, input, address)
      } catch (error) {
        const pause = retryDelay(attempt)
        const isInTime = performance.now() - begun + pause < this.#config.UPSTREAM_TIMEOUT_MS
        if (attempt >= maxAttempts || !isInTime || !shouldRetry(name, error)) throw error
        await wait(pause)
      }
    }
  }

  async #attempt<Name extends keyof Operations>(
    name: Name,
    input: Record<string, unknown>,
    address: string,
  ): Promise<z.infer<Operations[Name]>> {
    const { identity, hashing } = this.#services
    const hashes = hasField(input, passwordFields)
    // Rejects unknown clients when it is full, so that known ones do not wait long.
    if (hashes && hashing.isFull() && !hasField(input, knownClientFields)) throw this.#busy()
    const { status, body } = await (hashes ? hashing : identity).raw('POST', '/', {
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSCognitoIdentityProviderService.${name}`,
        'x-forwarded-for': address,
      },
      body: Buffer.from(JSON.stringify(input)),
    })
    let content: unknown
    try {
      content = body.length === 0 ? {} : JSON.parse(body.toString())
    } catch {
      throw unavailable(new Error(`${name} returned ${status} without JSON`))
    }
    if (status === 200) {
      const read = operations[name].safeParse(content)
      if (read.success) return read.data as z.infer<Operations[Name]>
      const wrong = read.error.issues.map((issue) => issue.path.map(String).join('.')).join(', ')
      throw unavailable(new Error(`${name} returned an invalid response: ${wrong}`))
    }
    const failure = errorSchema.safeParse(content)
    if (status < 500 && failure.success) {
      const { __type: name, message } = failure.data
      // Names of the protocol itself (an unreadable body, a field of the wrong type) are about the input.
      throw isKnown(name) ? new DomainError(name, message) : new DomainError('validation_failed', message)
    }
    if (failure.success && failure.data.__type === 'ServiceUnavailable') throw this.#busy()
    throw unavailable(new Error(`${name} returned ${status}`))
  }

  /** Starts a sign-in as `username`. */
  initiate(
    AuthFlow: 'USER_PASSWORD_AUTH' | 'USER_AUTH',
    username: string,
    parameters: Record<string, string>,
    address: string,
  ): Promise<AuthAnswer> {
    const { ClientId, SecretHash } = this.client(username)
    const AuthParameters = { USERNAME: username, SECRET_HASH: SecretHash, ...parameters }
    return this.call('InitiateAuth', { ClientId, AuthFlow, AuthParameters }, address)
  }

  /** Answers a step of a sign-in of `username`. */
  respond(
    {
      challenge,
      challengeSession,
      username,
    }: { challenge: string; challengeSession: string | undefined; username: string },
    responses: Record<string, string>,
    address: string,
  ): Promise<AuthAnswer> {
    const { ClientId, SecretHash } = this.client(username)
    const ChallengeResponses = { USERNAME: username, SECRET_HASH: SecretHash, ...responses }
    const input = { ClientId, ChallengeName: challenge, Session: challengeSession, ChallengeResponses }
    return this.call('RespondToAuthChallenge', input, address)
  }

  /** The client's credentials for an operation. */
  client(username: string): { ClientId: string; SecretHash: string } {
    const { IDENTITY_CLIENT_ID: ClientId, IDENTITY_CLIENT_SECRET } = this.#config
    const SecretHash = createHmac('sha256', IDENTITY_CLIENT_SECRET).update(`${username}${ClientId}`).digest('base64')
    return { ClientId, SecretHash }
  }

  /** As `client`, for operations that take the secret itself. */
  secretClient(): { ClientId: string; ClientSecret: string } {
    return { ClientId: this.#config.IDENTITY_CLIENT_ID, ClientSecret: this.#config.IDENTITY_CLIENT_SECRET }
  }
}
