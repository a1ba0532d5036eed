import { randomUUID } from 'node:crypto'
import { AdminForgetDeviceCommand, AdminListDevicesCommand } from '@aws-sdk/client-cognito-identity-provider'
import { eq } from 'drizzle-orm'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devices, pools, signIns } from '../../src/schema.ts'
import { startIdentity, password, type IdentityFixture } from '../fixture.ts'
import { signInClient, tokensOf, type Answer } from '../sign-in-client.ts'
import { deviceVerifier, prime, startSrp } from '../srp-client.ts'

let fixture: IdentityFixture
beforeAll(async () => {
  fixture = await startIdentity()
})
afterAll(() => fixture.stop())

/** A client of a pool with device tracking. */
async function poolWith(tracking: 'OPT_IN' | 'ALWAYS' | 'OFF') {
  const { clientId, poolId } = await fixture.pool()
  const { db } = fixture.service.context
  const [pool] = await db.select().from(pools).where(eq(pools.id, poolId))
  await db
    .update(pools)
    .set({ settings: { ...pool!.settings, mfa: 'OPTIONAL', mfaFactors: ['SOFTWARE_TOKEN_MFA'], devices: tracking } })
    .where(eq(pools.id, poolId))
  return { clientId, at: signInClient(fixture, clientId, poolId), poolId }
}

const secret = 'a secret of the device'

/** Signs in and confirms the device, of a new user or of the given one. */
async function confirmed(
  tracking: 'OPT_IN' | 'ALWAYS',
  another?: Awaited<ReturnType<typeof poolWith>> & { username: string; email: string; userId: string },
) {
  const pool = another ?? (await poolWith(tracking))
  const person = another ?? (await fixture.member(pool.clientId))
  const answer = await pool.at.bySrp(person.username)
  const { AccessToken = '', RefreshToken = '' } = tokensOf(answer)
  const { DeviceKey, DeviceGroupKey } = answer.body['AuthenticationResult'].NewDeviceMetadata as Record<string, string>
  const confirm = (more: object = {}) =>
    fixture.call('ConfirmDevice', {
      AccessToken,
      DeviceKey,
      DeviceName: 'Kitchen laptop',
      DeviceSecretVerifierConfig: deviceVerifier(DeviceGroupKey ?? '', DeviceKey ?? '', secret),
      ...more,
    })
  const first = await confirm()
  return {
    ...pool,
    ...person,
    AccessToken,
    RefreshToken,
    DeviceKey: DeviceKey ?? '',
    DeviceGroupKey: DeviceGroupKey ?? '',
    confirm,
    first,
  }
}

/** The two steps of proving a device. */
async function proveDevice(device: Awaited<ReturnType<typeof confirmed>>, challenged: Answer, password = secret) {
  const srp = startSrp()
  const { at, username, DeviceKey, DeviceGroupKey } = device
  const begun = await at.answer('DEVICE_SRP_AUTH', challenged, {
    USERNAME: username,
    DEVICE_KEY: DeviceKey,
    SRP_A: srp.A,
  })
  if (begun.status !== 200) return begun
  const proof = srp.answer(begun.body['ChallengeParameters'] ?? {}, {
    group: DeviceGroupKey,
    user: DeviceKey,
    password,
    now: fixture.service.context.clock.now(),
  })
  return at.answer('DEVICE_PASSWORD_VERIFIER', begun, { USERNAME: username, DEVICE_KEY: DeviceKey, ...proof })
}

const freshSignIn = { __type: 'FreshSignInRequiredException' }
const codeOf = (totpSecret: string) =>
  new TOTP({ secret: Secret.fromBase32(totpSecret) }).generate({
    timestamp: fixture.service.context.clock.now().epochMilliseconds,
  })

async function trust(key: string): Promise<void> {
  await fixture.service.context.db.update(devices).set({ remembered: true }).where(eq(devices.key, key))
}

/** Enables an authenticator, as its owner does. */
async function turnOn(AccessToken: string): Promise<string> {
  const { body } = await fixture.call('AssociateSoftwareToken', { AccessToken })
  const totpSecret = String(body['SecretCode'])
  await fixture.call('VerifySoftwareToken', { AccessToken, UserCode: codeOf(totpSecret) })
  const SoftwareTokenMfaSettings = { Enabled: true, PreferredMfa: true }
  const on = await fixture.call('SetUserMFAPreference', { AccessToken, SoftwareTokenMfaSettings })
  expect(on).toEqual({ status: 200, body: {} })
  return totpSecret
}

