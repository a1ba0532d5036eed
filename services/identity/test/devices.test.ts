import { randomUUID } from 'node:crypto'
import { AdminForgetDeviceCommand, AdminListDevicesCommand } from '@aws-sdk/client-cognito-identity-provider'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devices, pools } from '../src/schema.ts'
import { openFrontDesk, type FrontDesk } from './front-desk.ts'
import { signInsAt, tokensOf, type Answer } from './sign-ins.ts'
import { deviceVerifier, prime, startSrp } from './srp-client.ts'

let desk: FrontDesk
beforeAll(async () => {
  desk = await openFrontDesk()
})
afterAll(() => desk.stop())

/** A client of a pool that tells devices apart. */
async function poolWith(tracking: 'OPT_IN' | 'ALWAYS' | 'OFF') {
  const { clientId, poolId } = await desk.pool()
  const { db } = desk.service.context
  const [pool] = await db.select().from(pools).where(eq(pools.id, poolId))
  await db
    .update(pools)
    .set({ settings: { ...pool!.settings, mfa: 'OPTIONAL', mfaFactors: ['SOFTWARE_TOKEN_MFA'], devices: tracking } })
    .where(eq(pools.id, poolId))
  return { clientId, at: signInsAt(desk, clientId, poolId), poolId }
}

const secret = 'a secret of the device'

