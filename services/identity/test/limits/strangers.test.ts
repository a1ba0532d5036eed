import { signInLocked, type CodePurpose } from '@robokids/contracts/identity'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startIdentity, password, publicClient, type IdentityFixture } from '../fixture.ts'
import { signInClient, type Answer } from '../sign-in-client.ts'
import { deviceVerifier } from '../srp-client.ts'

let fixture: IdentityFixture
beforeAll(async () => {
  fixture = await startIdentity({ EVEN_ANSWER_MS: '1', TRUST_PROXY: 'loopback' })
})
afterAll(() => fixture.stop())
beforeEach(() => fixture.service.context.clock.set(Temporal.Now.instant()))

const wrong = 'Wrong-2030!'
let networks = 0
/** An address in a new network. */
const newNetwork = () => `10.${++networks >> 16}.${(networks >> 8) & 255}.${networks & 255}`

/** What a visitor from a network can do. */
function visitor(address: string, deviceKey?: string) {
  const call = (operation: string, input: object) =>
    fixture.call(operation, { ClientId: publicClient, ...input }, { 'x-forwarded-for': address })
  const device = deviceKey === undefined ? {} : { DEVICE_KEY: deviceKey }
  const ours = deviceKey === undefined ? {} : { DeviceKey: deviceKey }
  const begin = (AuthFlow: string, parameters: Record<string, string>) =>
    call('InitiateAuth', { AuthFlow, AuthParameters: { ...parameters, ...device } })
  return {
    call,
    signIn: (USERNAME: string, PASSWORD: string) => begin('USER_PASSWORD_AUTH', { USERNAME, PASSWORD }),
    requestCode: (USERNAME: string) => begin('USER_AUTH', { USERNAME, PREFERRED_CHALLENGE: 'EMAIL_OTP' }),
    submitCode: (USERNAME: string, { body }: Answer, EMAIL_OTP_CODE: string) =>
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

/** A successful response: tokens, or the device's proof, which a known browser gives automatically. */
const isIn = ({ status, body }: Answer) =>
  status === 200 && (body['AuthenticationResult'] !== undefined || body['ChallengeName'] === 'DEVICE_SRP_AUTH')

/** A member with a known browser and network. */
async function memberAtHome() {
  const { username, email, userId } = await fixture.member()
  const home = newNetwork()
  const answer = await visitor(home).signIn(email, password)
  const { AccessToken, NewDeviceMetadata } = answer.body['AuthenticationResult']
  const { DeviceKey, DeviceGroupKey } = NewDeviceMetadata as { DeviceKey: string; DeviceGroupKey: string }
  const DeviceSecretVerifierConfig = deviceVerifier(DeviceGroupKey, DeviceKey, 'a secret')
  const confirmed = await fixture.call('ConfirmDevice', { AccessToken, DeviceKey, DeviceSecretVerifierConfig })
  expect(confirmed.status).toBe(200)
  return { username, email, userId, home, deviceKey: DeviceKey, password }
}

/** Waits until all pending mails have been sent. */
async function mailbox(email: string, purpose: CodePurpose): Promise<string[]> {
  // Events are published in order.
  await fixture.codeFor((await fixture.signUp()).email)
  return fixture.codesTo(email, purpose)
}

const isShort = (code: string) => code.length === 6
/** More guesses would have a chance of 1 in 10,000; for an authenticator, three codes are valid at a time. */
const fewEnough = 99
const fewEnoughAtThree = 33
const compared = (answers: Answer[]) => answers.filter(({ body }) => body['__type'] === 'CodeMismatchException').length

type Visitor = ReturnType<typeof visitor>

/** Enough sequential rounds of strangers to exhaust all limits. */
async function inRounds(at: Visitor[], round: (stranger: Visitor) => Promise<Answer[]>): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let nth = 0; nth < 14; nth++) answers.push(...(await round(at[nth % at.length]!)))
  return answers
}

/** Guesses five times, with guesses that cannot be correct, so that tests are deterministic. */
const fiveTimes = (guess: (code: string) => Promise<Answer>) =>
  Array.fromAsync({ length: 5 }, (_, nth) => guess(`guess${nth}`))

/**
 * Strangers attack an account until all limits are exhausted: passwords, codes for a reset, codes of sign-ins.
 * @returns the number of guesses per kind that were compared with a code.
 */
async function attack(email: string, at: Visitor[]) {
  for (let tries = 0; tries < (at.length > 100 ? 1 : 6); tries++)
    await Promise.all(at.map((stranger) => stranger.signIn(email, wrong)))
  const resets = await inRounds(at, async (stranger) => {
    await stranger.forgot(email)
    return fiveTimes((code) => stranger.reset(email, code, wrong))
  })
  // Each requested code is mailed once; codes of twelve digits cannot be guessed.
  const before = (await mailbox(email, 'sign_in')).length
  const bySignIn: number[] = []
  await inRounds(at, async (stranger) => {
    const challenged = await stranger.requestCode(email)
    if (challenged.status !== 200) return []
    const answers = await fiveTimes((code) => stranger.submitCode(email, challenged, code))
    bySignIn.push(compared(answers))
    return answers
  })
  const mailed = (await mailbox(email, 'sign_in')).slice(before)
  expect(mailed).toHaveLength(bySignIn.length)
  const signIns = bySignIn.filter((_, nth) => isShort(mailed[nth] ?? '')).reduce((sum, n) => sum + n, 0)
  return { resets: compared(resets), signIns }
}

