import { createHash } from 'node:crypto'
import { SetUserPoolMfaConfigCommand } from '@aws-sdk/client-cognito-identity-provider'
import { userUpdated } from '@robokids/contracts/identity'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAllowedOrigin } from '../../src/factors/web-authn.ts'
import { makeAuthenticator } from '../authenticator.ts'
import { startIdentity, password, publicClient, type IdentityFixture } from '../fixture.ts'

let fixture: IdentityFixture
beforeAll(async () => {
  fixture = await startIdentity({ EVEN_ANSWER_MS: '5' })
})
afterAll(() => fixture.stop())

const site = 'http://localhost:3000'

interface Options {
  challenge: string
  rp: { id: string; name: string }
  user: { id: string; name: string; displayName: string }
  excludeCredentials: { id: string }[]
  pubKeyCredParams: { alg: number }[]
}

async function guest(clientId = publicClient) {
  const person = await fixture.member(clientId)
  const { body } = await fixture.call('InitiateAuth', {
    ClientId: clientId,
    AuthFlow: 'USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: person.username, PASSWORD: password },
  })
  return { ...person, AccessToken: body['AuthenticationResult'].AccessToken as string }
}
const start = (AccessToken: string) => fixture.call('StartWebAuthnRegistration', { AccessToken })
const optionsOf = async (AccessToken: string): Promise<Options> =>
  (await start(AccessToken)).body['CredentialCreationOptions'] as Options
const complete = (AccessToken: string, Credential: object) =>
  fixture.call('CompleteWebAuthnRegistration', { AccessToken, Credential })
const list = async (AccessToken: string) =>
  (await fixture.call('ListWebAuthnCredentials', { AccessToken })).body['Credentials'] as Record<string, unknown>[]

interface Cheat {
  origin?: string
  challenge?: string
  rpId?: string
  type?: string
  flags?: number
  counter?: number
  publicKey?: Buffer
}

/** A browser's response to registration options, without an attestation. `tamper` replaces honest values. */
function register(authenticator: ReturnType<typeof makeAuthenticator>, options: Options, tamper: Cheat = {}) {
  const id = Buffer.from(authenticator.id, 'base64url')
  const head = Buffer.alloc(5)
  // User present, user verified, with a credential.
  head.writeUInt8(tamper.flags ?? 0x45)
  head.writeUInt32BE(tamper.counter ?? 0, 1)
  const authData = Buffer.concat([
    createHash('sha256')
      .update(tamper.rpId ?? options.rp.id)
      .digest(),
    head,
    Buffer.alloc(16),
    Buffer.of(0, id.length),
    id,
    tamper.publicKey ?? Buffer.from(authenticator.publicKey, 'base64url'),
  ])
  // {"fmt": "none", "attStmt": {}, "authData": …} in CBOR.
  const attestation = Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
    Buffer.of(authData.length >> 8, authData.length & 0xff),
    authData,
  ])
  const clientData = {
    type: tamper.type ?? 'webauthn.create',
    challenge: tamper.challenge ?? options.challenge,
    origin: tamper.origin ?? site,
    crossOrigin: false,
  }
  return {
    id: authenticator.id,
    rawId: authenticator.id,
    type: 'public-key',
    authenticatorAttachment: 'platform',
    clientExtensionResults: {},
    response: {
      clientDataJSON: Buffer.from(JSON.stringify(clientData)).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal', 'hybrid'],
    },
  }
}