/** Signs in and confirms the device, of somebody new or of whose device is there. */
async function confirmed(
  tracking: 'OPT_IN' | 'ALWAYS',
  another?: Awaited<ReturnType<typeof poolWith>> & { username: string; userId: string },
) {
  const pool = another ?? (await poolWith(tracking))
  const person = another ?? (await desk.member(pool.clientId))
  const answer = await pool.at.bySrp(person.username)
  const { AccessToken = '', RefreshToken = '' } = tokensOf(answer)
  const { DeviceKey, DeviceGroupKey } = answer.body['AuthenticationResult'].NewDeviceMetadata as Record<string, string>
  const confirm = (more: object = {}) =>
    desk.call('ConfirmDevice', {
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

/** The two steps of a device's proof. */
async function proveDevice(device: Awaited<ReturnType<typeof confirmed>>, asked: Answer, password = secret) {
  const srp = startSrp()
  const { at, username, DeviceKey, DeviceGroupKey } = device
  const begun = await at.answer('DEVICE_SRP_AUTH', asked, { USERNAME: username, DEVICE_KEY: DeviceKey, SRP_A: srp.A })
  if (begun.status !== 200) return begun
  const proof = srp.answer(begun.body['ChallengeParameters'] ?? {}, {
    group: DeviceGroupKey,
    user: DeviceKey,
    password,
    now: desk.service.context.clock.now(),
  })
  return at.answer('DEVICE_PASSWORD_VERIFIER', begun, { USERNAME: username, DEVICE_KEY: DeviceKey, ...proof })
}

const noDevice = { status: 400, body: { __type: 'ResourceNotFoundException', message: 'Device does not exist.' } }

describe('a device', () => {
  it('is told apart by pools that want it, and needs its person to be remembered where they opt in', async () => {
    const off = await poolWith('OFF')
    const { username } = await desk.member(off.clientId)
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

  it('stands for the second factor once it is remembered', async () => {
    const device = await confirmed('OPT_IN')
    const { at, username, userId, DeviceKey, AccessToken } = device
    await at.withAuthenticator(userId)
    const key = { DEVICE_KEY: DeviceKey }
    expect((await at.bySrp(username, undefined, key)).body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
    const status = { AccessToken, DeviceKey, DeviceRememberedStatus: 'remembered' }
    expect(await desk.call('UpdateDeviceStatus', status)).toEqual({ status: 200, body: {} })
    const asked = await at.bySrp(username, undefined, key)
    expect(asked.body['ChallengeName']).toBe('DEVICE_SRP_AUTH')
    const done = await proveDevice(device, asked)
    expect(done.status).toBe(200)
    expect(tokensOf(done)['NewDeviceMetadata']).toBeUndefined()
    expect((await at.byPassword(username)).body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
    const wrong = await proveDevice(device, await at.byPassword(username, key), 'guessed')
    expect(wrong.body).toMatchObject({ __type: 'NotAuthorizedException' })
  })

  it('does not stand for it by the key of another, that is remembered', async () => {
    const trusted = await confirmed('OPT_IN')
    const old = await confirmed('OPT_IN', trusted)
    const { at, username, userId, DeviceKey, AccessToken } = trusted
    await at.withAuthenticator(userId)
    await desk.call('UpdateDeviceStatus', { AccessToken, DeviceKey, DeviceRememberedStatus: 'remembered' })
    const key = { DEVICE_KEY: DeviceKey }
    expect(await proveDevice(old, await at.byPassword(username, key))).toMatchObject(noDevice)
    // Not in the middle of the proof either.
    const srp = startSrp()
    const asked = await at.byPassword(username, key)
    const begun = await at.answer('DEVICE_SRP_AUTH', asked, { USERNAME: username, SRP_A: srp.A, ...key })
    const proof = srp.answer(begun.body['ChallengeParameters'], {
      group: old.DeviceGroupKey,
      user: old.DeviceKey,
      password: secret,
      now: desk.service.context.clock.now(),
    })
    const ended = await at.answer('DEVICE_PASSWORD_VERIFIER', begun, {
      USERNAME: username,
      DEVICE_KEY: old.DeviceKey,
      ...proof,
    })
    expect(ended).toMatchObject(noDevice)
  })

  it('is forgotten by clients that are told it does not exist, and the step stays', async () => {
    const { at, username } = await confirmed('ALWAYS')
    const { DeviceKey: bos } = await confirmed('ALWAYS')
    const srp = startSrp()
    const asked = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: srp.A })
    for (const DEVICE_KEY of [bos, `us-west-1_${randomUUID()}`]) {
      expect(await at.prove(srp, asked, undefined, { DEVICE_KEY })).toMatchObject(noDevice)
    }
    expect((await at.prove(srp, asked)).status).toBe(200)
    expect(await at.byPassword(username, { DEVICE_KEY: bos })).toMatchObject(noDevice)
  })

  it('is told that it does not exist before a code is asked for, like that of a name that nobody has', async () => {
    const { at, username, userId, DeviceKey } = await confirmed('OPT_IN')
    const begin = (USERNAME: string, AuthFlow: string, more: object = {}) =>
      at.begin(AuthFlow, { USERNAME, DEVICE_KEY: DeviceKey, PREFERRED_CHALLENGE: 'EMAIL_OTP', ...more })
    for (const AuthFlow of ['USER_AUTH', 'CUSTOM_AUTH']) {
      expect((await begin(username, AuthFlow)).body['Session']).toBeTypeOf('string')
      expect(await begin('nobody', AuthFlow)).toMatchObject(noDevice)
    }
    await desk.service.context.db.delete(devices).where(eq(devices.userId, userId))
    for (const AuthFlow of ['USER_AUTH', 'CUSTOM_AUTH']) expect(await begin(username, AuthFlow)).toMatchObject(noDevice)
  })

  it('is needed to refresh, and goes on with it', async () => {
    const { clientId: ClientId, RefreshToken, DeviceKey } = await confirmed('ALWAYS')
    const refresh = (more: object, token = RefreshToken) =>
      desk.call('GetTokensFromRefreshToken', { ClientId, RefreshToken: token, ...more })
    expect((await refresh({})).body['message']).toBe('Invalid Refresh Token')
    expect((await refresh({ DeviceKey: 'us-west-1_other' })).body['message']).toBe('Invalid Refresh Token')
    const next = await refresh({ DeviceKey })
    expect(next.status).toBe(200)
    expect((await refresh({ DeviceKey }, tokensOf(next)['RefreshToken'])).status).toBe(200)
  })

  it('is listed, shown and forgotten by its own person alone', async () => {
    const device = await confirmed('ALWAYS')
    const stranger = await confirmed('ALWAYS')
    const { AccessToken, DeviceKey } = device
    const { body } = await desk.call('ListDevices', { AccessToken, Limit: 10 })
    expect(body['Devices']).toHaveLength(1)
    expect(body['Devices'][0]).toMatchObject({
      DeviceKey,
      DeviceAttributes: expect.arrayContaining([{ Name: 'device_name', Value: 'Kitchen laptop' }]),
    })
    expect(body['Devices'][0].DeviceCreateDate).toBeTypeOf('number')
    expect((await desk.call('GetDevice', { AccessToken, DeviceKey })).body['Device'].DeviceKey).toBe(DeviceKey)
    const foreign = { AccessToken: stranger.AccessToken, DeviceKey, DeviceRememberedStatus: 'not_remembered' }
    for (const operation of ['GetDevice', 'ForgetDevice', 'UpdateDeviceStatus']) {
      expect(await desk.call(operation, foreign)).toMatchObject(noDevice)
    }
    expect(await desk.call('ForgetDevice', { AccessToken, DeviceKey })).toEqual({ status: 200, body: {} })
    expect((await desk.call('ListDevices', { AccessToken })).body['Devices']).toEqual([])
    const refresh = { ClientId: device.clientId, RefreshToken: device.RefreshToken }
    expect((await desk.call('GetTokensFromRefreshToken', refresh)).status).toBe(200)
  })

  it('is listed and forgotten by administrators, which signs it out', async () => {
    const { poolId: UserPoolId, username: Username, DeviceKey, AccessToken } = await confirmed('ALWAYS')
    const list = async () => (await desk.sdk.send(new AdminListDevicesCommand({ UserPoolId, Username }))).Devices
    expect(await list()).toMatchObject([{ DeviceKey }])
    const forget = () => desk.sdk.send(new AdminForgetDeviceCommand({ UserPoolId, Username, DeviceKey }))
    await forget()
    expect(await list()).toEqual([])
    await expect(forget()).rejects.toMatchObject({ name: noDevice.body.__type, message: noDevice.body.message })
    expect((await desk.call('GetUser', { AccessToken })).body['message']).toBe('Access Token has been revoked')
  })

  it('is signed out when it is forgotten from elsewhere', async () => {
    const lost = await confirmed('ALWAYS')
    const { at, username, DeviceKey, AccessToken } = lost
    const elsewhere = tokensOf(await at.byPassword(username))
    expect((await desk.call('ForgetDevice', { AccessToken: elsewhere['AccessToken'], DeviceKey })).status).toBe(200)
    expect((await desk.call('GetUser', { AccessToken })).body['message']).toBe('Access Token has been revoked')
    expect((await desk.call('GetUser', { AccessToken: elsewhere['AccessToken'] })).status).toBe(200)
  })
})
