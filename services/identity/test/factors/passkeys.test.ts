import { createHash } from 'node:crypto'
import { SetUserPoolMfaConfigCommand } from '@aws-sdk/client-cognito-identity-provider'
import { userUpdated } from '@robokids/contracts/identity'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAllowedOrigin } from '../../src/factors/web-authn.ts'
import { makeAuthenticator } from '../authenticator.ts'
import { openFrontDesk, password, publicClient, type FrontDesk } from '../front-desk.ts'

let desk: FrontDesk
beforeAll(async () => {
  desk = await openFrontDesk({ EVEN_ANSWER_MS: '5' })
})
afterAll(() => desk.stop())

const site = 'http://localhost:3000'

interface Options {
  challenge: string
  rp: { id: string; name: string }
  user: { id: string; name: string; displayName: string }
  excludeCredentials: { id: string }[]
  pubKeyCredParams: { alg: number }[]
}

async function guest(clientId = publicClient) {
  const person = await desk.member(clientId)
  const { body } = await desk.call('InitiateAuth', {
    ClientId: clientId,
    AuthFlow: 'USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: person.username, PASSWORD: password },
  })
  return { ...person, AccessToken: body['AuthenticationResult'].AccessToken as string }
}
const start = (AccessToken: string) => desk.call('StartWebAuthnRegistration', { AccessToken })
const optionsOf = async (AccessToken: string): Promise<Options> =>
  (await start(AccessToken)).body['CredentialCreationOptions'] as Options
const complete = (AccessToken: string, Credential: object) =>
  desk.call('CompleteWebAuthnRegistration', { AccessToken, Credential })
const list = async (AccessToken: string) =>
  (await desk.call('ListWebAuthnCredentials', { AccessToken })).body['Credentials'] as Record<string, unknown>[]

interface Cheat {
  origin?: string
  challenge?: string
  rpId?: string
  type?: string
  flags?: number
  counter?: number
  publicKey?: Buffer
}