describe('a passkey', () => {
  it('gets a unique name within the account, even after one was deleted', async () => {
    const { AccessToken } = await guest()
    const add = async () => complete(AccessToken, register(makeAuthenticator(), await optionsOf(AccessToken)))
    for (let made = 0; made < 2; made++) expect((await add()).status).toBe(200)
    const [first] = await list(AccessToken)
    const CredentialId = first?.['CredentialId']
    expect((await fixture.call('DeleteWebAuthnCredential', { AccessToken, CredentialId })).status).toBe(200)
    expect((await add()).status).toBe(200)
    const names = (await list(AccessToken)).map((one) => one['FriendlyCredentialName'])
    expect(new Set(names).size).toBe(2)
  })

  it('can be registered, listed, used for signing in, and deleted', async () => {
    const { username, email, userId, AccessToken } = await guest()
    const options = await optionsOf(AccessToken)
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'Robo Kids Learning' },
      user: { name: email, displayName: 'Maren' },
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
    })
    expect(options.pubKeyCredParams.map(({ alg }) => alg)).toEqual(expect.arrayContaining([-7, -257]))
    const authenticator = makeAuthenticator()
    // The maximum of the counter.
    const credential = register(authenticator, options, { counter: 0xffff_fff0 })
    expect(await complete(AccessToken, credential)).toEqual({ status: 200, body: {} })
    expect(await list(AccessToken)).toEqual([
      {
        CredentialId: authenticator.id,
        FriendlyCredentialName: 'Passkey 1',
        RelyingPartyId: 'localhost',
        AuthenticatorAttachment: 'platform',
        AuthenticatorTransports: ['internal', 'hybrid'],
        CreatedAt: expect.any(Number),
      },
    ])
    const changed = () =>
      fixture.bed.bus.all(userUpdated, (data) => data.userId === userId && data.changed.includes('passkeys'))
    await fixture.bed.bus.seen(userUpdated, () => changed().length === 1)

    const challenged = await fixture.call('InitiateAuth', {
      ClientId: publicClient,
      AuthFlow: 'USER_AUTH',
      AuthParameters: { USERNAME: username, PREFERRED_CHALLENGE: 'WEB_AUTHN' },
    })
    const request = JSON.parse(challenged.body['ChallengeParameters'].CREDENTIAL_REQUEST_OPTIONS)
    const answered = await fixture.call('RespondToAuthChallenge', {
      ClientId: publicClient,
      ChallengeName: 'WEB_AUTHN',
      Session: challenged.body['Session'],
      ChallengeResponses: {
        USERNAME: username,
        CREDENTIAL: authenticator.answer(request, site, { counter: 0xffff_fffe }),
      },
    })
    expect(answered.body).toMatchObject({ AuthenticationResult: {} })

    const again = await optionsOf(AccessToken)
    expect(again.excludeCredentials).toMatchObject([{ id: authenticator.id }])
    expect(await complete(AccessToken, register(authenticator, again))).toMatchObject({
      body: { __type: 'WebAuthnCredentialNotSupportedException' },
    })
    const remove = (token: string) =>
      fixture.call('DeleteWebAuthnCredential', { AccessToken: token, CredentialId: authenticator.id })
    const stranger = await guest()
    expect(await remove(stranger.AccessToken)).toEqual({
      status: 400,
      body: { __type: 'ResourceNotFoundException', message: 'The passkey does not exist.' },
    })
    expect(await remove(AccessToken)).toEqual({ status: 200, body: {} })
    expect(await list(AccessToken)).toEqual([])
    await fixture.bed.bus.seen(userUpdated, () => changed().length === 2)
    expect(changed().map(({ data }) => data.passkeys)).toEqual([1, 0])
  })

  const rejected: [string, Cheat, string][] = [
    ['made at another origin', { origin: 'http://localhost:3001' }, 'WebAuthnOriginNotAllowedException'],
    ['made at an address that looks alike', { origin: `${site}.evil.example` }, 'WebAuthnOriginNotAllowedException'],
    ['made for another site', { rpId: 'evil.example' }, 'WebAuthnRelyingPartyMismatchException'],
    ['made for another challenge', { challenge: 'c29tZXRoaW5n' }, 'WebAuthnChallengeNotFoundException'],
    ['that is a sign-in', { type: 'webauthn.get' }, 'WebAuthnCredentialNotSupportedException'],
    ['of a person who was not there', { flags: 0x44 }, 'WebAuthnCredentialNotSupportedException'],
    ['without a key', { flags: 0x05 }, 'WebAuthnCredentialNotSupportedException'],
    ['with a key that is none', { publicKey: Buffer.from('a0', 'hex') }, 'WebAuthnCredentialNotSupportedException'],
    [
      'with a key of an invalid length',
      { publicKey: Buffer.from('a50102032620012158', 'hex') },
      'WebAuthnCredentialNotSupportedException',
    ],
  ]
  it.each(rejected)('%s is rejected, and its challenge is used up', async (_what, tamper, name) => {
    const { AccessToken } = await guest()
    const options = await optionsOf(AccessToken)
    const authenticator = makeAuthenticator()
    expect(await complete(AccessToken, register(authenticator, options, tamper))).toMatchObject({
      status: 400,
      body: { __type: name },
    })
    expect(await complete(AccessToken, register(authenticator, options))).toMatchObject({
      body: { __type: 'WebAuthnChallengeNotFoundException' },
    })
    expect(await list(AccessToken)).toEqual([])
  })

  it("cannot be registered for another user's challenge", async () => {
    const [maren, bo] = [await guest(), await guest()]
    await optionsOf(bo.AccessToken)
    const options = await optionsOf(maren.AccessToken)
    expect(await complete(bo.AccessToken, register(makeAuthenticator(), options))).toMatchObject({
      body: { __type: 'WebAuthnChallengeNotFoundException' },
    })
  })

  it('is registered once per challenge under concurrent responses', async () => {
    const { AccessToken } = await guest()
    const options = await optionsOf(AccessToken)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => complete(AccessToken, register(makeAuthenticator(), options))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await list(AccessToken)).toHaveLength(1)
  })

  it('requires a pool with passkeys and a relying party', async () => {
    const without = await fixture.pool({ Policies: { SignInPolicy: { AllowedFirstAuthFactors: ['PASSWORD'] } } })
    const outside = await guest(without.clientId)
    expect(await start(outside.AccessToken)).toMatchObject({ body: { __type: 'WebAuthnNotEnabledException' } })
    const { poolId, clientId } = await fixture.pool()
    const { AccessToken } = await guest(clientId)
    expect(await start(AccessToken)).toMatchObject({ body: { __type: 'WebAuthnConfigurationMissingException' } })
    await fixture.sdk.send(
      new SetUserPoolMfaConfigCommand({
        UserPoolId: poolId,
        WebAuthnConfiguration: { RelyingPartyId: 'example.com', UserVerification: 'required' },
      }),
    )
    const unsure = register(makeAuthenticator(), await optionsOf(AccessToken), {
      origin: 'https://app.example.com',
      flags: 0x41,
    })
    expect(await complete(AccessToken, unsure)).toMatchObject({
      body: { __type: 'WebAuthnCredentialNotSupportedException' },
    })
    const sure = register(makeAuthenticator(), await optionsOf(AccessToken), { origin: 'https://app.example.com' })
    expect(await complete(AccessToken, sure)).toEqual({ status: 200, body: {} })
  })
})

describe('the origins of a relying party', () => {
  const relyingParty = {
    relyingPartyId: 'example.com',
    relyingPartyName: '',
    origins: [] as string[],
    userVerification: 'preferred' as const,
  }
  it.each([
    ['https://example.com', true],
    ['https://app.example.com', true],
    ['https://app.example.com:8443', true],
    ['http://example.com', false],
    ['https://badexample.com', false],
    ['https://example.com.evil.example', false],
    ['https://example.com/', false],
    ['https://evil.example#example.com', false],
    ['nonsense', false],
  ])('%s: %s', (origin, allowed) => {
    expect(isAllowedOrigin(relyingParty, origin)).toBe(allowed)
  })
  it('are only the listed ones if there is a list', () => {
    const listed = { ...relyingParty, origins: ['https://app.example.com'] }
    expect(isAllowedOrigin(listed, 'https://app.example.com')).toBe(true)
    expect(isAllowedOrigin(listed, 'https://example.com')).toBe(false)
  })
})
