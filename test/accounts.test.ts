import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { latestAdultBirthdate } from '@robokids/contracts/adult'
import { codeIssued, userDeleted } from '@robokids/contracts/identity'
import type { Database } from '@robokids/runtime/db'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { Browser } from './src/browser.ts'
import { breakableProxy, type BreakableProxy } from '@robokids/test/breakable-proxy'
import { sampleMember } from '@robokids/test/samples'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bff } from '../bff/src/app.ts'
import { identity } from '../services/identity/src/app.ts'
import { devices, limits, passkeys, users } from '../services/identity/src/schema.ts'
import { bffKeys, identityKeys, quickHashing } from './src/identity-settings.ts'

const site = 'http://localhost:3000'
const { password } = sampleMember('')

let bed: TestBed
let bffUrl: string
let identityUrl: string
let accounts: Database
let moveClocks: (by: Temporal.DurationLike) => void
let moveBffClock: typeof moveClocks
let moveIdentityClock: typeof moveClocks
/** Times by the clocks of the services, which tests move. */
let identityNow: () => number
let bffNow: () => number
/** Between the second BFF and identity. */
let identityProxy: BreakableProxy
let otherBffUrl: string
let bffSettings: Record<string, string>
beforeAll(async () => {
  bed = await testBed()
  const identityService = await bed.start(identity, {
    ...identityKeys,
    TRUST_PROXY: 'loopback',
    ...quickHashing,
    EVEN_ANSWER_MS: '5',
    SITE_URL: site,
  })
  const settings = {
    SITE_URL: site,
    IDENTITY_URL: identityService.url,
    IDENTITY_ISSUER_URL: identityService.context.config.ISSUER_URL,
    ...bffKeys,
    PROOF_DERIVATIONS: '2',
    // All requests come from this machine.
    RATE_LIMIT_WRITES: '1000000',
  }
  bffSettings = settings
  const bffService = await bed.start(bff, settings)
  identityProxy = await breakableProxy(Number(new URL(identityService.url).port))
  const second = await bed.start(bff, {
    ...settings,
    IDENTITY_URL: `http://127.0.0.1:${identityProxy.port}`,
    IDENTITY_PAGES_URL: 'https://login.robokids.example',
    UPSTREAM_TIMEOUT_MS: '1000',
  })
  bffUrl = bffService.url
  otherBffUrl = second.url
  accounts = identityService.context.db
  identityUrl = identityService.url
  moveBffClock = (by) => {
    for (const { context } of [bffService, second]) context.clock.advance(by)
  }
  moveIdentityClock = (by) => identityService.context.clock.advance(by)
  bffNow = () => bffService.context.clock.now().epochMilliseconds
  identityNow = () => identityService.context.clock.now().epochMilliseconds
  moveClocks = (by) => {
    moveIdentityClock(by)
    moveBffClock(by)
  }
})
// All visitors share one address, whose limits must not be used up.
beforeEach(() => accounts.delete(limits))
afterAll(async () => {
  await bed.stop()
  await identityProxy.stop()
})

class Visitor extends Browser {
  constructor() {
    super(site, bffUrl)
  }

  copy = () => this.copyTo(new Visitor())
  user = async () => (await this.get('/api/auth/session')).body['user']
}

const sealer = sealingKeysSchema.parse(localSealingKeys)
/** The newest code to an address, once there are `count`. */
async function codeTo(destination: string, count = 1): Promise<string> {
  const sentCodes = () => bed.bus.all(codeIssued, (data) => data.destination === destination)
  await bed.bus.seen(codeIssued, () => sentCodes().length >= count)
  const event = sentCodes().at(-1)
  return sealer.open(event?.data.sealedCode ?? '', `code:${event?.data.codeId}`)?.toString() ?? ''
}

async function pendingMember() {
  const visitor = new Visitor()
  const email = `maren.${randomUUID()}@example.com`
  const answer = await visitor.post('/api/auth/sign-up', sampleMember(email))
  expect(answer).toMatchObject({ status: 200, body: { delivery: { medium: 'EMAIL', destination: 'm***@e***' } } })
  return { visitor, email }
}

async function member() {
  const { visitor, email } = await pendingMember()
  const answer = await visitor.post('/api/auth/confirm-sign-up', { email, code: await codeTo(email) })
  expect(answer).toMatchObject({ status: 200, body: { signedIn: true } })
  return { visitor, email }
}

describe('The first sign-ins of a BFF', () => {
  it('The first concurrent sign-ins all wait for the token signing keys', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => pendingMember()))
    const codes = await Promise.all(people.map(({ email }) => codeTo(email)))
    const answers = await Promise.all(
      people.map(({ visitor, email }, index) =>
        visitor.post('/api/auth/confirm-sign-up', { email, code: codes[index] }),
      ),
    )
    expect(answers.map(({ body }) => body)).toEqual(people.map(() => ({ signedIn: true })))
  })
})

/** Runs an operator's command: its name, with options. */
function operate(command: string, name: string, settings: Record<string, string> = {}) {
  const script = fileURLToPath(new URL('../deploy/local/src/admin.ts', import.meta.url))
  const env = { ...process.env, IDENTITY_URL: identityUrl, SYSTEM_NAME: 'local', ...settings }
  return promisify(execFile)(process.execPath, [script, ...command.split(' '), name], { env })
}

