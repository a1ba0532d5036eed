import { signInLocked, type CodePurpose } from '@robokids/contracts/identity'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openFrontDesk, password, publicClient, type FrontDesk } from '../front-desk.ts'
import { signInsAt, type Answer } from '../sign-ins.ts'
import { deviceVerifier } from '../srp-client.ts'

let desk: FrontDesk
beforeAll(async () => {
  desk = await openFrontDesk({ EVEN_ANSWER_MS: '1', TRUST_PROXY: 'loopback' })
})
afterAll(() => desk.stop())
beforeEach(() => desk.service.context.clock.set(Temporal.Now.instant()))

const wrong = 'Wrong-2030!'
let networks = 0
/** An address of a network that nobody has come from. */
const newNetwork = () => `10.${++networks >> 16}.${(networks >> 8) & 255}.${networks & 255}`

/** What somebody at a network can do about an account. */
function visitor(address: string, deviceKey?: string) {
  const call = (operation: string, input: object) =>
    desk.call(operation, { ClientId: publicClient, ...input }, { 'x-forwarded-for': address })
  const device = deviceKey === undefined ? {} : { DEVICE_KEY: deviceKey }
  const ours = deviceKey === undefined ? {} : { DeviceKey: deviceKey }
  const begin = (AuthFlow: string, parameters: Record<string, string>) =>
    call('InitiateAuth', { AuthFlow, AuthParameters: { ...parameters, ...device } })
  return {
    call,
    signIn: (USERNAME: string, PASSWORD: string) => begin('USER_PASSWORD_AUTH', { USERNAME, PASSWORD }),
    askCode: (USERNAME: string) => begin('USER_AUTH', { USERNAME, PREFERRED_CHALLENGE: 'EMAIL_OTP' }),
    giveCode: (USERNAME: string, { body }: Answer, EMAIL_OTP_CODE: string) =>
      call('RespondToAuthChallenge', {
        ChallengeName: 'EMAIL_OTP',
        Session: body['Session'],
        ChallengeResponses: { USERNAME, EMAIL_OTP_CODE },
      }),
    giveTotp: (USERNAME: string, { body }: Answer, SOFTWARE_TOKEN_MFA_CODE: string) =>
      call('RespondToAuthChallenge', {
        ChallengeName: 'SOFTWARE_TOKEN_MFA',
        Session: body['Session'],
        ChallengeResponses: { USERNAME, SOFTWARE_TOKEN_MFA_CODE },
      }),
    forgot: (Username: string) => call('ForgotPassword', { Username, ...ours }),
    reset: (Username: string, ConfirmationCode: string, Password: string) =>
      call('ConfirmForgotPassword', { Username, ConfirmationCode, Password, ...ours }),
  }
}

/** An answer that lets on: tokens, or the proof of the device, which a browser that is known gives by itself. */
const isIn = ({ status, body }: Answer) =>
  status === 200 && (body['AuthenticationResult'] !== undefined || body['ChallengeName'] === 'DEVICE_SRP_AUTH')

/** A member with a browser that is known to the account, and a network that is. */
async function memberAtHome() {
  const { username, email, userId } = await desk.member()
  const home = newNetwork()
  const answer = await visitor(home).signIn(email, password)
  const { AccessToken, NewDeviceMetadata } = answer.body['AuthenticationResult']
  const { DeviceKey, DeviceGroupKey } = NewDeviceMetadata as { DeviceKey: string; DeviceGroupKey: string }
  const DeviceSecretVerifierConfig = deviceVerifier(DeviceGroupKey, DeviceKey, 'a secret')
  const confirmed = await desk.call('ConfirmDevice', { AccessToken, DeviceKey, DeviceSecretVerifierConfig })
  expect(confirmed.status).toBe(200)
  return { username, email, userId, home, deviceKey: DeviceKey, password }
}

/** Waits until all that was to be mailed so far has been. */
async function mailbox(email: string, purpose: CodePurpose): Promise<string[]> {
  // Events leave in the order in which they happened.
  await desk.codeFor((await desk.signUp()).email)
  return desk.codesTo(email, purpose)
}

const isShort = (code: string) => code.length === 6
/** More guesses than these would have one chance in 10,000, or of an authenticator, where three codes are right at a time. */
const fewEnough = 99
const fewEnoughAtThree = 33
const compared = (answers: Answer[]) => answers.filter(({ body }) => body['__type'] === 'CodeMismatchException').length

type Visitor = ReturnType<typeof visitor>

/** So many turns of strangers, one after the other: more would find everything used up. */
async function inTurns(at: Visitor[], turn: (stranger: Visitor) => Promise<Answer[]>): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let nth = 0; nth < 14; nth++) answers.push(...(await turn(at[nth % at.length]!)))
  return answers
}

/** Guesses five times. The guess is none that can be right: tests are to come out the same. */
const fiveTimes = (guess: (code: string) => Promise<Answer>) =>
  Array.fromAsync({ length: 5 }, (_, nth) => guess(`guess${nth}`))