// One network is limited by itself; together, networks are limited per account, many of them also in their password attempts.
describe.each([1, 17, 256])('an account that strangers at %i networks attack for two days', (count) => {
  it('admits its owner everywhere within minutes, and leaves guesses at a code no chance', async () => {
    const { clock } = fixture.service.context
    const owner = await memberAtHome()
    const { email } = owner
    const strangers = Array.from({ length: count }, () => visitor(newNetwork()))
    const guesses: Awaited<ReturnType<typeof attack>>[] = []
    for (let half = 0; half < 4; half++) {
      guesses.push(await attack(email, strangers))
      // The attempts are used up: even the correct six digits do not help a stranger.
      const six = (await mailbox(email, 'password_reset')).filter(isShort)
      expect((await visitor(newNetwork()).reset(email, six.at(-1) ?? '', wrong)).status).toBe(400)

      // At home and in a known browser, the owner notices nothing.
      expect(isIn(await visitor(owner.home).signIn(email, owner.password))).toBe(true)
      const known = visitor(newNetwork(), owner.deviceKey)
      expect(isIn(await known.signIn(email, owner.password))).toBe(true)
      for (const own of [visitor(owner.home), known]) {
        const challenged = await own.requestCode(email)
        const [code = ''] = (await mailbox(email, 'sign_in')).slice(-1)
        expect(isShort(code)).toBe(true)
        expect(isIn(await own.submitCode(email, challenged, code))).toBe(true)
      }

      // In a new browser, where the password may be delayed, the owner can use a mailed code.
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
    // The owner is notified, but not each time.
    const notifications = fixture.bed.bus.all(signInLocked, (data) => data.userId === owner.userId)
    expect(notifications.length).toBeGreaterThan(0)
    expect(notifications.length).toBeLessThanOrEqual(4)
  }, 600_000)
})

describe('strangers at 17 networks', () => {
  const strangers = Array.from({ length: 17 }, () => visitor(newNetwork()))

  it('who know a password have no chance at the authenticator, and its owner can sign in with a new password', async () => {
    const { clock } = fixture.service.context
    const { email, userId } = await memberAtHome()
    const secret = await signInClient(fixture).withAuthenticator(userId)
    const answers = await inRounds(strangers, (stranger) =>
      fiveTimes(async (code) => stranger.giveTotp(email, await stranger.signIn(email, password), code)),
    )
    expect(compared(answers)).toBeGreaterThan(5)
    // The attempts of two consecutive days.
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

  it('who guess the code of a sign-up have no chance, and its owner can confirm it', async () => {
    const { email, username } = await fixture.signUp()
    const confirm = (by: Visitor, ConfirmationCode: string) =>
      by.call('ConfirmSignUp', { Username: username, ConfirmationCode })
    const answers = await inRounds(strangers, async (stranger) => {
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

  it('get the same response once the attempts of a day are used up, whether the email has an account or not', async () => {
    const addresses = [(await fixture.member()).email, (await fixture.signUp()).email, `nobody-${networks}@example.com`]
    const responses = []
    for (const email of addresses) {
      const resets = await inRounds(strangers, async (stranger) => {
        await stranger.forgot(email)
        return fiveTimes((code) => stranger.reset(email, code, wrong))
      })
      const signIns = await inRounds(strangers, async (stranger) => {
        const challenged = await stranger.requestCode(email)
        return [challenged, await stranger.submitCode(email, challenged, 'guess')]
      })
      responses.push(JSON.stringify([...resets, ...signIns].map(({ status, body }) => [status, body['__type']])))
    }
    expect(new Set(responses).size).toBe(1)
    expect(responses[0]).toContain('ExpiredCodeException')
  })

  it('who claim an email with many accounts have no chance to verify it, and its owner can verify it', async () => {
    const email = `claimed-${networks}@example.com`
    const claim = async () => {
      const { username } = await fixture.member()
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
  it('of one stranger, each after its delay, lock nobody out elsewhere, however long they continue', async () => {
    const { clock } = fixture.service.context
    const { username } = await fixture.member()
    const stranger = visitor(newNetwork())
    for (let tries = 0; tries < 150; tries++) {
      expect((await stranger.signIn(username, wrong)).body['message']).toBe('Incorrect username or password.')
      clock.advance({ minutes: 15, seconds: 1 })
    }
    expect(isIn(await visitor(newNetwork()).signIn(username, password))).toBe(true)
  })

  it('of strangers do not block other factors', async () => {
    const { email } = await fixture.member()
    for (let network = 0; network < 101; network++) await visitor(newNetwork()).signIn(email, wrong)
    const away = visitor(newNetwork())
    expect((await away.signIn(email, password)).body['message']).toBe('Password attempts exceeded')
    const challenged = await away.requestCode(email)
    const [code = ''] = (await mailbox(email, 'sign_in')).slice(-1)
    expect(isIn(await away.submitCode(email, challenged, code))).toBe(true)
  })

  it('are checked as rarely when concurrent, and do not disclose a correct one', async () => {
    const { username } = await fixture.member()
    const stranger = visitor(newNetwork())
    const tried = [...Array.from({ length: 40 }, (_, nth) => `Wrong-${nth}!`), password]
    const answers = await Promise.all(tried.map((one) => stranger.signIn(username, one)))
    const looked = answers.filter(({ body }) => body['message'] === 'Incorrect username or password.')
    expect(looked.length).toBeLessThanOrEqual(6)
  })
})