const noDevice = { status: 400, body: { __type: 'ResourceNotFoundException', message: 'Device does not exist.' } }

describe('a device', () => {
  it('is tracked only in pools with device tracking, and remembered only after opt-in where that is required', async () => {
    const off = await poolWith('OFF')
    const { username } = await fixture.member(off.clientId)
    expect(tokensOf(await off.at.byPassword(username))['NewDeviceMetadata']).toBeUndefined()
    expect((await confirmed('OPT_IN')).first.body).toEqual({ UserConfirmationNecessary: true })
    const device = await confirmed('ALWAYS')
    expect(device.first.body).toEqual({ UserConfirmationNecessary: false })
    expect(device.DeviceKey).toMatch(/^us-west-1_[\da-f-]{36}$/)
    expect((await device.confirm()).body['__type']).toBe('DeviceKeyExistsException')
    expect(await device.confirm({ DeviceKey: `us-west-1_${randomUUID()}` })).toMatchObject(noDevice)
    const unconfirmed = await confirmed('OPT_IN', device)
    const hex = (prime - 1n).toString(16)
    for (const PasswordVerifier of ['AQ==', Buffer.from(hex, 'hex').toString('base64')]) {
      const bad = { Salt: 'AQ==', PasswordVerifier }
      const refused = await unconfirmed.confirm({ DeviceSecretVerifierConfig: bad })
      expect(refused.body['message']).toBe('DeviceSecretVerifierConfig is not valid.')
    }
  })

  it('replaces the second factor once it is remembered', async () => {
    const device = await confirmed('OPT_IN')
    const { at, username, userId, DeviceKey, AccessToken } = device
    const totpSecret = await at.withAuthenticator(userId)
    const key = { DEVICE_KEY: DeviceKey }
    const second = await at.bySrp(username, undefined, key)
    expect(second.body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
    const status = { DeviceKey, DeviceRememberedStatus: 'remembered' }
    // A session from before the second factor was enabled has not proven it.
    expect((await fixture.call('UpdateDeviceStatus', { ...status, AccessToken })).body).toMatchObject(freshSignIn)
    const given = { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE: codeOf(totpSecret) }
    const { AccessToken: proven } = tokensOf(await at.answer('SOFTWARE_TOKEN_MFA', second, given))
    expect(await fixture.call('UpdateDeviceStatus', { ...status, AccessToken: proven })).toEqual({
      status: 200,
      body: {},
    })
    const challenged = await at.bySrp(username, undefined, key)
    expect(challenged.body['ChallengeName']).toBe('DEVICE_SRP_AUTH')
    const done = await proveDevice(device, challenged)
    expect(done.status).toBe(200)
    expect(tokensOf(done)['NewDeviceMetadata']).toBeUndefined()
    // It also replaces the second factor in this flow.
    const again = { ...status, AccessToken: tokensOf(done)['AccessToken'] }
    expect(await fixture.call('UpdateDeviceStatus', again)).toEqual({ status: 200, body: {} })
    expect((await at.byPassword(username)).body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
    const wrong = await proveDevice(device, await at.byPassword(username, key), 'guessed')
    expect(wrong.body).toMatchObject({ __type: 'NotAuthorizedException' })
  })

  it('does not replace it with the key of another remembered device', async () => {
    const trusted = await confirmed('OPT_IN')
    const old = await confirmed('OPT_IN', trusted)
    const { at, username, userId, DeviceKey } = trusted
    await at.withAuthenticator(userId)
    await trust(DeviceKey)
    const key = { DEVICE_KEY: DeviceKey }
    expect(await proveDevice(old, await at.byPassword(username, key))).toMatchObject(noDevice)
    // Not during the proof either.
    const srp = startSrp()
    const challenged = await at.byPassword(username, key)
    const begun = await at.answer('DEVICE_SRP_AUTH', challenged, { USERNAME: username, SRP_A: srp.A, ...key })
    const proof = srp.answer(begun.body['ChallengeParameters'], {
      group: old.DeviceGroupKey,
      user: old.DeviceKey,
      password: secret,
      now: fixture.service.context.clock.now(),
    })
    const ended = await at.answer('DEVICE_PASSWORD_VERIFIER', begun, {
      USERNAME: username,
      DEVICE_KEY: old.DeviceKey,
      ...proof,
    })
    expect(ended).toMatchObject(noDevice)
  })

  it.each(['OPT_IN', 'ALWAYS'] as const)(
    'trusted before the second factor was enabled does not replace it, nor does any earlier sign-in (%s)',
    async (tracking) => {
      const thief = await confirmed(tracking)
      const { at, username, clientId: ClientId } = thief
      await trust(thief.DeviceKey)
      // A sign-in that has already reached the last step is an earlier one as well.
      const begun = await at.byPassword(username, { DEVICE_KEY: thief.DeviceKey })
      expect(begun.body['ChallengeName']).toBe('DEVICE_SRP_AUTH')
      const owner = await confirmed(tracking, thief)
      await trust(owner.DeviceKey)
      const totpSecret = await turnOn(owner.AccessToken)

      expect((await proveDevice(thief, begun)).body['__type']).toBe('NotAuthorizedException')
      expect(await at.byPassword(username, { DEVICE_KEY: thief.DeviceKey })).toMatchObject(noDevice)
      expect((await fixture.call('GetUser', { AccessToken: thief.AccessToken })).body['message']).toBe(
        'Access Token has been revoked',
      )
      const refresh = { ClientId, RefreshToken: thief.RefreshToken, DeviceKey: thief.DeviceKey }
      expect((await fixture.call('GetTokensFromRefreshToken', refresh)).status).toBe(400)
      expect((await at.byPassword(username)).body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')

      // Its owner signs in with the factor once more, after which the browser can be trusted again.
      expect((await fixture.call('GetUser', { AccessToken: owner.AccessToken })).status).toBe(200)
      const key = { DEVICE_KEY: owner.DeviceKey }
      const second = await at.byPassword(username, key)
      expect(second.body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
      fixture.service.context.clock.advance({ seconds: 30 })
      const given = { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE: codeOf(totpSecret), ...key }
      const { AccessToken } = tokensOf(await at.answer('SOFTWARE_TOKEN_MFA', second, given))
      const status = { AccessToken, DeviceKey: owner.DeviceKey, DeviceRememberedStatus: 'remembered' }
      if (tracking === 'OPT_IN') expect(await fixture.call('UpdateDeviceStatus', status)).toMatchObject({ status: 200 })
      const trusted = await at.byPassword(username, key)
      expect(trusted.body['ChallengeName']).toBe('DEVICE_SRP_AUTH')
    },
  )

  it('can be trusted immediately after a code of the authenticator that is being enabled', async () => {
    const device = await confirmed('OPT_IN')
    const { AccessToken, DeviceKey } = device
    await turnOn(AccessToken)
    const status = { AccessToken, DeviceKey, DeviceRememberedStatus: 'remembered' }
    expect(await fixture.call('UpdateDeviceStatus', status)).toEqual({ status: 200, body: {} })
  })

  it('replaces the second factor if the password was reset by a code over the same channel', async () => {
    const device = await confirmed('OPT_IN')
    const { at, username, userId, email, clientId: ClientId, poolId, DeviceKey } = device
    const { db } = fixture.service.context
    const [pool] = await db.select().from(pools).where(eq(pools.id, poolId))
    await db
      .update(pools)
      .set({ settings: { ...pool!.settings, mfaFactors: ['EMAIL_OTP'] } })
      .where(eq(pools.id, poolId))
    await at.change(userId, { mfa: ['EMAIL_OTP'] })
    const sent = fixture.codesFor(email)
    await fixture.call('ForgotPassword', { ClientId, Username: email })
    const ConfirmationCode = await fixture.codeFor(email, sent)
    const Password = `${password}new`
    await fixture.call('ConfirmForgotPassword', { ClientId, Username: email, ConfirmationCode, Password })
    const strange = await at.byPassword(username, {}, Password)
    expect(strange.body['__type']).toBe('MFAMethodNotFoundException')
    const challenged = await at.byPassword(username, { DEVICE_KEY: DeviceKey }, Password)
    expect(challenged.body['ChallengeName']).toBe('DEVICE_SRP_AUTH')
    expect((await proveDevice(device, challenged)).status).toBe(200)
    // From then on, an untrusted browser is sent a code again.
    expect((await at.byPassword(username, { DEVICE_KEY: DeviceKey }, Password)).body['ChallengeName']).toBe('EMAIL_OTP')
  })

  it('is one of at most fifty, of which the longest unused is removed first, and trusted ones last', async () => {
    const device = await confirmed('OPT_IN')
    const { at, username, userId, AccessToken, RefreshToken, DeviceKey, clientId: ClientId } = device
    await trust(DeviceKey)
    const { db, clock } = fixture.service.context
    const others = Array.from({ length: 49 }, (_, nth) => ({
      key: `us-west-1_${String(nth).padStart(12, '0')}${userId.slice(12)}`,
      groupKey: '-other',
      userId,
      sealedSrpVerifier: '',
      lastAddress: '192.0.2.1',
      createdAt: clock.now(),
      updatedAt: clock.now(),
      lastSignInAt: clock.now().add({ seconds: nth }),
    }))
    await db.insert(devices).values(others)
    expect((await at.byPassword(username)).status).toBe(200)
    const left = await db.select().from(devices).where(eq(devices.userId, userId))
    expect(left).toHaveLength(50)
    const keys = left.map(({ key }) => key)
    expect(keys).toContain(DeviceKey)
    // This sign-in's own is the newest, except for those that we inserted.
    expect(keys.filter((key) => others.some((other) => other.key === key))).toHaveLength(48)
    // A sign-in continues without its removed device.
    await db.delete(devices).where(eq(devices.key, DeviceKey))
    expect((await fixture.call('GetUser', { AccessToken })).status).toBe(200)
    const refreshed = await fixture.call('GetTokensFromRefreshToken', { ClientId, RefreshToken, DeviceKey })
    expect(refreshed.status).toBe(200)
  })

  it('is removed when it was not used for the maximum lifetime of a cookie', async () => {
    const device = await confirmed('OPT_IN')
    const { context } = fixture.service
    const old = context.clock.now().subtract({ hours: 24 * 401 })
    const used = await confirmed('OPT_IN', device)
    await context.db.update(devices).set({ createdAt: old }).where(eq(devices.userId, device.userId))
    await context.db.update(devices).set({ lastSignInAt: old }).where(eq(devices.key, device.DeviceKey))
    await fixture.sweep()
    const left = await context.db.select().from(devices).where(eq(devices.userId, device.userId))
    expect(left.map(({ key }) => key)).toEqual([used.DeviceKey])
  })

  it('gets an error if it does not exist, so that clients forget it, and the step can be repeated', async () => {
    const { at, username } = await confirmed('ALWAYS')
    const { DeviceKey: bos } = await confirmed('ALWAYS')
    const srp = startSrp()
    const challenged = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: srp.A })
    for (const DEVICE_KEY of [bos, `us-west-1_${randomUUID()}`]) {
      expect(await at.prove(srp, challenged, undefined, { DEVICE_KEY })).toMatchObject(noDevice)
    }
    expect((await at.prove(srp, challenged)).status).toBe(200)
    expect(await at.byPassword(username, { DEVICE_KEY: bos })).toMatchObject(noDevice)
  })

  it('gets that error before a code is requested, as for an unknown username', async () => {
    const { at, username, userId, DeviceKey } = await confirmed('OPT_IN')
    const begin = (USERNAME: string, AuthFlow: string, more: object = {}) =>
      at.begin(AuthFlow, { USERNAME, DEVICE_KEY: DeviceKey, PREFERRED_CHALLENGE: 'EMAIL_OTP', ...more })
    for (const AuthFlow of ['USER_AUTH', 'CUSTOM_AUTH']) {
      expect((await begin(username, AuthFlow)).body['Session']).toBeTypeOf('string')
      expect(await begin('nobody', AuthFlow)).toMatchObject(noDevice)
    }
    await fixture.service.context.db.delete(devices).where(eq(devices.userId, userId))
    for (const AuthFlow of ['USER_AUTH', 'CUSTOM_AUTH']) expect(await begin(username, AuthFlow)).toMatchObject(noDevice)
  })

  it('is required for refreshing', async () => {
    const { clientId: ClientId, RefreshToken, DeviceKey } = await confirmed('ALWAYS')
    const refresh = (more: object, token = RefreshToken) =>
      fixture.call('GetTokensFromRefreshToken', { ClientId, RefreshToken: token, ...more })
    expect((await refresh({})).body['message']).toBe('Invalid Refresh Token')
    expect((await refresh({ DeviceKey: 'us-west-1_other' })).body['message']).toBe('Invalid Refresh Token')
    const next = await refresh({ DeviceKey })
    expect(next.status).toBe(200)
    expect((await refresh({ DeviceKey }, tokensOf(next)['RefreshToken'])).status).toBe(200)
  })

  it('can be listed, shown and forgotten only by its own user', async () => {
    const device = await confirmed('ALWAYS')
    const stranger = await confirmed('ALWAYS')
    const { AccessToken, DeviceKey } = device
    const { body } = await fixture.call('ListDevices', { AccessToken, Limit: 10 })
    expect(body['Devices']).toHaveLength(1)
    expect(body['Devices'][0]).toMatchObject({
      DeviceKey,
      DeviceAttributes: expect.arrayContaining([{ Name: 'device_name', Value: 'Kitchen laptop' }]),
    })
    expect(body['Devices'][0].DeviceCreateDate).toBeTypeOf('number')
    expect((await fixture.call('GetDevice', { AccessToken, DeviceKey })).body['Device'].DeviceKey).toBe(DeviceKey)
    const foreign = { AccessToken: stranger.AccessToken, DeviceKey, DeviceRememberedStatus: 'not_remembered' }
    for (const operation of ['GetDevice', 'ForgetDevice', 'UpdateDeviceStatus']) {
      expect(await fixture.call(operation, foreign)).toMatchObject(noDevice)
    }
    expect(await fixture.call('ForgetDevice', { AccessToken, DeviceKey })).toEqual({ status: 200, body: {} })
    expect((await fixture.call('ListDevices', { AccessToken })).body['Devices']).toEqual([])
    const refresh = { ClientId: device.clientId, RefreshToken: device.RefreshToken }
    expect((await fixture.call('GetTokensFromRefreshToken', refresh)).status).toBe(200)
  })

  it('can be listed and forgotten by administrators, which signs it out', async () => {
    const { poolId: UserPoolId, username: Username, DeviceKey, AccessToken } = await confirmed('ALWAYS')
    const list = async () => (await fixture.sdk.send(new AdminListDevicesCommand({ UserPoolId, Username }))).Devices
    expect(await list()).toMatchObject([{ DeviceKey }])
    const forget = () => fixture.sdk.send(new AdminForgetDeviceCommand({ UserPoolId, Username, DeviceKey }))
    await forget()
    expect(await list()).toEqual([])
    await expect(forget()).rejects.toMatchObject({ name: noDevice.body.__type, message: noDevice.body.message })
    expect((await fixture.call('GetUser', { AccessToken })).body['message']).toBe('Access Token has been revoked')
  })

  it('is signed out when it is forgotten from another device', async () => {
    const lost = await confirmed('ALWAYS')
    const { at, username, DeviceKey, AccessToken } = lost
    const elsewhere = tokensOf(await at.byPassword(username))
    expect((await fixture.call('ForgetDevice', { AccessToken: elsewhere['AccessToken'], DeviceKey })).status).toBe(200)
    expect((await fixture.call('GetUser', { AccessToken })).body['message']).toBe('Access Token has been revoked')
    expect((await fixture.call('GetUser', { AccessToken: elsewhere['AccessToken'] })).status).toBe(200)
  })

  it('is forgotten with all others by a global sign-out with that option', async () => {
    const { at, username, userId, AccessToken } = await confirmed('OPT_IN')
    const count = () => fixture.service.context.db.$count(devices, eq(devices.userId, userId))
    expect(await fixture.call('GlobalSignOut', { AccessToken })).toEqual({ status: 200, body: {} })
    expect(await count()).toBe(1)
    const { AccessToken: again } = tokensOf(await at.byPassword(username))
    expect(await fixture.call('GlobalSignOut', { AccessToken: again, ForgetDevices: true })).toMatchObject({
      status: 200,
    })
    expect(await count()).toBe(0)
    const { db } = fixture.service.context
    const ended = await db.select().from(signIns).where(eq(signIns.userId, userId))
    expect(ended.map(({ endReason }) => endReason)).toEqual(['signed_out', 'signed_out'])
  })
})
