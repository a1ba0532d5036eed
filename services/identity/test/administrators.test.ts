import { createHash } from 'node:crypto'
import { Sha256 } from '@aws-crypto/sha256-js'
import {
  CognitoIdentityProviderClient,
  CreateUserPoolClientCommand,
  CreateUserPoolCommand,
  DescribeUserPoolClientCommand,
  DescribeUserPoolCommand,
  GetUserPoolMfaConfigCommand,
  ListUserPoolClientsCommand,
  ListUserPoolsCommand,
  SetUserPoolMfaConfigCommand,
} from '@aws-sdk/client-cognito-identity-provider'
import { SignatureV4 } from '@smithy/signature-v4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFrontDesk, standardPool, type FrontDesk, type Json } from './front-desk.ts'

let desk: FrontDesk
beforeAll(async () => {
  desk = await openFrontDesk()
})
afterAll(() => desk.stop())

/** A signed request to describe the standard pool, which a test then spoils. */
async function signed(more: { headers?: Record<string, string>; at?: Temporal.Instant; secret?: string } = {}) {
  const { hostname, port } = new URL(desk.url)
  const body = JSON.stringify({ UserPoolId: standardPool })
  const signer = new SignatureV4({
    service: 'cognito-idp',
    region: 'us-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: more.secret ?? 'local' },
    sha256: Sha256,
    applyChecksum: false,
  })
  const at = more.at ?? Temporal.Now.instant()
  const request = await signer.sign(
    {
      method: 'POST',
      protocol: 'http:',
      hostname,
      path: '/',
      query: {},
      headers: {
        host: `${hostname}:${port}`,
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'AWSCognitoIdentityProviderService.DescribeUserPool',
        ...more.headers,
      },
      body,
    },
    { signingDate: new Date(at.epochMilliseconds) },
  )
  const { host: _host, ...headers } = request.headers
  return { body, headers }
}

async function send({ body, headers }: { body: string; headers: Record<string, string> }) {
  const answer = await fetch(desk.url, { method: 'POST', headers, body })
  return { status: answer.status, body: (await answer.json()) as Record<string, Json> }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const invalidSignature = { status: 400, body: { __type: 'InvalidSignatureException' } }

describe("an administrator's signature", () => {
  it('is taken as the SDK makes it, whatever is in the body', async () => {
    const name = 'Ünïcode “pool” 漢字 🤖 with "quotes"'
    const { UserPool } = await desk.sdk.send(new CreateUserPoolCommand({ PoolName: name }))
    expect(UserPool?.Name).toBe(name)
  })

  it('is taken with the hash of the body as a header', async () => {
    const body = JSON.stringify({ UserPoolId: standardPool })
    expect(await send(await signed({ headers: { 'x-amz-content-sha256': sha256(body) } }))).toMatchObject({
      status: 200,
    })
  })

  it('does not cover another body', async () => {
    const { body, headers } = await signed()
    expect(await send({ headers, body: body.replace('}', ' }') })).toMatchObject(invalidSignature)
  })

  it('does not cover another body by the hash of the first', async () => {
    const body = JSON.stringify({ UserPoolId: standardPool })
    const { headers } = await signed({ headers: { 'x-amz-content-sha256': sha256(body) } })
    expect(await send({ headers, body: body.replace('}', ' }') })).toMatchObject(invalidSignature)
    const unsigned = await signed({ headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } })
    expect(await send(unsigned)).toMatchObject(invalidSignature)
  })

  it.each([
    ['another operation', { 'x-amz-target': 'AWSCognitoIdentityProviderService.GetUserPoolMfaConfig' }],
    ['another time', { 'x-amz-date': '20300305T070809Z' }],
    ['no time', { 'x-amz-date': '' }],
    ['a time that does not exist', { 'x-amz-date': '20309999T070809Z' }],
    ['another content type', { 'content-type': 'application/json' }],
  ])('does not cover %s', async (_what, headers) => {
    const request = await signed()
    expect(await send({ ...request, headers: { ...request.headers, ...headers } })).toMatchObject(invalidSignature)
  })

  it('has to cover host, time and operation', async () => {
    const request = await signed()
    const authorization = request.headers['authorization']?.replace(';x-amz-target', '') ?? ''
    expect(await send({ ...request, headers: { ...request.headers, authorization } })).toMatchObject(invalidSignature)
  })

  it('has to be made within five minutes', async () => {
    for (const minutes of [-6, 6]) {
      const request = await signed({ at: Temporal.Now.instant().add({ minutes }) })
      expect(await send(request)).toMatchObject(invalidSignature)
    }
    const request = await signed({ at: Temporal.Now.instant().subtract({ minutes: 4 }) })
    expect(await send(request)).toMatchObject({ status: 200 })
  })

  it('has to be made with the right key', async () => {
    expect(await send(await signed({ secret: 'guessed' }))).toMatchObject(invalidSignature)
    const request = await signed()
    const authorization = request.headers['authorization']?.replace('=local/', '=other/') ?? ''
    expect(await send({ ...request, headers: { ...request.headers, authorization } })).toMatchObject({
      status: 400,
      body: { __type: 'UnrecognizedClientException' },
    })
  })

  it('has to be there', async () => {
    expect(await desk.call('DescribeUserPool', { UserPoolId: standardPool })).toMatchObject({
      status: 400,
      body: { __type: 'MissingAuthenticationTokenException' },
    })
    const headers = { authorization: 'Basic bG9jYWw6bG9jYWw=' }
    expect(await desk.call('DescribeUserPool', { UserPoolId: standardPool }, headers)).toMatchObject({
      status: 400,
      body: { __type: 'IncompleteSignatureException' },
    })
  })

  it('is refused for a service or a region that it was not made for', async () => {
    const request = await signed()
    for (const other of ['/us-west-2/cognito-idp/', '/us-west-1/s3/']) {
      const authorization = request.headers['authorization']?.replace('/us-west-1/cognito-idp/', other) ?? ''
      const { status, body } = await send({ ...request, headers: { ...request.headers, authorization } })
      expect(status).toBe(400)
      expect(body['__type']).toMatch(/SignatureException$/)
    }
  })
})