describe('Accounts', () => {
  it('A user can sign up, is signed in by the confirmation, and can sign out', async () => {
    const { visitor, email } = await pendingMember()
    expect(await visitor.user()).toBeNull()
    expect((await visitor.post('/api/auth/auto-sign-in')).body).toEqual({ step: 'waiting' })
    const wrong = await visitor.post('/api/auth/confirm-sign-up', { email, code: '000000x' })
    expect(wrong).toMatchObject({
      status: 400,
      body: { code: 'CodeMismatchException', message: 'Invalid verification code provided, please try again.' },
    })
    const confirmed = await visitor.post('/api/auth/confirm-sign-up', { email, code: await codeTo(email) })
    expect(confirmed.body).toEqual({ signedIn: true })
    expect(await visitor.user()).toMatchObject({ email })
    const again = await visitor.post('/api/auth/sign-in', { email, password })
    expect(again).toMatchObject({ status: 409, body: { message: 'There is already a signed in user.' } })
    const kept = new Map(visitor.cookies)
    expect(await visitor.post('/api/auth/sign-out', {})).toMatchObject({ status: 200, body: {} })
    expect(await visitor.user()).toBeNull()
    expect([...visitor.cookies.keys()]).toEqual(['robokids-device'])

    // A copy of the cookie no longer works at identity.
    const thief = new Visitor()
    thief.cookies = kept
    expect((await thief.ask('GET', '/api/profile')).status).toBe(401)
  })

  it('Codes are accepted with spaces, hyphens and full-width digits', async () => {
    const typings = [
      (code: string) => `${code.slice(0, 3)} ${code.slice(3)} `,
      (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`,
      (code: string) => code.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    ]
    for (const typed of typings) {
      const { visitor, email } = await pendingMember()
      const body = { email, code: typed(await codeTo(email)) }
      expect((await visitor.post('/api/auth/confirm-sign-up', body)).body).toEqual({ signedIn: true })
      const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
      const totp = new TOTP({ secret })
      const set = { code: typed(totp.generate({ timestamp: identityNow() })) }
      expect(await visitor.post('/api/profile/totp/verify', set)).toMatchObject({ status: 200 })
      await visitor.post('/api/auth/sign-out', {})

      await visitor.post('/api/auth/sign-in', { email, password })
      const shown = { answer: typed(totp.generate({ timestamp: identityNow() + 30_000 })) }
      expect((await visitor.post('/api/auth/sign-in/answer', shown)).body).toEqual({ step: 'DONE' })
      await visitor.post('/api/auth/sign-out', {})

      const elsewhere = new Visitor()
      await elsewhere.post('/api/auth/forgot-password', { email })
      const reset = { email, code: typed(await codeTo(email, 2)), password: 'Robot-2031!' }
      expect((await elsewhere.post('/api/auth/confirm-forgot-password', reset)).body).toEqual({})
    }
  })

  it('A confirmation can be repeated if its response was lost or another tab was faster', async () => {
    const { visitor, email } = await pendingMember()
    const before = new Map(visitor.cookies)
    const confirmation = { email, code: await codeTo(email) }
    await visitor.post('/api/auth/confirm-sign-up', confirmation)
    expect((await visitor.post('/api/auth/confirm-sign-up', confirmation)).body).toEqual({ signedIn: true })
    visitor.cookies = before
    expect((await visitor.post('/api/auth/confirm-sign-up', confirmation)).body).toEqual({ signedIn: true })
    expect(await visitor.user()).toMatchObject({ email })

    const { visitor: other } = await member()
    for (const elsewhere of [new Visitor(), other]) {
      const over = await elsewhere.post('/api/auth/confirm-sign-up', { ...confirmation, password })
      expect(over.body['code']).toBe('ExpiredCodeException')
    }
  })

  it('A session cookie that was swapped, altered or expired signs nobody in, and is nobody’s', async () => {
    const { visitor } = await member()
    await visitor.post('/api/auth/sign-up', sampleMember(`other.${randomUUID()}@example.com`))
    const sealed = visitor.cookies.get('robokids-session') ?? ''
    const others = [...visitor.cookies].filter(([name]) => name !== 'robokids-session').map(([, value]) => value)
    expect(others).toHaveLength(3)
    const middle = Math.floor(sealed.length / 2)
    const altered = `${sealed.slice(0, middle)}${sealed[middle] === 'A' ? 'B' : 'A'}${sealed.slice(middle + 1)}`
    for (const value of [...others, altered, sealed.slice(0, -4), 'local.', '', '{}']) {
      const forger = new Visitor()
      forger.cookies.set('robokids-session', value)
      expect(await forger.user()).toBeNull()
      expect((await forger.ask('GET', '/api/profile')).status).toBe(401)
    }
    for (const name of ['robokids-sign-in', 'robokids-sign-up', 'robokids-confirm', 'robokids-device']) {
      const forger = new Visitor()
      forger.cookies.set(name, sealed)
      expect((await forger.post('/api/auth/sign-in/answer', { answer: '123456' })).status).toBe(401)
      expect((await forger.post('/api/auth/auto-sign-in')).status).toBe(401)
    }
    moveBffClock({ hours: 24 * 31 })
    expect(await visitor.user()).toBeNull()
    moveBffClock({ hours: -24 * 31 })
  })

  it('A user can read and change the profile, and no response contains a token', async () => {
    const { visitor, email } = await member()
    const profile = await visitor.ask('GET', '/api/profile')
    expect(profile.headers.get('cache-control')).toBe('no-store')
    expect(profile.body).toMatchObject({
      email,
      emailVerified: true,
      givenName: 'Maren',
      familyName: 'Holt',
      birthdate: '1990-02-28',
      phoneNumber: '+16505550123',
      phoneNumberVerified: false,
      address: '14 Alder Way, San Mateo, CA 94401',
    })
    const changed = await visitor.ask('PATCH', '/api/profile', {
      givenName: 'Zoë',
      address: '1 Elm St, Fremont, CA 94536',
    })
    expect(changed.body).toMatchObject({ givenName: 'Zoë', address: '1 Elm St, Fremont, CA 94536', familyName: 'Holt' })
    expect(JSON.stringify(changed.body)).not.toMatch(/eyJ/)
    expect((await new Visitor().ask('GET', '/api/profile')).body['code']).toBe('sign_in_required')
  })

  it('Once an authenticator app is enabled, signing in needs its code, and each code works once', async () => {
    const { visitor, email } = await member()
    const { secret, uri } = (await visitor.post('/api/profile/totp')).body as { secret: string; uri: string }
    expect(uri).toContain(`secret=${secret}`)
    const totp = new TOTP({ secret })
    const code = totp.generate()
    const on = await visitor.post('/api/profile/totp/verify', { code })
    expect(on.body).toMatchObject({ mfa: { enabled: ['TOTP'], preferred: 'TOTP' } })
    await visitor.post('/api/auth/sign-out', {})

    expect((await visitor.post('/api/auth/sign-in', { email, password })).body).toEqual({
      step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE',
    })
    const replayed = await visitor.post('/api/auth/sign-in/answer', { answer: code })
    expect(replayed.body['code']).toBe('CodeMismatchException')
    const next = totp.generate({ timestamp: Date.now() + 30_000 })
    expect((await visitor.post('/api/auth/sign-in/answer', { answer: next })).body).toEqual({ step: 'DONE' })
    expect(await visitor.user()).toMatchObject({ email })
  })

  it('A trusted browser signs in without a second factor until it is forgotten', async () => {
    const { visitor, email } = await member()
    const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
    await visitor.post('/api/profile/totp/verify', { code: new TOTP({ secret }).generate() })
    const profile = (await visitor.ask('GET', '/api/profile')).body as { devices: { key: string; current: boolean }[] }
    expect(profile.devices).toMatchObject([{ current: true, remembered: false }])
    const path = `/api/profile/devices/${profile.devices[0]?.key}`
    const trusted = await visitor.post(path, { remembered: true })
    expect(trusted.body).toMatchObject({ devices: [{ current: true, remembered: true }] })
    // Another user's device key is unknown.
    const { visitor: stranger } = await member()
    expect(await stranger.ask('DELETE', path)).toMatchObject({ status: 404 })

    await visitor.post('/api/auth/sign-out', {})
    expect((await visitor.post('/api/auth/sign-in', { email, password })).body).toEqual({ step: 'DONE' })
    const elsewhere = await new Visitor().post('/api/auth/sign-in', { email, password })
    expect(elsewhere.body).toEqual({ step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE' })

    expect((await visitor.ask('DELETE', path)).body).toMatchObject({ devices: [] })
    await visitor.post('/api/auth/sign-out', {})
    const forgotten = await visitor.post('/api/auth/sign-in', { email, password })
    expect(forgotten.body).toEqual({ step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE' })
  })

  it('After signing out everywhere, every browser needs the second factor again', async () => {
    const { visitor, email } = await member()
    const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
    await visitor.post('/api/profile/totp/verify', { code: new TOTP({ secret }).generate() })
    const profile = (await visitor.ask('GET', '/api/profile')).body as { devices: { key: string }[] }
    await visitor.post(`/api/profile/devices/${profile.devices[0]?.key}`, { remembered: true })
    const lost = new Map(visitor.cookies)
    // So many browsers that this one is not on the first page of the list.
    const now = Temporal.Now.instant()
    const { userId } = (await visitor.ask('GET', '/api/profile')).body as { userId: string }
    const others = Array.from({ length: 61 }, (_, nth) => ({
      key: `us-west-1_${String(nth).padStart(12, '0')}${userId.slice(12)}`,
      groupKey: '-other',
      userId,
      sealedSrpVerifier: '',
      lastAddress: '192.0.2.1',
      createdAt: now,
      updatedAt: now,
      lastSignInAt: now,
    }))
    await accounts.insert(devices).values(others)
    expect((await visitor.ask('GET', '/api/profile')).body['devices']).toHaveLength(62)

    expect((await visitor.post('/api/auth/sign-out', { everywhere: true })).status).toBe(200)
    expect([...visitor.cookies.keys()]).toEqual([])
    const thief = new Visitor()
    thief.cookies = lost
    expect((await thief.ask('GET', '/api/profile')).status).toBe(401)
    for (const browser of [visitor, thief]) {
      const asked = await browser.post('/api/auth/sign-in', { email, password })
      expect(asked.body).toEqual({ step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE' })
    }
  })

  it('The second step of a sign-in can mark the browser as trusted', async () => {
    const { visitor, email } = await member()
    const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
    const totp = new TOTP({ secret })
    await visitor.post('/api/profile/totp/verify', { code: totp.generate({ timestamp: Date.now() - 30_000 }) })
    const trusting = new Visitor()
    const signIn = () => trusting.post('/api/auth/sign-in', { email, password })
    expect((await signIn()).body).toEqual({ step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE' })
    const wrong = await trusting.post('/api/auth/sign-in/answer', { answer: '000000', trust: true })
    expect(wrong.status).toBe(400)
    const right = await trusting.post('/api/auth/sign-in/answer', { answer: totp.generate(), trust: true })
    expect(right.body).toEqual({ step: 'DONE' })
    await trusting.post('/api/auth/sign-out', {})
    expect((await signIn()).body).toEqual({ step: 'DONE' })
    const elsewhere = await new Visitor().post('/api/auth/sign-in', { email, password })
    expect(elsewhere.body).toEqual({ step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE' })
  })

  it('A user can choose among the enabled second factors only', async () => {
    const { visitor, email } = await member()
    const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
    await visitor.post('/api/profile/totp/verify', { code: new TOTP({ secret }).generate() })
    await visitor.post('/api/profile/mfa', { type: 'TOTP', enabled: true, preferred: false })
    await visitor.post('/api/profile/mfa', { type: 'EMAIL', enabled: true })
    const other = new Visitor()
    const asked = await other.post('/api/auth/sign-in', { email, password })
    expect(asked.body).toEqual({ step: 'CONTINUE_SIGN_IN_WITH_MFA_SELECTION', choices: ['TOTP', 'EMAIL'] })
    const unknown = await other.post('/api/auth/sign-in/answer', { answer: 'PIGEON' })
    expect(unknown.body).toMatchObject({ message: 'multi-factor choice must be TOTP, SMS or EMAIL' })
    expect((await other.post('/api/auth/sign-in/answer', { answer: 'SMS' })).status).toBe(400)
    const mailed = await other.post('/api/auth/sign-in/answer', { answer: 'EMAIL' })
    expect(mailed.body).toMatchObject({ step: 'CONFIRM_SIGN_IN_WITH_EMAIL_CODE', others: ['TOTP'] })
    expect((await other.post('/api/auth/sign-in/answer', { answer: await codeTo(email, 2) })).body).toEqual({
      step: 'DONE',
    })
  })

  it('A user who has lost the preferred second factor can use the other one that is enabled', async () => {
    const { visitor, email } = await member()
    const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
    await visitor.post('/api/profile/totp/verify', { code: new TOTP({ secret }).generate() })
    await visitor.post('/api/profile/mfa', { type: 'EMAIL', enabled: true })
    const other = new Visitor()
    const asked = await other.post('/api/auth/sign-in', { email, password })
    expect(asked.body).toEqual({ step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE', others: ['EMAIL'] })
    const instead = (answer: string) => other.post('/api/auth/sign-in/answer', { answer, instead: true })
    // A factor that is not enabled is rejected, and the step stays open.
    expect((await instead('SMS')).status).toBe(400)
    expect((await instead('PIGEON')).body).toMatchObject({
      message: 'multi-factor choice must be TOTP, SMS or EMAIL',
    })
    expect((await instead('EMAIL')).body).toMatchObject({ step: 'CONFIRM_SIGN_IN_WITH_EMAIL_CODE', others: ['TOTP'] })
    expect((await other.post('/api/auth/sign-in/answer', { answer: await codeTo(email, 2) })).body).toEqual({
      step: 'DONE',
    })
  })

  it('An operator can find, sign out, disable, enable and delete an account at the command line', async () => {
    const { visitor, email } = await member()
    const profile = async () => (await visitor.ask('GET', '/api/profile')).status
    // A pending address is shown beside the verified one.
    await visitor.ask('PATCH', '/api/profile', { email: `next-${email}` })
    const found = JSON.parse((await operate('account', email)).stdout) as Record<string, unknown>
    expect(found).toMatchObject({ email: `next-${email}`, emailVerified: false, verifiedEmail: email })
    expect(found).toMatchObject({ status: 'CONFIRMED', enabled: true, secondSteps: [] })
    expect(await profile()).toBe(200)

    await expect(operate('delete-account --yes', email, { SYSTEM_NAME: 'another' })).rejects.toMatchObject({
      stderr: expect.stringContaining('Nothing was changed'),
    })
    expect((await operate('sign-out', email)).stdout).toBe(
      `${email} is signed out everywhere, and 1 browser is forgotten.\n`,
    )
    expect(await profile()).toBe(401)

    const signIn = () => visitor.post('/api/auth/sign-in', { email, password })
    expect((await operate('disable-account', String(found['userName']))).stdout).toContain('is disabled')
    expect((await signIn()).body).toMatchObject({ message: 'User is disabled.' })
    expect((await operate('enable-account', email)).stdout).toContain('can log in again')
    expect((await signIn()).body).toEqual({ step: 'DONE' })

    expect((await operate('delete-account --yes', email)).stdout).toContain('is deleted permanently')
    expect(await profile()).toBe(401)
    const gone = { stderr: expect.stringContaining('UserNotFoundException: User does not exist.') }
    await expect(operate('account', email)).rejects.toMatchObject(gone)
  })

  it('After an operator has reset the second factor, the password alone signs in', async () => {
    const { visitor, email } = await member()
    const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
    await visitor.post('/api/profile/totp/verify', { code: new TOTP({ secret }).generate() })
    const reset = (name: string) => operate('reset-mfa --yes', name)
    expect((await reset(email)).stdout).toContain(`The second factors of ${email} are disabled, 1 browser is forgotten`)
    expect((await visitor.ask('GET', '/api/profile')).status).toBe(401)
    expect((await new Visitor().post('/api/auth/sign-in', { email, password })).body).toEqual({ step: 'DONE' })
    await expect(reset(`nobody-${email}`)).rejects.toMatchObject({
      stderr: expect.stringContaining('UserNotFoundException: User does not exist.'),
    })
  })

  it('Nobody else’s devices, passkeys and codes can be read or changed', async () => {
    const [{ visitor: maren }, { visitor: bo, email }] = [await member(), await member()]
    const profile = (await bo.ask('GET', '/api/profile')).body as { userId: string; devices: { key: string }[] }
    const { userId } = profile
    const key = { name: 'Passkey 1', relyingPartyId: 'localhost', publicKey: 'AA', counter: 0, transports: [] }
    await accounts.insert(passkeys).values({ ...key, id: `of-${userId}`, userId, createdAt: Temporal.Now.instant() })
    await bo.post('/api/profile/verification', { attribute: 'email' })
    const code = await codeTo(email, 2)
    const attempts = [
      ['DELETE', `/api/profile/passkeys/of-${userId}`],
      ['DELETE', `/api/profile/devices/${profile.devices[0]?.key}`],
      ['POST', `/api/profile/devices/${profile.devices[0]?.key}`, { remembered: true }],
      ['POST', '/api/profile/verification/confirm', { attribute: 'email', code }],
    ] as const
    for (const [method, path, body] of attempts) {
      const others = await maren.ask(method, path, body)
      expect([400, 404]).toContain(others.status)
      expect(JSON.stringify(others.body)).not.toContain(email)
      expect(await new Visitor().ask(method, path, body)).toMatchObject({ status: 401 })
    }
    expect((await bo.ask('GET', '/api/profile')).body).toMatchObject({
      passkeys: [{ id: `of-${userId}` }],
      devices: profile.devices,
    })
  })

  it('A browser that was forgotten elsewhere can sign in by code', async () => {
    const [{ visitor: forgotten, email }, elsewhere] = [await member(), new Visitor()]
    await forgotten.post('/api/auth/sign-out', {})
    await elsewhere.post('/api/auth/sign-in', { email, password })
    await elsewhere.post('/api/auth/sign-out', { everywhere: true })
    expect([...forgotten.cookies.keys()]).toEqual(['robokids-device'])
    const asked = await forgotten.post('/api/auth/sign-in', { email, preferred: 'EMAIL_OTP' })
    expect(asked.body).toMatchObject({ step: 'CONFIRM_SIGN_IN_WITH_EMAIL_CODE' })
    const done = await forgotten.post('/api/auth/sign-in/answer', { answer: await codeTo(email, 2) })
    expect(done.body).toEqual({ step: 'DONE' })
  })

  it('Letter case does not distinguish addresses', async () => {
    const email = `Iris.Holt.${randomUUID()}@Example.com`
    const visitor = new Visitor()
    await visitor.post('/api/auth/sign-up', sampleMember(email))
    const confirmed = await new Visitor().post('/api/auth/confirm-sign-up', {
      email: email.toLowerCase(),
      code: await codeTo(email),
      password,
    })
    expect(confirmed.status).toBe(200)
    const shouted = email.toUpperCase()
    const signedIn = await new Visitor().post('/api/auth/sign-in', { email: shouted, password })
    expect(signedIn.body).toEqual({ step: 'DONE' })

    // A second account of the address is never confirmed, and no response reveals why before the mailbox is proven.
    const second = new Visitor()
    const again = await second.post('/api/auth/sign-up', { ...sampleMember(shouted), password: 'Another-2031!' })
    expect(again).toMatchObject({ status: 200, body: { confirmed: false } })
    const taken = await second.post('/api/auth/confirm-sign-up', { email: shouted, code: await codeTo(shouted) })
    expect(taken.body['code']).toBe('AliasExistsException')

    await new Visitor().post('/api/auth/forgot-password', { email: shouted })
    const code = await codeTo(email, 2)
    const reset = { email: email.toLowerCase(), code, password: 'Third-2032!' }
    expect((await new Visitor().post('/api/auth/confirm-forgot-password', reset)).status).toBe(200)
    const after = await new Visitor().post('/api/auth/sign-in', { email, password: 'Third-2032!' })
    expect(after.body).toEqual({ step: 'DONE' })
  })

  it('Every browser shows the new address once it is verified, and the previous one until then', async () => {
    const { visitor, email } = await member()
    const elsewhere = new Visitor()
    await elsewhere.post('/api/auth/sign-in', { email, password })
    const { userId } = (await elsewhere.user()) as { userId: string }
    const next = `next-${email}`
    const waiting = await visitor.ask('PATCH', '/api/profile', { email: next })
    expect(waiting.body).toMatchObject({ email: next, emailVerified: false, formerEmail: email })
    expect(await visitor.user()).toMatchObject({ email })
    moveClocks({ hours: 2 })
    expect(await elsewhere.user()).toMatchObject({ email })

    await visitor.post('/api/profile/verification/confirm', { attribute: 'email', code: await codeTo(next) })
    expect((await visitor.ask('GET', '/api/profile')).body).not.toHaveProperty('formerEmail')
    expect(await visitor.user()).toMatchObject({ userId, email: next })
    expect(await elsewhere.user()).toMatchObject({ userId, email: next })
    // The account decides what each address means: the new one is the user's, the previous one is free.
    const confirm = (address: string) => elsewhere.post('/api/auth/confirm-sign-up', { email: address, code: '000000' })
    expect((await confirm(next)).body).toEqual({ signedIn: true })
    expect((await confirm(email)).status).toBe(400)
  })

  it('A trusted browser needs no second factor, even after the address was changed in another browser', async () => {
    const { visitor, email } = await member()
    const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
    await visitor.post('/api/profile/totp/verify', { code: new TOTP({ secret }).generate() })
    const { devices: known } = (await visitor.ask('GET', '/api/profile')).body as { devices: { key: string }[] }
    await visitor.post(`/api/profile/devices/${known[0]?.key}`, { remembered: true })
    const elsewhere = visitor.copy()
    const next = `trusted-${email}`
    await elsewhere.ask('PATCH', '/api/profile', { email: next })
    await elsewhere.post('/api/profile/verification/confirm', { attribute: 'email', code: await codeTo(next) })
    expect(await visitor.user()).toMatchObject({ email: next })
    await visitor.post('/api/auth/sign-out', {})
    expect((await visitor.post('/api/auth/sign-in', { email: next, password })).body).toEqual({ step: 'DONE' })
  })

  it('A session cookie of the previous version works, and new cookies can be read by it', async () => {
    const { visitor, email } = await member()
    const open = () => {
      const opened = sealer.open(visitor.cookies.get('robokids-session') ?? '', 'robokids-session')
      return JSON.parse(opened?.toString() ?? '') as Record<string, unknown>
    }
    const kept = open()
    expect(kept['email']).toBe('')
    expect(JSON.stringify(kept)).not.toContain(email)
    const before = JSON.stringify({ ...kept, email: 'before@example.com' })
    visitor.cookies.set('robokids-session', sealer.seal(before, 'robokids-session'))
    expect(await visitor.user()).toMatchObject({ email })
  })

  it('A session stays valid while identity is down, and ends if it was ended elsewhere', async () => {
    const { visitor, email } = await member()
    const { userId, username } = (await visitor.user()) as { userId: string; username: string }
    visitor.bffUrl = otherBffUrl
    expect(await visitor.user()).toEqual({ userId, username, email })
    await identityProxy.refuse()
    expect(await visitor.user()).toEqual({ userId, username, email: username })
    moveClocks({ hours: 2 })
    expect(await visitor.user()).toEqual({ userId, username, email: username })
    expect((await visitor.ask('GET', '/api/profile')).status).toBe(503)
    await identityProxy.accept()
    identityProxy.stall()
    const begun = performance.now()
    expect(await visitor.user()).toEqual({ userId, username, email: username })
    expect(performance.now() - begun).toBeLessThan(8_000)
    identityProxy.resume()
    identityProxy.reset()
    await eventually(async () => ((await visitor.user()) as { email?: string } | null)?.email === email)

    const elsewhere = new Visitor()
    await elsewhere.post('/api/auth/sign-in', { email, password })
    await elsewhere.post('/api/auth/sign-out', { everywhere: true })
    expect(await visitor.user()).toBeNull()
    expect(visitor.cookies.has('robokids-session')).toBe(false)
  })

  it('A page rendered for one account cannot change another', async () => {
    const [{ visitor, email }, { visitor: other, email: otherEmail }] = [await member(), await member()]
    const { userId } = (await visitor.user()) as { userId: string }
    // An older tab of a browser in which another user has signed in since.
    const older = other.copy()
    older.userId = userId
    const refused = {
      status: 409,
      body: { code: 'other_account', message: `You are now logged in as ${otherEmail}.` },
    }
    const profile = async () => (await other.ask('GET', '/api/profile')).body
    const before = await profile()
    expect(await older.ask('PATCH', '/api/profile', { givenName: 'Zoë' })).toMatchObject(refused)
    expect(await older.ask('DELETE', '/api/profile', { password })).toMatchObject(refused)
    expect(await older.post('/api/auth/change-password', {})).toMatchObject(refused)
    expect(await older.post('/api/membership/cancel')).toMatchObject(refused)
    expect(await older.post('/api/auth/sign-out', {})).toMatchObject(refused)
    expect(await older.post('/api/registrations', {})).toMatchObject(refused)
    expect(await profile()).toEqual(before)
    // Reading is allowed, and the current user's own page may change it.
    expect((await older.ask('GET', '/api/profile')).status).toBe(200)
    visitor.userId = userId
    expect((await visitor.ask('PATCH', '/api/profile', { givenName: 'Zoë' })).body).toMatchObject({ givenName: 'Zoë' })
    // When nobody is signed in any more, the error says so.
    await visitor.post('/api/auth/sign-out', {})
    expect(await visitor.ask('PATCH', '/api/profile', { givenName: 'Ada' })).toMatchObject({
      status: 401,
      body: { code: 'sign_in_required' },
    })
    expect((await visitor.post('/api/auth/sign-in', { email, password })).body).toEqual({ step: 'DONE' })
    // Also if the sign-in was ended in another browser.
    older.userId = userId
    await other.post('/api/auth/sign-out', { everywhere: true })
    expect((await older.ask('PATCH', '/api/profile', { givenName: 'Ada' })).status).toBe(401)
  })

  it('Deleting an account needs only the password, and sends no code, even if codes are the second factor', async () => {
    const { visitor, email } = await member()
    await visitor.post('/api/profile/mfa', { type: 'EMAIL', enabled: true })
    const codes = () => bed.bus.all(codeIssued, (data) => data.destination === email).length
    const before = codes()
    expect((await visitor.ask('DELETE', '/api/profile', { password: 'Wrong-2030!' })).status).toBe(401)
    const { userId } = (await visitor.user()) as { userId: string }
    expect((await visitor.ask('DELETE', '/api/profile', { password })).status).toBe(200)
    await bed.bus.seen(userDeleted, (data) => data.userId === userId)
    expect(codes()).toBe(before)
  })

  it('Parallel sign-ups make one account, which any of the windows can confirm', async () => {
    const email = `eight.${randomUUID()}@example.com`
    const windows = Array.from({ length: 8 }, (_, nth) => {
      const window = new Visitor()
      if (nth % 2 === 1) window.bffUrl = otherBffUrl
      return window
    })
    const answers = await Promise.all(windows.map((window) => window.post('/api/auth/sign-up', sampleMember(email))))
    expect(answers.map(({ status }) => status)).toEqual(windows.map(() => 200))
    const made = (await accounts.select().from(users)).filter(({ emailKey }) => emailKey === email)
    expect(made).toHaveLength(1)
    const code = await codeTo(email)
    const confirmed = await Promise.all(
      windows.slice(0, 4).map((window) => window.post('/api/auth/confirm-sign-up', { email, code })),
    )
    expect(confirmed.map(({ body }) => body)).toEqual(confirmed.map(() => ({ signedIn: true })))
    // The others learn of it by their next request.
    for (const window of windows.slice(4)) {
      expect((await window.post('/api/auth/auto-sign-in')).body).toEqual({ step: 'DONE' })
    }
    const people = await Promise.all(windows.map((window) => window.user()))
    expect(people).toEqual(people.map(() => expect.objectContaining({ userId: made[0]?.id, email })))
  })

  it('Logging out leads through a hosted service’s sign-in pages back to the site', async () => {
    const { visitor } = await member()
    visitor.bffUrl = otherBffUrl
    const { status, body } = await visitor.post('/api/auth/sign-out', {})
    const query = `client_id=robokidsbff&logout_uri=${encodeURIComponent(`${site}/`)}`
    expect([status, body]).toEqual([200, { logoutUrl: `https://login.robokids.example/logout?${query}` }])
    expect(await visitor.user()).toBeNull()
  })

  it('Deleting an account clears all its cookies in that browser', async () => {
    const { visitor, email } = await member()
    expect((await visitor.ask('DELETE', '/api/profile', { password: 'Wrong-2030!' })).status).toBe(401)
    expect(await visitor.user()).toMatchObject({ email })
    expect((await visitor.ask('DELETE', '/api/profile', { password })).status).toBe(200)
    expect([...visitor.cookies.keys()]).toEqual([])
    expect((await visitor.post('/api/auth/sign-in', { email, password })).body['code']).toBe('NotAuthorizedException')
  })

  it('A session is renewed when its tokens expire, and both tabs stay signed in', async () => {
    const { visitor, email } = await member()
    moveClocks({ hours: 2 })
    const other = new Visitor()
    other.cookies = new Map(visitor.cookies)
    const users = await Promise.all([visitor.user(), other.user(), visitor.user()])
    expect(users).toEqual(users.map(() => expect.objectContaining({ email })))
    expect((await visitor.ask('GET', '/api/profile')).status).toBe(200)
    expect((await other.ask('GET', '/api/profile')).status).toBe(200)
  })

  it('A password reset from a known device has attempts of its own, which unknown callers cannot use up', async () => {
    const { visitor, email } = await member()
    const sealed = visitor.cookies.get('robokids-device') ?? ''
    const { key } = JSON.parse(sealer.open(sealed, 'robokids-device')?.toString() ?? '') as { key: string }
    expect((await visitor.post('/api/auth/forgot-password', { email })).status).toBe(200)
    const asked = async () => (await accounts.select().from(limits)).filter((one) => one.key.endsWith(`:${key}`))
    expect((await asked()).map((one) => one.key)).toContainEqual(expect.stringMatching(/^asked:/))
    const answer = { email, code: await codeTo(email, 2), password: `${password}2` }
    expect((await visitor.post('/api/auth/confirm-forgot-password', answer)).status).toBe(200)
    // Used by the same device, the code is expired for it.
    expect((await asked()).map((one) => one.key)).not.toContainEqual(expect.stringMatching(/^asked:/))
  })

  it('A browser stays known when the cookie keys are replaced, if it was used in between', async () => {
    const { visitor, email } = await member()
    const next = `next:${Buffer.alloc(32, 7).toString('base64')}`
    const [both, only] = await Promise.all(
      [`${next},${localSealingKeys}`, next].map((SESSION_KEYS) => bed.start(bff, { ...bffSettings, SESSION_KEYS })),
    )
    for (const bffService of [both, only])
      bffService!.context.clock.set(Temporal.Instant.fromEpochMilliseconds(identityNow()))
    const before = visitor.cookies.get('robokids-device') ?? ''
    visitor.bffUrl = both!.url
    expect(await visitor.user()).toMatchObject({ email })
    const after = visitor.cookies.get('robokids-device') ?? ''
    const opened = [
      sealingKeysSchema.parse(next).open(after, 'robokids-device'),
      sealer.open(before, 'robokids-device'),
    ]
    const [now, then] = opened.map((content) => JSON.parse(content?.toString() ?? '') as { key: string })
    expect(now?.key).toBe(then?.key)
    // The session was sealed under the removed key; the device cookie identifies the browser.
    visitor.bffUrl = only!.url
    expect(await visitor.user()).toBeNull()
    expect((await visitor.post('/api/auth/sign-in', { email, password })).body).toEqual({ step: 'DONE' })
    expect(visitor.cookies.get('robokids-device')).toBe(after)
  })

  it('A browser stays signed in, at any BFF, if the response that renewed its session was lost', async () => {
    const { visitor, email } = await member()
    moveClocks({ hours: 2 })
    // Responses of both BFFs that the browser never received.
    const lost = [visitor.copy(), visitor.copy(), visitor.copy()]
    for (const [nth, copy] of lost.entries()) if (nth > 0) copy.bffUrl = otherBffUrl
    await Promise.all(lost.map((copy) => copy.user()))
    // A BFF was killed between identity's response and its own.
    const kept = JSON.parse(
      sealer.open(visitor.cookies.get('robokids-session') ?? '', 'robokids-session')?.toString() ?? '',
    ) as { refreshToken: string }
    const device = JSON.parse(
      sealer.open(visitor.cookies.get('robokids-device') ?? '', 'robokids-device')?.toString() ?? '',
    ) as { key: string }
    const killed = await fetch(identityUrl, {
      method: 'POST',
      headers: { 'x-amz-target': 'AWSCognitoIdentityProviderService.GetTokensFromRefreshToken' },
      body: JSON.stringify({
        ClientId: 'robokidsbff',
        ClientSecret: 'local-client-secret',
        RefreshToken: kept.refreshToken,
        DeviceKey: device.key,
      }),
    })
    expect(killed.status).toBe(200)
    moveClocks({ hours: 30 })
    const windows = [visitor.copy(), visitor.copy()]
    const [, second] = windows
    if (second) second.bffUrl = otherBffUrl
    const people = await Promise.all([visitor.user(), ...windows.map((window) => window.user())])
    expect(people).toEqual(people.map(() => expect.objectContaining({ email })))
    expect((await visitor.ask('GET', '/api/profile')).status).toBe(200)

    // The old cookie, used after the browser has moved on, belongs to a thief: both are signed out.
    const thief = lost[0]?.copy() ?? new Visitor()
    thief.cookies.set('robokids-session', sealer.seal(JSON.stringify({ ...kept, email: '' }), 'robokids-session'))
    moveClocks({ hours: 2 })
    expect(await visitor.user()).toMatchObject({ email })
    moveClocks({ minutes: 5 })
    expect(await thief.user()).toBeNull()
    expect((await visitor.ask('GET', '/api/profile')).status).toBe(401)
  })

  it('A browser stays signed in when identity’s clock is ahead and its token has expired by that clock', async () => {
    const { visitor, email } = await member()
    moveClocks({ minutes: 58 })
    moveIdentityClock({ minutes: 3 })
    try {
      expect(await visitor.ask('GET', '/api/profile')).toMatchObject({
        status: 503,
        body: { code: 'upstream_unavailable' },
      })
      expect(await visitor.user()).not.toBeNull()
    } finally {
      moveBffClock({ minutes: 3 })
    }
    expect((await visitor.ask('GET', '/api/profile')).body).toMatchObject({ email })
  })

  it('A user stays signed in, and can sign out, while somebody at the same address guesses passwords', async () => {
    const { visitor, email } = await member()
    const guess = () => new Visitor().post('/api/auth/sign-in', { email: `${randomUUID()}@example.com`, password: 'x' })
    moveClocks({ hours: 2 })
    const guesses = await Promise.all(Array.from({ length: 130 }, guess))
    expect(guesses.some(({ status }) => status === 429)).toBe(true)
    expect(await visitor.user()).toMatchObject({ email })
    const thief = new Visitor()
    thief.cookies = new Map(visitor.cookies)
    await visitor.post('/api/auth/sign-out', {})
    expect(await thief.ask('GET', '/api/profile')).toMatchObject({ status: 401, body: { code: 'sign_in_required' } })
    moveClocks({ minutes: 2 })
  })

  it('A new password signs out the other browsers, which can then sign in with it', async () => {
    const { visitor, email } = await member()
    const [idle, busy] = [new Visitor(), new Visitor()]
    for (const other of [idle, busy])
      expect((await other.post('/api/auth/sign-in', { email, password })).body).toEqual({ step: 'DONE' })
    const change = { previousPassword: password, proposedPassword: 'Another-2031!' }
    expect((await visitor.post('/api/auth/change-password', change)).status).toBe(200)
    expect((await visitor.ask('GET', '/api/profile')).status).toBe(200)
    expect(await busy.ask('GET', '/api/profile')).toMatchObject({ status: 401, body: { code: 'sign_in_required' } })
    expect(await busy.user()).toBeNull()
    const again = await idle.post('/api/auth/sign-in', { email, password: 'Another-2031!' })
    expect(again.body).toEqual({ step: 'DONE' })
  })

  it('Confirming another account in the same browser does not mix up the two accounts', async () => {
    const { visitor, email } = await member()
    const other = `second.${randomUUID()}@example.com`
    await visitor.post('/api/auth/sign-up', sampleMember(other))
    const confirmed = await visitor.post('/api/auth/confirm-sign-up', { email: other, code: await codeTo(other) })
    expect(confirmed).toMatchObject({ status: 200, body: { signedIn: false } })
    expect(await visitor.user()).toMatchObject({ email })
  })

  it('Rate limits do not reveal whether an account exists', async () => {
    const { email } = await member()
    const statuses = async (name: string) => {
      const found: number[] = []
      for (let turn = 0; turn < 8; turn += 1) {
        found.push((await new Visitor().post('/api/auth/forgot-password', { email: name })).status)
        found.push((await new Visitor().post('/api/auth/resend-code', { email: name })).status)
      }
      return found
    }
    expect(await statuses(email)).toEqual(await statuses(`${randomUUID()}@example.com`))
  })

  it('Only the person who signed up confirms the account, no matter who else gave the same address, and when', async () => {
    for (const how of ['in the same browser', 'in another one', 'by a code that was asked for again']) {
      const { visitor: victim, email } = await pendingMember()
      await codeTo(email)
      moveClocks({ minutes: 2 })
      const attacker = new Visitor()
      await attacker.post('/api/auth/sign-up', { ...sampleMember(email), password: 'Attacker-2030!' })
      const newest = await codeTo(email, 2)
      moveClocks({ minutes: 2 })
      const browser = how === 'in the same browser' ? victim : new Visitor()
      if (how === 'in another one') {
        const asked = await browser.post('/api/auth/confirm-sign-up', { email, code: newest })
        expect(asked).toMatchObject({
          status: 400,
          body: { code: 'password_required', issues: [{ path: 'password' }] },
        })
        const confirmed = await browser.post('/api/auth/confirm-sign-up', { email, code: newest, password })
        expect(confirmed).toMatchObject({ status: 200, body: { signedIn: true } })
      } else {
        if (browser !== victim) {
          // Signing in tells which account is meant.
          const step = await browser.post('/api/auth/sign-in', { email, password })
          expect(step.body).toEqual({ step: 'CONFIRM_SIGN_UP' })
          await browser.post('/api/auth/resend-code', { email })
        }
        const code = browser === victim ? newest : await codeTo(email, 3)
        expect((await browser.post('/api/auth/confirm-sign-up', { email, code })).status).toBe(200)
      }
      const thief = await new Visitor().post('/api/auth/sign-in', { email, password: 'Attacker-2030!' })
      expect(thief.body).toEqual({ step: 'CONFIRM_SIGN_UP' })
      const owner = await new Visitor().post('/api/auth/sign-in', { email, password })
      expect(owner.body).toEqual({ step: 'DONE' })
    }
  })

  it('Confirming in another browser needs the password, so that a stranger’s sign-up gains nothing from the reader of the mail', async () => {
    const { visitor: stranger, email } = await pendingMember()
    const reader = new Visitor()
    const confirm = async (more: object = {}) =>
      reader.post('/api/auth/confirm-sign-up', { email, code: await codeTo(email), ...more })
    const asked = { status: 400, body: { code: 'password_required', issues: [{ path: 'password' }] } }
    expect(await confirm()).toMatchObject(asked)
    // Nor by a link that names the account, nor after the code was sent again.
    await reader.post('/api/auth/resend-code', { email })
    await codeTo(email, 2)
    expect(await confirm()).toMatchObject(asked)
    expect(await confirm({ password: 'My-own-2031!' })).toMatchObject({
      status: 401,
      body: { code: 'NotAuthorizedException' },
    })
    expect((await stranger.post('/api/auth/auto-sign-in')).body).toEqual({ step: 'waiting' })

    // A reset makes the account the reader's, and the stranger's password stops working, in the waiting tab too.
    await reader.post('/api/auth/forgot-password', { email })
    const reset = { email, code: await codeTo(email, 3), password: 'My-own-2031!' }
    expect((await reader.post('/api/auth/confirm-forgot-password', reset)).status).toBe(200)
    expect((await stranger.post('/api/auth/auto-sign-in')).body['code']).toBe('NotAuthorizedException')
    expect((await stranger.post('/api/auth/confirm-sign-up', { email, code: reset.code })).status).toBe(400)
    expect((await stranger.post('/api/auth/sign-in', { email, password })).body['code']).toBe('NotAuthorizedException')
    expect(await stranger.user()).toBeNull()
    expect((await reader.post('/api/auth/sign-in', { email, password: 'My-own-2031!' })).body).toEqual({ step: 'DONE' })
  })

  it('An account can be confirmed on a phone with the password chosen at a computer, which then signs in by itself', async () => {
    const { visitor: computer, email } = await pendingMember()
    const phone = new Visitor()
    const confirmed = await phone.post('/api/auth/confirm-sign-up', { email, code: await codeTo(email), password })
    expect(confirmed.body).toEqual({ signedIn: true })
    expect((await computer.post('/api/auth/auto-sign-in')).body).toEqual({ step: 'DONE' })
  })

  describe('A sign-in that is no longer fresh', () => {
    const stale = { status: 403, body: { code: 'FreshSignInRequiredException' } }
    /** Sensitive changes. */
    const givingAway: [string, string, object | undefined][] = [
      ['PATCH', '/api/profile', { email: 'thief@example.com' }],
      ['PATCH', '/api/profile', { givenName: 'Zoë', phoneNumber: '+16505550199' }],
      ['POST', '/api/profile/mfa', { type: 'EMAIL', enabled: true }],
      ['POST', '/api/profile/mfa', { type: 'TOTP', enabled: false }],
      ['POST', '/api/profile/totp', undefined],
      ['POST', '/api/profile/passkeys/options', undefined],
      ['POST', '/api/profile/devices/any', { remembered: true }],
    ]

    it('Sensitive changes need a fresh sign-in, and harmless ones do not', async () => {
      const { visitor } = await member()
      moveClocks({ minutes: 4 })
      expect((await visitor.post('/api/profile/passkeys/options')).status).toBe(200)
      moveClocks({ minutes: 2 })
      const before = (await visitor.ask('GET', '/api/profile')).body
      for (const [method, path, body] of givingAway) expect(await visitor.ask(method, path, body)).toMatchObject(stale)
      // A renewed session is not a fresh sign-in.
      moveClocks({ hours: 2 })
      for (const [method, path, body] of givingAway) expect(await visitor.ask(method, path, body)).toMatchObject(stale)
      expect((await visitor.ask('GET', '/api/profile')).body).toEqual(before)
      expect((await visitor.ask('PATCH', '/api/profile', { givenName: 'Zoë' })).status).toBe(200)

      const guessed = await visitor.post('/api/auth/sign-in-again', { password: 'Guessed-2030!' })
      expect(guessed.body['code']).toBe('NotAuthorizedException')
      expect(await visitor.ask('PATCH', '/api/profile', { phoneNumber: '+16505550199' })).toMatchObject(stale)
      expect((await visitor.post('/api/auth/sign-in-again', { password })).body).toEqual({ step: 'DONE' })
      const changed = await visitor.ask('PATCH', '/api/profile', { phoneNumber: '+16505550199' })
      expect(changed).toMatchObject({ status: 200, body: { phoneNumber: '+16505550199' } })
      expect((await visitor.ask('GET', '/api/profile')).body['devices']).toHaveLength(1)
    })

    it('A fresh sign-in needs the second factor too, and only the signed-in user can give it', async () => {
      const { visitor, email } = await member()
      const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
      const totp = new TOTP({ secret })
      await visitor.post('/api/profile/totp/verify', { code: totp.generate({ timestamp: identityNow() }) })
      const turnOff = { type: 'TOTP', enabled: false }
      moveClocks({ minutes: 6 })
      expect(await visitor.post('/api/profile/mfa', turnOff)).toMatchObject(stale)
      const asked = await visitor.post('/api/auth/sign-in-again', { password })
      expect(asked.body).toEqual({ step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE' })
      expect(await visitor.post('/api/profile/mfa', turnOff)).toMatchObject(stale)
      // Another user has signed in, in another tab.
      const other = (await member()).visitor
      const crossed = visitor.copy()
      crossed.cookies.set('robokids-session', other.cookies.get('robokids-session') ?? '')
      const answer = { answer: totp.generate({ timestamp: identityNow() }) }
      expect((await crossed.post('/api/auth/sign-in/answer', answer)).body['code']).toBe('sign_in_step_expired')
      expect((await visitor.post('/api/auth/sign-in/answer', answer)).body).toEqual({ step: 'DONE' })
      expect((await visitor.post('/api/profile/mfa', turnOff)).body).toMatchObject({ mfa: { enabled: [] } })
      expect(await visitor.user()).toMatchObject({ email })
      expect((await new Visitor().post('/api/auth/sign-in-again', { password })).body['code']).toBe('sign_in_required')
    })

    it('Identity itself requires a fresh sign-in, whatever the BFF’s clock says', async () => {
      const { visitor } = await member()
      const { secret } = (await visitor.post('/api/profile/totp')).body as { secret: string }
      const code = new TOTP({ secret }).generate({ timestamp: identityNow() })
      expect((await visitor.post('/api/profile/totp/verify', { code })).status).toBe(200)
      moveIdentityClock({ minutes: 6 })
      for (const [method, path, body] of givingAway) {
        // Enabling another factor is not sensitive.
        if (path.endsWith('/mfa') && 'enabled' in (body ?? {}) && (body as { enabled: boolean }).enabled) continue
        const asked = path.endsWith('/any')
          ? path.replace(
              'any',
              String(((await visitor.get('/api/profile')).body['devices'] as { key: string }[])[0]?.key),
            )
          : path
        expect(await visitor.ask(method, asked, body)).toMatchObject(stale)
      }
      moveBffClock({ minutes: 6 })
    })
  })

  it('Signing out everywhere succeeds completely or fails with an error', async () => {
    const { visitor, email } = await member()
    const elsewhere = new Visitor()
    await elsewhere.post('/api/auth/sign-in', { email, password })
    visitor.bffUrl = otherBffUrl
    const signOut = () => visitor.post('/api/auth/sign-out', { everywhere: true })
    expect(await visitor.user()).toMatchObject({ email })
    await identityProxy.refuse()
    expect((await signOut()).status).toBe(503)
    await identityProxy.accept()
    identityProxy.stall()
    expect((await signOut()).status).toBe(503)
    identityProxy.resume()
    identityProxy.reset()
    expect(await visitor.user()).toMatchObject({ email })
    expect(await elsewhere.user()).toMatchObject({ email })
    expect((await signOut()).status).toBe(200)
    expect([await visitor.user(), await elsewhere.user()]).toEqual([null, null])
    // Without a known session it cannot be done.
    expect((await signOut()).body['code']).toBe('sign_in_required')
  })

  it('A browser that two people share stays known to both accounts', async () => {
    const [maren, bo] = [await member(), await member()]
    const browser = maren.visitor
    const profileOf = async () =>
      (await browser.get('/api/profile')).body as { devices: { key: string; current: boolean }[] }
    const { devices: before } = await profileOf()
    for (const { email } of [bo, maren, bo, maren]) {
      await browser.post('/api/auth/sign-out', {})
      expect((await browser.post('/api/auth/sign-in', { email, password })).body).toEqual({ step: 'DONE' })
      expect((await profileOf()).devices.filter(({ current }) => current)).toHaveLength(1)
    }
    expect((await profileOf()).devices).toMatchObject([{ key: before[0]?.key, current: true }])
    // Bo was known in his own browser, and is now in this one: once, however often he signed in.
    await browser.post('/api/auth/sign-out', {})
    await browser.post('/api/auth/sign-in', { email: bo.email, password })
    expect((await profileOf()).devices).toHaveLength(2)
    // The cookie can be read by the previous version, which stores one device.
    const opened = sealer.open(browser.cookies.get('robokids-device') ?? '', 'robokids-device')?.toString() ?? ''
    expect(JSON.parse(opened)).toMatchObject({ key: expect.any(String) as string, others: [{}] })
    await browser.ask('DELETE', '/api/profile', { password })
    await browser.post('/api/auth/sign-in', { email: maren.email, password })
    expect((await profileOf()).devices).toMatchObject([{ key: before[0]?.key, current: true }])
  })

  it('Each rejected request says what was wrong', async () => {
    const { visitor } = await member()
    for (const credential of [{}, { id: 5 }, { id: null }, { id: 'a', rawId: 'a', type: 'public-key', response: 7 }]) {
      expect((await visitor.post('/api/profile/passkeys', { credential })).status).toBe(400)
    }
    for (const email of ['a\u0000b', '\ud800', 'a b', 'x'.repeat(12_000)]) {
      const refused = await new Visitor().post('/api/auth/sign-in', { email, password })
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: 'email' }] } })
    }
  })

  it.each([
    ['sign-in', {}, 'username is required to signIn'],
    ['sign-in', { email: 'maren@example.com', password: '' }, 'password is required to signIn'],
    ['sign-up', { ...sampleMember('maren@example.com'), password: undefined }, 'password is required to signUp'],
    ['confirm-sign-up', { code: '123456' }, 'username is required to confirmSignUp'],
    ['confirm-sign-up', { email: 'maren@example.com' }, 'code is required to confirmSignUp'],
    ['sign-in/answer', {}, 'challengeResponse is required to confirmSignIn'],
  ])('The response of %s names what is missing: %j', async (path, body, message) => {
    const refused = await new Visitor().post(`/api/auth/${path}`, body)
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed', message } })
  })

  it('A sign-in step expires after three minutes', async () => {
    const { visitor, email } = await pendingMember()
    expect((await new Visitor().post('/api/auth/sign-in', { email, password })).body).toEqual({
      step: 'CONFIRM_SIGN_UP',
    })
    moveClocks({ minutes: 3 })
    const late = await visitor.post('/api/auth/auto-sign-in')
    expect(late).toMatchObject({ status: 401, body: { message: 'The account was not confirmed on time.' } })
    const unknown = await visitor.post('/api/auth/sign-in/answer', { answer: '123456' })
    expect(unknown).toMatchObject({ status: 401, body: { code: 'sign_in_step_expired' } })
  })

  it('A child or a bot that fills the hidden field gets no account', async () => {
    const email = `bot.${randomUUID()}@example.com`
    const young = await new Visitor().post('/api/auth/sign-up', { ...sampleMember(email), birthdate: '2015-01-01' })
    expect(young).toMatchObject({ status: 400, body: { issues: [{ path: 'birthdate' }] } })
    // The latest birthdate of an adult, by the school's date; a day later is too late, even where that day has already
    // begun.
    const latest = latestAdultBirthdate(new Date(bffNow()).toISOString())
    const dayAfter = Temporal.PlainDate.from(latest).add({ days: 1 }).toString()
    const almost = await new Visitor().post('/api/auth/sign-up', { ...sampleMember(email), birthdate: dayAfter })
    expect(almost).toMatchObject({ status: 400, body: { issues: [{ path: 'birthdate' }] } })
    const adult = { ...sampleMember(`adult+${randomUUID()}@example.com`), birthdate: latest }
    expect((await new Visitor().post('/api/auth/sign-up', adult)).status).toBe(200)
    const robot = await new Visitor().post('/api/auth/sign-up', { ...sampleMember(email), middle_name: 'X' })
    expect(robot.status).toBe(200)
    expect((await new Visitor().post('/api/auth/sign-in', { email, password })).body['code']).toBe(
      'NotAuthorizedException',
    )
  })
})