/** What a browser answers to the options of a registration, without an attestation. `cheat` replaces what is honest. */
function register(authenticator: ReturnType<typeof makeAuthenticator>, options: Options, cheat: Cheat = {}) {
  const id = Buffer.from(authenticator.id, 'base64url')
  const head = Buffer.alloc(5)
  // Present, made sure of, with a credential.
  head.writeUInt8(cheat.flags ?? 0x45)
  head.writeUInt32BE(cheat.counter ?? 0, 1)
  const authData = Buffer.concat([
    createHash('sha256')
      .update(cheat.rpId ?? options.rp.id)
      .digest(),
    head,
    Buffer.alloc(16),
    Buffer.of(0, id.length),
    id,
    cheat.publicKey ?? Buffer.from(authenticator.publicKey, 'base64url'),
  ])
  // {"fmt": "none", "attStmt": {}, "authData": …} in CBOR.
  const attestation = Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
    Buffer.of(authData.length >> 8, authData.length & 0xff),
    authData,
  ])
  const clientData = {
    type: cheat.type ?? 'webauthn.create',
    challenge: cheat.challenge ?? options.challenge,
    origin: cheat.origin ?? site,
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
  it('is called as no other of the account is, also after one was deleted', async () => {
    const { AccessToken } = await guest()
    const add = async () => complete(AccessToken, register(makeAuthenticator(), await optionsOf(AccessToken)))
    for (let made = 0; made < 2; made++) expect((await add()).status).toBe(200)
    const [first] = await list(AccessToken)
    const CredentialId = first?.['CredentialId']
    expect((await desk.call('DeleteWebAuthnCredential', { AccessToken, CredentialId })).status).toBe(200)
    expect((await add()).status).toBe(200)
    const names = (await list(AccessToken)).map((one) => one['FriendlyCredentialName'])
    expect(new Set(names).size).toBe(2)
  })

  it('is registered, listed, signs in and is deleted', async () => {
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
    // As high as a counter goes.
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
      desk.bed.bus.all(userUpdated, (data) => data.userId === userId && data.changed.includes('passkeys'))
    await desk.bed.bus.seen(userUpdated, () => changed().length === 1)

    const asked = await desk.call('InitiateAuth', {
      ClientId: publicClient,
      AuthFlow: 'USER_AUTH',
      AuthParameters: { USERNAME: username, PREFERRED_CHALLENGE: 'WEB_AUTHN' },
    })
    const request = JSON.parse(asked.body['ChallengeParameters'].CREDENTIAL_REQUEST_OPTIONS)
    const answered = await desk.call('RespondToAuthChallenge', {
      ClientId: publicClient,
      ChallengeName: 'WEB_AUTHN',
      Session: asked.body['Session'],
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
      desk.call('DeleteWebAuthnCredential', { AccessToken: token, CredentialId: authenticator.id })
    const stranger = await guest()
    expect(await remove(stranger.AccessToken)).toEqual({
      status: 400,
      body: { __type: 'ResourceNotFoundException', message: 'The passkey does not exist.' },
    })
    expect(await remove(AccessToken)).toEqual({ status: 200, body: {} })
    expect(await list(AccessToken)).toEqual([])
    await desk.bed.bus.seen(userUpdated, () => changed().length === 2)
    expect(changed().map(({ data }) => data.passkeys)).toEqual([1, 0])
  })

  const refused: [string, Cheat, string][] = [
    ['made at another address', { origin: 'http://localhost:3001' }, 'WebAuthnOriginNotAllowedException'],
    ['made at an address that looks alike', { origin: `${site}.evil.example` }, 'WebAuthnOriginNotAllowedException'],
    ['made for another site', { rpId: 'evil.example' }, 'WebAuthnRelyingPartyMismatchException'],
    ['made for another challenge', { challenge: 'c29tZXRoaW5n' }, 'WebAuthnChallengeNotFoundException'],
    ['that is a sign-in', { type: 'webauthn.get' }, 'WebAuthnCredentialNotSupportedException'],
    ['of a person who was not there', { flags: 0x44 }, 'WebAuthnCredentialNotSupportedException'],
    ['without a key', { flags: 0x05 }, 'WebAuthnCredentialNotSupportedException'],
    ['with a key that is none', { publicKey: Buffer.from('a0', 'hex') }, 'WebAuthnCredentialNotSupportedException'],
    [
      'with a key that points beyond itself',
      { publicKey: Buffer.from('a50102032620012158', 'hex') },
      'WebAuthnCredentialNotSupportedException',
    ],
  ]
  it.each(refused)('%s is refused, and its challenge is over', async (_what, cheat, name) => {
    const { AccessToken } = await guest()
    const options = await optionsOf(AccessToken)
    const authenticator = makeAuthenticator()
    expect(await complete(AccessToken, register(authenticator, options, cheat))).toMatchObject({
      status: 400,
      body: { __type: name },
    })
    expect(await complete(AccessToken, register(authenticator, options))).toMatchObject({
      body: { __type: 'WebAuthnChallengeNotFoundException' },
    })
    expect(await list(AccessToken)).toEqual([])
  })

  it("cannot be registered for another person's challenge", async () => {
    const [maren, bo] = [await guest(), await guest()]
    await optionsOf(bo.AccessToken)
    const options = await optionsOf(maren.AccessToken)
    expect(await complete(bo.AccessToken, register(makeAuthenticator(), options))).toMatchObject({
      body: { __type: 'WebAuthnChallengeNotFoundException' },
    })
  })

  it('is registered once, of many that answer one challenge', async () => {
    const { AccessToken } = await guest()
    const options = await optionsOf(AccessToken)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => complete(AccessToken, register(makeAuthenticator(), options))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await list(AccessToken)).toHaveLength(1)
  })

  it('is for pools that have them and a site for them', async () => {
    const without = await desk.pool({ Policies: { SignInPolicy: { AllowedFirstAuthFactors: ['PASSWORD'] } } })
    const outside = await guest(without.clientId)
    expect(await start(outside.AccessToken)).toMatchObject({ body: { __type: 'WebAuthnNotEnabledException' } })
    const { poolId, clientId } = await desk.pool()
    const { AccessToken } = await guest(clientId)
    expect(await start(AccessToken)).toMatchObject({ body: { __type: 'WebAuthnConfigurationMissingException' } })
    await desk.sdk.send(
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
  it('are those that are listed, where some are', () => {
    const listed = { ...relyingParty, origins: ['https://app.example.com'] }
    expect(isAllowedOrigin(listed, 'https://app.example.com')).toBe(true)
    expect(isAllowedOrigin(listed, 'https://example.com')).toBe(false)
  })
})