/**
 * Strangers do to an account what they can until it leads nowhere: passwords, codes for a new password, codes of sign-ins.
 * @returns how many of their guesses of each kind were compared with a code.
 */
async function attack(email: string, at: Visitor[]) {
  for (let tries = 0; tries < (at.length > 100 ? 1 : 6); tries++)
    await Promise.all(at.map((stranger) => stranger.signIn(email, wrong)))
  const resets = await inTurns(at, async (stranger) => {
    await stranger.forgot(email)
    return fiveTimes((code) => stranger.reset(email, code, wrong))
  })
  // Each that was asked for is mailed once: those of twelve digits are no good to guess at.
  const before = (await mailbox(email, 'sign_in')).length
  const bySignIn: number[] = []
  await inTurns(at, async (stranger) => {
    const asked = await stranger.askCode(email)
    if (asked.status !== 200) return []
    const answers = await fiveTimes((code) => stranger.giveCode(email, asked, code))
    bySignIn.push(compared(answers))
    return answers
  })
  const mailed = (await mailbox(email, 'sign_in')).slice(before)
  expect(mailed).toHaveLength(bySignIn.length)
  const signIns = bySignIn.filter((_, nth) => isShort(mailed[nth] ?? '')).reduce((sum, n) => sum + n, 0)
  return { resets: compared(resets), signIns }
}

// One uses up what a network may do; together, they use up what an account is asked for, and its passwords with it.
describe.each([1, 17, 256])('an account that strangers at %i networks attack for two days', (count) => {
  it('lets its owner in everywhere within minutes, and leaves a guess at a code no chance', async () => {
    const { clock } = desk.service.context
    const owner = await memberAtHome()
    const { email } = owner
    const strangers = Array.from({ length: count }, () => visitor(newNetwork()))
    const guesses: Awaited<ReturnType<typeof attack>>[] = []
    for (let half = 0; half < 4; half++) {
      guesses.push(await attack(email, strangers))
      // The tries are used up: the right six digits are of no use to a stranger either.
      const six = (await mailbox(email, 'password_reset')).filter(isShort)
      expect((await visitor(newNetwork()).reset(email, six.at(-1) ?? '', wrong)).status).toBe(400)

      // At home and in a browser that is known there is nothing to be noticed.
      expect(isIn(await visitor(owner.home).signIn(email, owner.password))).toBe(true)
      const known = visitor(newNetwork(), owner.deviceKey)
      expect(isIn(await known.signIn(email, owner.password))).toBe(true)
      for (const own of [visitor(owner.home), known]) {
        const asked = await own.askCode(email)
        const [code = ''] = (await mailbox(email, 'sign_in')).slice(-1)
        expect(isShort(code)).toBe(true)
        expect(isIn(await own.giveCode(email, asked, code))).toBe(true)
      }

      // In a new browser, where the password may have to wait, there is the mailbox.
      const away = visitor(newNetwork())
      expect((await away.forgot(email)).status).toBe(200)
      const [code = ''] = (await mailbox(email, 'password_reset')).slice(-1)
      const renewed = `Robot-${half}-2031!`
      expect(await away.reset(email, code, renewed)).toEqual({ status: 200, body: {} })
      owner.password = renewed
      expect(isIn(await away.signIn(email, renewed))).toBe(true)
      clock.advance({ hours: 12 })
    }
    for (const kind of ['resets', 'signIns'] as const) {
      const counts = guesses.map((one) => one[kind])
      if (kind === 'resets') expect(Math.max(...counts)).toBeGreaterThan(30)
      for (const [half, made] of counts.entries()) expect(made + (counts[half + 1] ?? 0)).toBeLessThanOrEqual(fewEnough)
    }
    // The owner is told, and not each time.
    const told = desk.bed.bus.all(signInLocked, (data) => data.userId === owner.userId)
    expect(told.length).toBeGreaterThan(0)
    expect(told.length).toBeLessThanOrEqual(4)
  }, 600_000)
})