describe('pools', () => {
  it('are made, described and listed', async () => {
    const { UserPool: made } = await desk.sdk.send(
      new CreateUserPoolCommand({
        PoolName: 'made',
        AliasAttributes: ['email', 'phone_number'],
        AutoVerifiedAttributes: ['email'],
        MfaConfiguration: 'OPTIONAL',
        DeviceConfiguration: { ChallengeRequiredOnNewDevice: true, DeviceOnlyRememberedOnUserPrompt: true },
        Policies: {
          PasswordPolicy: {
            MinimumLength: 10,
            RequireLowercase: true,
            RequireSymbols: false,
            TemporaryPasswordValidityDays: 2,
          },
          SignInPolicy: { AllowedFirstAuthFactors: ['PASSWORD', 'WEB_AUTHN'] },
        },
        AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      }),
    )
    expect(made?.Id).toMatch(/^us-west-1_[0-9A-Za-z]{9}$/)
    const { UserPool } = await desk.sdk.send(new DescribeUserPoolCommand({ UserPoolId: made?.Id }))
    expect(UserPool).toMatchObject({
      Id: made?.Id,
      Name: 'made',
      AliasAttributes: ['email', 'phone_number'],
      AutoVerifiedAttributes: ['email'],
      MfaConfiguration: 'OPTIONAL',
      DeviceConfiguration: { DeviceOnlyRememberedOnUserPrompt: true },
      Policies: {
        PasswordPolicy: {
          MinimumLength: 10,
          RequireUppercase: true,
          RequireLowercase: true,
          RequireNumbers: true,
          RequireSymbols: false,
          TemporaryPasswordValidityDays: 2,
        },
        SignInPolicy: { AllowedFirstAuthFactors: ['PASSWORD', 'WEB_AUTHN'] },
      },
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      EstimatedNumberOfUsers: 0,
    })
    expect(UserPool?.CreationDate).toBeInstanceOf(Date)

    await desk.pool()
    const names: (string | undefined)[] = []
    let NextToken: string | undefined
    do {
      const page = await desk.sdk.send(new ListUserPoolsCommand({ MaxResults: 1, NextToken }))
      expect(page.UserPools).toHaveLength(1)
      names.push(...(page.UserPools ?? []).map(({ Id }) => Id))
      NextToken = page.NextToken
    } while (NextToken)
    expect(names).toContain(standardPool)
    expect(names).toContain(made?.Id)
    expect(new Set(names).size).toBe(names.length)
  })

  it('that nobody may sign up to say so', async () => {
    const { clientId } = await desk.pool({ AdminCreateUserConfig: { AllowAdminCreateUserOnly: true } })
    expect(await desk.call('SignUp', { ClientId: clientId, Username: 'bo', Password: 'Robot-2030!' })).toEqual({
      status: 400,
      body: { __type: 'NotAuthorizedException', message: 'SignUp is not permitted for this user pool' },
    })
  })

  it('have their second factors set', async () => {
    const { poolId } = await desk.pool()
    const set = await desk.sdk.send(
      new SetUserPoolMfaConfigCommand({
        UserPoolId: poolId,
        MfaConfiguration: 'ON',
        SoftwareTokenMfaConfiguration: { Enabled: true },
        EmailMfaConfiguration: {},
        WebAuthnConfiguration: { RelyingPartyId: 'example.com', UserVerification: 'required' },
      }),
    )
    const got = await desk.sdk.send(new GetUserPoolMfaConfigCommand({ UserPoolId: poolId }))
    const expected = {
      MfaConfiguration: 'ON',
      SoftwareTokenMfaConfiguration: { Enabled: true },
      EmailMfaConfiguration: {},
      WebAuthnConfiguration: { RelyingPartyId: 'example.com', UserVerification: 'required' },
    }
    expect(set).toMatchObject(expected)
    expect(got).toMatchObject(expected)
    expect(got).not.toHaveProperty('SmsMfaConfiguration')
    const off = await desk.sdk.send(new SetUserPoolMfaConfigCommand({ UserPoolId: poolId, MfaConfiguration: 'OFF' }))
    expect(off).toMatchObject({ ...expected, MfaConfiguration: 'OFF' })
  })

  it('cannot demand a second factor without having one', async () => {
    const { poolId } = await desk.pool()
    await expect(
      desk.sdk.send(
        new SetUserPoolMfaConfigCommand({
          UserPoolId: poolId,
          MfaConfiguration: 'ON',
          SoftwareTokenMfaConfiguration: { Enabled: false },
        }),
      ),
    ).rejects.toMatchObject({ name: 'InvalidParameterException' })
  })

  it('that are not there are told so', async () => {
    await expect(desk.sdk.send(new DescribeUserPoolCommand({ UserPoolId: 'us-west-1_Nowhere' }))).rejects.toMatchObject(
      { name: 'ResourceNotFoundException', message: 'User pool us-west-1_Nowhere does not exist.' },
    )
  })
})

