import { randomUUID } from 'node:crypto'
import { codeIssued, type CodePurpose } from '@robokids/contracts/identity'
import type { RunningService } from '@robokids/runtime/service'
import { sweep } from '@robokids/runtime/sweep'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { testBed, type TestBed } from '@robokids/test/bed'
import {
  CognitoIdentityProviderClient,
  CreateUserPoolClientCommand,
  CreateUserPoolCommand,
  type CreateUserPoolClientCommandInput,
  type CreateUserPoolCommandInput,
} from '@aws-sdk/client-cognito-identity-provider'
import { identity } from '../src/app.ts'
import type { Config } from '../src/config.ts'
import { tables } from '../src/tables.ts'

/** The settings of the tests' services. */
export const settings: Record<string, string> = {
  SEALING_KEYS: localSealingKeys,
  MAC_KEYS: localSealingKeys,
  CODE_SEALING_KEYS: localSealingKeys,
  CLIENT_SECRETS: 'robokidsbff:local-client-secret',
  ADDRESS_ATTEMPTS_A_MINUTE: '100000',
  ADDRESS_REQUESTS_AN_HOUR: '100000',
  ADDRESS_TEXTS_AN_HOUR: '100000',
  TEXTS_A_DAY: '100000',
  // The minimum for argon2id, so that tests are fast.
  ARGON2_MEMORY_KIB: '64',
  ARGON2_PASSES: '1',
}

/** A response body, which tests access untyped. */
export type Json = ReturnType<typeof JSON.parse>

export const standardPool = 'us-west-1_RoboKids'
export const publicClient = 'robokidsapp'
export const password = 'Robot-2030!'

/** A running identity service with a bus. */
export interface IdentityFixture {
  bed: TestBed
  url: string
  service: RunningService<Config> & { databaseUrl: string }
  /** The AWS SDK, signing as an administrator. */
  sdk: CognitoIdentityProviderClient
  /** Calls an operation without the SDK. */
  call(
    operation: string,
    input: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, Json> }>
  /** Creates a pool with a public client that by default may use all flows. */
  pool(
    settings?: Partial<CreateUserPoolCommandInput>,
    client?: Partial<CreateUserPoolClientCommandInput>,
  ): Promise<{ poolId: string; clientId: string; clientSecret: string | undefined }>
  /** Signs up a new user. @returns a unique username and email. */
  signUp(
    clientId?: string,
    attributes?: Record<string, string>,
  ): Promise<{ username: string; email: string; userId: string }>
  /** Waits for the newest code sent to an address. `after` skips that many codes. */
  codeFor(destination: string, after?: number): Promise<string>
  /** All codes sent to an address so far, optionally only those for a purpose. */
  codesTo(destination: string, purpose?: CodePurpose): string[]
  /** The number of codes sent to an address so far. */
  codesFor(destination: string): number
  /** Signs up and confirms a new user. */
  member(
    clientId?: string,
    attributes?: Record<string, string>,
  ): Promise<{ username: string; email: string; userId: string }>
  /** Deletes what has expired. */
  sweep(): Promise<void>
  stop(): Promise<void>
}

export async function startIdentity(env: Record<string, string> = {}): Promise<IdentityFixture> {
  const bed = await testBed()
  const service = await bed.start(identity, { ...settings, ...env })
  const { url } = service
  const sealer = sealingKeysSchema.parse(localSealingKeys)
  const sdk = new CognitoIdentityProviderClient({
    region: 'us-west-1',
    endpoint: url,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  })
  const eventsTo = (destination: string) => bed.bus.all(codeIssued, (data) => data.destination === destination)

  const fixture: IdentityFixture = {
    bed,
    url,
    service,
    sdk,
    sweep: () => sweep(service.context.db, tables, service.context.clock, AbortSignal.any([])),
    async call(operation, input, headers = {}) {
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
          ...headers,
        },
        body: typeof input === 'string' ? input : JSON.stringify(input),
      })
      return { status: answer.status, body: (await answer.json()) as Record<string, Json> }
    },
    async pool(settings = {}, client = {}) {
      const made = await sdk.send(
        new CreateUserPoolCommand({
          PoolName: 'test',
          AliasAttributes: ['email'],
          AutoVerifiedAttributes: ['email'],
          Policies: { SignInPolicy: { AllowedFirstAuthFactors: ['PASSWORD', 'EMAIL_OTP', 'SMS_OTP', 'WEB_AUTHN'] } },
          ...settings,
        }),
      )
      const poolId = made.UserPool?.Id ?? ''
      const { UserPoolClient } = await sdk.send(
        new CreateUserPoolClientCommand({
          UserPoolId: poolId,
          ClientName: 'test',
          PreventUserExistenceErrors: 'ENABLED',
          ExplicitAuthFlows: [
            'ALLOW_USER_SRP_AUTH',
            'ALLOW_USER_PASSWORD_AUTH',
            'ALLOW_USER_AUTH',
            'ALLOW_CUSTOM_AUTH',
            'ALLOW_REFRESH_TOKEN_AUTH',
          ],
          ...client,
        }),
      )
      return { poolId, clientId: UserPoolClient?.ClientId ?? '', clientSecret: UserPoolClient?.ClientSecret }
    },
    async signUp(clientId = publicClient, attributes = {}) {
      const username = `user_${randomUUID()}`
      const email = `${username}@example.com`
      const { status, body } = await fixture.call('SignUp', {
        ClientId: clientId,
        Username: username,
        Password: password,
        UserAttributes: Object.entries({ email, given_name: 'Maren', ...attributes }).map(([Name, Value]) => ({
          Name,
          Value,
        })),
      })
      if (status !== 200) throw new Error(`SignUp returned ${status}: ${JSON.stringify(body)}`)
      return { username, email: attributes['email'] ?? email, userId: String(body['UserSub']) }
    },
    async codeFor(destination, after = 0) {
      await bed.bus.seen(codeIssued, (data) => data.destination === destination && eventsTo(destination).length > after)
      return fixture.codesTo(destination).at(-1) ?? ''
    },
    codesTo: (destination, purpose) =>
      eventsTo(destination)
        .filter(({ data }) => purpose === undefined || data.purpose === purpose)
        .map(({ data }) => sealer.open(data.sealedCode, `code:${data.codeId}`)?.toString() ?? ''),
    codesFor: (destination) => eventsTo(destination).length,
    async member(clientId = publicClient, attributes = {}) {
      const person = await fixture.signUp(clientId, attributes)
      const code = await fixture.codeFor(person.email)
      const { status, body } = await fixture.call('ConfirmSignUp', {
        ClientId: clientId,
        Username: person.username,
        ConfirmationCode: code,
      })
      if (status !== 200) throw new Error(`ConfirmSignUp returned ${status}: ${JSON.stringify(body)}`)
      return person
    },
    stop: () => bed.stop(),
  }
  return fixture
}
