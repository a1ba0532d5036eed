import {
  CreateUserPoolClientCommand,
  CreateUserPoolCommand,
  DescribeUserPoolClientCommand,
  DescribeUserPoolCommand,
  GetUserPoolMfaConfigCommand,
  ListUserPoolClientsCommand,
  ListUserPoolsCommand,
  SetUserPoolMfaConfigCommand,
} from '@aws-sdk/client-cognito-identity-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startIdentity, standardPool, type IdentityFixture } from '../fixture.ts'

let fixture: IdentityFixture
beforeAll(async () => {
  fixture = await startIdentity()
})
afterAll(() => fixture.stop())

describe('pools', () => {
  it('can be created, described and listed', async () => {
    const { UserPool: made } = await fixture.sdk.send(
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
    const { UserPool } = await fixture.sdk.send(new DescribeUserPoolCommand({ UserPoolId: made?.Id }))
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

    await fixture.pool()
    const names: (string | undefined)[] = []
    let NextToken: string | undefined
    do {
      const page = await fixture.sdk.send(new ListUserPoolsCommand({ MaxResults: 1, NextToken }))
      expect(page.UserPools).toHaveLength(1)
      names.push(...(page.UserPools ?? []).map(({ Id }) => Id))
      NextToken = page.NextToken
    } while (NextToken)
    expect(names).toContain(standardPool)
    expect(names).toContain(made?.Id)
    expect(new Set(names).size).toBe(names.length)
  })

  it('without sign-up reject sign-ups with an error', async () => {
    const { clientId } = await fixture.pool({ AdminCreateUserConfig: { AllowAdminCreateUserOnly: true } })
    expect(await fixture.call('SignUp', { ClientId: clientId, Username: 'bo', Password: 'Robot-2030!' })).toEqual({
      status: 400,
      body: { __type: 'NotAuthorizedException', message: 'SignUp is not permitted for this user pool' },
    })
  })

  it('can be configured with second factors', async () => {
    const { poolId } = await fixture.pool()
    const set = await fixture.sdk.send(
      new SetUserPoolMfaConfigCommand({
        UserPoolId: poolId,
        MfaConfiguration: 'ON',
        SoftwareTokenMfaConfiguration: { Enabled: true },
        EmailMfaConfiguration: {},
        WebAuthnConfiguration: { RelyingPartyId: 'example.com', UserVerification: 'required' },
      }),
    )
    const got = await fixture.sdk.send(new GetUserPoolMfaConfigCommand({ UserPoolId: poolId }))
    const expected = {
      MfaConfiguration: 'ON',
      SoftwareTokenMfaConfiguration: { Enabled: true },
      EmailMfaConfiguration: {},
      WebAuthnConfiguration: { RelyingPartyId: 'example.com', UserVerification: 'required' },
    }
    expect(set).toMatchObject(expected)
    expect(got).toMatchObject(expected)
    expect(got).not.toHaveProperty('SmsMfaConfiguration')
    const off = await fixture.sdk.send(new SetUserPoolMfaConfigCommand({ UserPoolId: poolId, MfaConfiguration: 'OFF' }))
    expect(off).toMatchObject({ ...expected, MfaConfiguration: 'OFF' })
  })

  it('cannot require a second factor without enabling one', async () => {
    const { poolId } = await fixture.pool()
    await expect(
      fixture.sdk.send(
        new SetUserPoolMfaConfigCommand({
          UserPoolId: poolId,
          MfaConfiguration: 'ON',
          SoftwareTokenMfaConfiguration: { Enabled: false },
        }),
      ),
    ).rejects.toMatchObject({ name: 'InvalidParameterException' })
  })

  it('that do not exist cause an error', async () => {
    await expect(
      fixture.sdk.send(new DescribeUserPoolCommand({ UserPoolId: 'us-west-1_Nowhere' })),
    ).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: 'User pool us-west-1_Nowhere does not exist.',
    })
  })
})

describe('app clients', () => {
  it('can be created, described and listed', async () => {
    const { poolId, clientId } = await fixture.pool()
    const { UserPoolClient: made } = await fixture.sdk.send(
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
    const { UserPoolClient } = await fixture.sdk.send(
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

    const first = await fixture.sdk.send(new ListUserPoolClientsCommand({ UserPoolId: poolId, MaxResults: 1 }))
    const { NextToken } = first
    const second = await fixture.sdk.send(
      new ListUserPoolClientsCommand({ UserPoolId: poolId, MaxResults: 1, NextToken }),
    )
    const ids = [first, second].flatMap((page) => (page.UserPoolClients ?? []).map(({ ClientId }) => ClientId))
    expect(new Set(ids)).toEqual(new Set([clientId, made?.ClientId]))
    expect(ids).toHaveLength(2)
    expect(second.NextToken).toBeUndefined()
  })

  it('are not found in another pool', async () => {
    const { clientId } = await fixture.pool()
    await expect(
      fixture.sdk.send(new DescribeUserPoolClientCommand({ UserPoolId: standardPool, ClientId: clientId })),
    ).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: `User pool client ${clientId} does not exist.`,
    })
  })

  it('cannot have token lifetimes of a moment or of years', async () => {
    for (const AccessTokenValidity of [1, 25 * 3600]) {
      await expect(
        fixture.sdk.send(
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