describe('app clients', () => {
  it('are made, described and listed', async () => {
    const { poolId, clientId } = await desk.pool()
    const { UserPoolClient: made } = await desk.sdk.send(
      new CreateUserPoolClientCommand({
        UserPoolId: poolId,
        ClientName: 'app',
        GenerateSecret: true,
        ExplicitAuthFlows: ['ALLOW_USER_SRP_AUTH'],
        AccessTokenValidity: 5,
        IdTokenValidity: 2,
        RefreshTokenValidity: 10,
        TokenValidityUnits: { AccessToken: 'minutes' },
        PreventUserExistenceErrors: 'LEGACY',
        EnableTokenRevocation: false,
        RefreshTokenRotation: { Feature: 'ENABLED', RetryGracePeriodSeconds: 7 },
      }),
    )
    expect(made?.ClientId).toMatch(/^[a-z0-9]{26}$/)
    const { UserPoolClient } = await desk.sdk.send(
      new DescribeUserPoolClientCommand({ UserPoolId: poolId, ClientId: made?.ClientId }),
    )
    expect(UserPoolClient).toEqual(made)
    expect(UserPoolClient).toMatchObject({
      ClientName: 'app',
      ExplicitAuthFlows: ['ALLOW_USER_SRP_AUTH'],
      AccessTokenValidity: 300,
      IdTokenValidity: 7200,
      RefreshTokenValidity: 864_000,
      TokenValidityUnits: { AccessToken: 'seconds', IdToken: 'seconds', RefreshToken: 'seconds' },
      PreventUserExistenceErrors: 'LEGACY',
      EnableTokenRevocation: false,
      RefreshTokenRotation: { Feature: 'ENABLED', RetryGracePeriodSeconds: 7 },
    })
    expect(UserPoolClient?.ClientSecret).toMatch(/^\w{52}$/)

    const first = await desk.sdk.send(new ListUserPoolClientsCommand({ UserPoolId: poolId, MaxResults: 1 }))
    const { NextToken } = first
    const second = await desk.sdk.send(new ListUserPoolClientsCommand({ UserPoolId: poolId, MaxResults: 1, NextToken }))
    const ids = [first, second].flatMap((page) => (page.UserPoolClients ?? []).map(({ ClientId }) => ClientId))
    expect(new Set(ids)).toEqual(new Set([clientId, made?.ClientId]))
    expect(ids).toHaveLength(2)
    expect(second.NextToken).toBeUndefined()
  })

  it('are not found in another pool', async () => {
    const { clientId } = await desk.pool()
    await expect(
      desk.sdk.send(new DescribeUserPoolClientCommand({ UserPoolId: standardPool, ClientId: clientId })),
    ).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: `User pool client ${clientId} does not exist.`,
    })
  })

  it('cannot have tokens that live for a moment or for years', async () => {
    for (const AccessTokenValidity of [1, 25 * 3600]) {
      await expect(
        desk.sdk.send(
          new CreateUserPoolClientCommand({
            UserPoolId: standardPool,
            ClientName: 'app',
            AccessTokenValidity,
            TokenValidityUnits: { AccessToken: 'seconds' },
          }),
        ),
      ).rejects.toMatchObject({ name: 'InvalidParameterException' })
    }
  })
})

describe('ADMIN_KEYS', () => {
  it('are the only ones', async () => {
    const stranger = new CognitoIdentityProviderClient({
      region: 'us-west-1',
      endpoint: desk.url,
      credentials: { accessKeyId: 'stranger', secretAccessKey: 'local' },
      maxAttempts: 1,
    })
    await expect(stranger.send(new ListUserPoolsCommand({ MaxResults: 1 }))).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    })
  })
})