describe('strangers at 17 networks', () => {
  const strangers = Array.from({ length: 17 }, () => visitor(newNetwork()))

  it('who know a password get no chance at the authenticator, and its owner gets in with a new password', async () => {
    const { clock } = desk.service.context
    const { email, userId } = await memberAtHome()
    const secret = await signInsAt(desk).withAuthenticator(userId)
    const answers = await inTurns(strangers, (stranger) =>
      fiveTimes(async (code) => stranger.giveTotp(email, await stranger.signIn(email, password), code)),
    )
    expect(compared(answers)).toBeGreaterThan(5)
    // Those of two days that meet at midnight.
    expect(compared(answers) * 2).toBeLessThanOrEqual(fewEnoughAtThree)
    const away = visitor(newNetwork())
    const right = () =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.now().epochMilliseconds })
    const refused = await away.giveTotp(email, await away.signIn(email, password), right())
    expect(refused.body['__type']).toBe('LimitExceededException')
    await away.forgot(email)
    const [code = ''] = (await mailbox(email, 'password_reset')).slice(-1)
    expect((await away.reset(email, code, 'Robot-2032!')).status).toBe(200)
    expect(isIn(await away.giveTotp(email, await away.signIn(email, 'Robot-2032!'), right()))).toBe(true)
  })

  it('who guess at the code of a sign-up get no chance, and whoever signed up confirms it', async () => {
    const { email, username } = await desk.signUp()
    const confirm = (by: Visitor, ConfirmationCode: string) =>
      by.call('ConfirmSignUp', { Username: username, ConfirmationCode })
    const answers = await inTurns(strangers, async (stranger) => {
      await stranger.call('ResendConfirmationCode', { Username: username })
      return fiveTimes((code) => confirm(stranger, code))
    })
    expect(compared(answers)).toBeLessThanOrEqual(fewEnough / 2)
    const newcomer = visitor(newNetwork())
    const [first = ''] = await mailbox(email, 'sign_up')
    expect((await confirm(newcomer, first)).status).toBe(400)
    expect((await newcomer.call('ResendConfirmationCode', { Username: username })).status).toBe(200)
    const [code = ''] = (await mailbox(email, 'sign_up')).slice(-1)
    expect(isShort(code)).toBe(false)
    expect((await confirm(newcomer, `${code.slice(0, 6)} ${code.slice(6)}`)).status).toBe(200)
  })

  it('are told alike that the tries of a day are used up, whoever has the address', async () => {
    const addresses = [(await desk.member()).email, (await desk.signUp()).email, `nobody-${networks}@example.com`]
    const told = []
    for (const email of addresses) {
      const resets = await inTurns(strangers, async (stranger) => {
        await stranger.forgot(email)
        return fiveTimes((code) => stranger.reset(email, code, wrong))
      })
      const signIns = await inTurns(strangers, async (stranger) => {
        const asked = await stranger.askCode(email)
        return [asked, await stranger.giveCode(email, asked, 'guess')]
      })
      told.push(JSON.stringify([...resets, ...signIns].map(({ status, body }) => [status, body['__type']])))
    }
    expect(new Set(told).size).toBe(1)
    expect(told[0]).toContain('ExpiredCodeException')
  })

  it('who claim an address with many accounts get no chance at proving it, and whose it is proves it', async () => {
    const email = `claimed-${networks}@example.com`
    const claim = async () => {
      const { username } = await desk.member()
      const at = visitor(newNetwork())
      const { AccessToken } = (await at.signIn(username, password)).body['AuthenticationResult']
      const claimed = await at.call('UpdateUserAttributes', {
        AccessToken,
        UserAttributes: [{ Name: 'email', Value: email }],
      })
      expect(claimed.status).toBe(200)
      return (Code: string) => at.call('VerifyUserAttribute', { AccessToken, AttributeName: 'email', Code })
    }
    const answers: Answer[] = []
    for (let account = 0; account < 9; account++) answers.push(...(await fiveTimes(await claim())))
    expect(compared(answers)).toBeLessThanOrEqual(fewEnough / 2)
    const own = await claim()
    const [code = ''] = (await mailbox(email, 'attribute')).slice(-1)
    expect(isShort(code)).toBe(false)
    expect((await own(code)).status).toBe(200)
  })
})

describe('wrong passwords', () => {
  it('of one stranger, each after its wait, keep nobody out elsewhere, however long they go on', async () => {
    const { clock } = desk.service.context
    const { username } = await desk.member()
    const stranger = visitor(newNetwork())
    for (let tries = 0; tries < 150; tries++) {
      expect((await stranger.signIn(username, wrong)).body['message']).toBe('Incorrect username or password.')
      clock.advance({ minutes: 15, seconds: 1 })
    }
    expect(isIn(await visitor(newNetwork()).signIn(username, password))).toBe(true)
  })

  it('of strangers do not stand in the way of other ways in', async () => {
    const { email } = await desk.member()
    for (let network = 0; network < 101; network++) await visitor(newNetwork()).signIn(email, wrong)
    const away = visitor(newNetwork())
    expect((await away.signIn(email, password)).body['message']).toBe('Password attempts exceeded')
    const asked = await away.askCode(email)
    const [code = ''] = (await mailbox(email, 'sign_in')).slice(-1)
    expect(isIn(await away.giveCode(email, asked, code))).toBe(true)
  })

  it('many at once are looked at as few times as one after the other, and nobody learns that one of them was right', async () => {
    const { username } = await desk.member()
    const stranger = visitor(newNetwork())
    const tried = [...Array.from({ length: 40 }, (_, nth) => `Wrong-${nth}!`), password]
    const answers = await Promise.all(tried.map((one) => stranger.signIn(username, one)))
    const looked = answers.filter(({ body }) => body['message'] === 'Incorrect username or password.')
    expect(looked.length).toBeLessThanOrEqual(6)
  })
})
