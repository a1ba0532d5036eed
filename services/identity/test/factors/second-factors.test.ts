import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aliases, pools, users } from '../../src/schema.ts'
import { startIdentity, password, publicClient, type IdentityFixture } from '../fixture.ts'
import { claimsOf, signInClient, tokensOf, type Answer } from '../sign-in-client.ts'
import { startSrp } from '../srp-client.ts'

let fixture: IdentityFixture
let at: ReturnType<typeof signInClient>
/** A pool that requires a second factor. */
let strict: ReturnType<typeof signInClient>
let strictClient: string
beforeAll(async () => {
  fixture = await startIdentity()
  at = signInClient(fixture)
  const { clientId, poolId } = await fixture.pool()
  const [pool] = await fixture.service.context.db.select().from(pools).where(eq(pools.id, poolId))
  await fixture.service.context.db
    .update(pools)
    .set({ settings: { ...pool!.settings, mfa: 'ON', mfaFactors: ['SOFTWARE_TOKEN_MFA', 'SMS_MFA', 'EMAIL_OTP'] } })
    .where(eq(pools.id, poolId))
  strictClient = clientId
  strict = signInClient(fixture, clientId, poolId)
})
afterAll(() => fixture.stop())

/** The code of an authenticator, a number of 30 s steps from now. */
function codeOf(secret: string, steps = 0): string {
  const timestamp = fixture.service.context.clock.now().epochMilliseconds + steps * 30_000
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
}

const mismatch = { status: 400, body: { __type: 'CodeMismatchException' } }

describe('SOFTWARE_TOKEN_MFA', () => {
  const answer = (name: string, challenged: Answer, SOFTWARE_TOKEN_MFA_CODE: string) =>
    at.answer('SOFTWARE_TOKEN_MFA', challenged, { USERNAME: name, SOFTWARE_TOKEN_MFA_CODE })

  it('accepts a current code, or one that is one step off, once', async () => {
    const { username, userId } = await fixture.member()
    const secret = await at.withAuthenticator(userId)
    const challenged = await at.bySrp(username)
    expect(challenged.body).toMatchObject({ ChallengeName: 'SOFTWARE_TOKEN_MFA' })
    expect(await answer(username, challenged, codeOf(secret, -3))).toMatchObject(mismatch)
    expect(await answer(username, challenged, codeOf(secret, 3))).toMatchObject(mismatch)
    expect(await answer(username, challenged, '12345')).toMatchObject(mismatch)
    const code = codeOf(secret, -1)
    expect((await answer(username, challenged, code)).status).toBe(200)
    expect(await answer(username, await at.byPassword(username), code)).toMatchObject(mismatch)
    expect((await answer(username, await at.byPassword(username), codeOf(secret, 1))).status).toBe(200)
    // Codes before an accepted one count as used as well.
    expect(await answer(username, await at.byPassword(username), codeOf(secret))).toMatchObject(mismatch)
  })

  it('accepts a code once under concurrent sign-ins', async () => {
    const { username, userId } = await fixture.member()
    const secret = await at.withAuthenticator(userId)
    const challenged = await Promise.all(Array.from({ length: 5 }, () => at.byPassword(username)))
    const code = codeOf(secret)
    const answers = await Promise.all(challenged.map((step) => answer(username, step, code)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400, 400, 400])
  })

  it('does not reset the guess limit for a new sign-in', async () => {
    const { username, userId } = await fixture.member()
    const secret = await at.withAuthenticator(userId)
    for (let failures = 0; failures < 10; failures++) {
      expect(await answer(username, await at.byPassword(username), '000000')).toMatchObject(mismatch)
    }
    const right = await answer(username, await at.byPassword(username), codeOf(secret))
    expect(right.body['__type']).toBe('LimitExceededException')
  })
})

describe('MFA by code', () => {
  it('sends a text message to the verified number', async () => {
    const phone = `+1415${String(Date.now()).slice(-7)}`
    const { username, userId, email } = await fixture.member()
    await at.change(userId, {
      mfa: ['SMS_MFA'],
      attributes: { email, email_verified: 'true', phone_number: phone, phone_number_verified: 'true' },
    })
    const challenged = await at.byPassword(username)
    expect(challenged.body).toMatchObject({
      ChallengeName: 'SMS_MFA',
      ChallengeParameters: {
        CODE_DELIVERY_DELIVERY_MEDIUM: 'SMS',
        CODE_DELIVERY_DESTINATION: `+*******${phone.slice(-4)}`,
      },
    })
    const SMS_MFA_CODE = await fixture.codeFor(phone)
    expect((await at.answer('SMS_MFA', challenged, { USERNAME: username, SMS_MFA_CODE })).status).toBe(200)
  })

  it('uses the verified number until its successor is verified, and is never skipped', async () => {
    const [phone, next] = ['1', '2'].map((digit) => `+141${digit}${String(Date.now()).slice(-7)}`) as [string, string]
    const { username, userId, email } = await fixture.member()
    const verified = { email, email_verified: 'true', phone_number: phone, phone_number_verified: 'true' }
    await at.change(userId, { attributes: verified })
    const { AccessToken } = tokensOf(await at.byPassword(username))
    await at.change(userId, { mfa: ['SMS_MFA'] })
    const moved = { AccessToken, UserAttributes: [{ Name: 'phone_number', Value: next }] }
    const challenged = async () =>
      (await at.byPassword(username)).body['ChallengeParameters']?.CODE_DELIVERY_DESTINATION
    for (let turn = 0; turn < 2; turn++) {
      expect(await fixture.call('UpdateUserAttributes', moved)).toMatchObject({ status: 200 })
      expect(await challenged()).toBe(`+*******${phone.slice(-4)}`)
    }
    await fixture.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName: 'phone_number' })
    const Code = await fixture.codeFor(next)
    await fixture.call('VerifyUserAttribute', { AccessToken, AttributeName: 'phone_number', Code })
    await fixture.codeFor(phone, 1)
    expect(await at.byPassword(username)).toMatchObject({ body: { ChallengeName: 'SMS_MFA' } })
    await fixture.codeFor(next, 1)

    // Without a verified number, another factor is required, or the sign-in is rejected.
    await at.change(userId, { attributes: { ...verified, phone_number_verified: 'false' } })
    expect(await at.byPassword(username)).toMatchObject({ body: { ChallengeName: 'EMAIL_OTP' } })
    await at.change(userId, { attributes: {} })
    await fixture.service.context.db.delete(aliases).where(eq(aliases.userId, userId))
    expect(await at.byPassword(username)).toMatchObject({ body: { __type: 'MFAMethodNotFoundException' } })
  })

  it('offers a choice of several factors, or uses the preferred one', async () => {
    const { username, userId, email } = await fixture.member()
    const secret = await at.withAuthenticator(userId)
    await at.change(userId, { mfa: ['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'] })
    const challenged = await at.byPassword(username)
    expect(challenged.body['ChallengeName']).toBe('SELECT_MFA_TYPE')
    expect(JSON.parse(challenged.body['ChallengeParameters'].MFAS_CAN_CHOOSE)).toEqual([
      'SOFTWARE_TOKEN_MFA',
      'EMAIL_OTP',
    ])
    expect((await at.answer('SELECT_MFA_TYPE', challenged, { USERNAME: username, ANSWER: 'SMS_MFA' })).status).toBe(400)
    const sent = fixture.codesFor(email)
    const mail = await at.answer('SELECT_MFA_TYPE', challenged, { USERNAME: username, ANSWER: 'EMAIL_OTP' })
    const EMAIL_OTP_CODE = await fixture.codeFor(email, sent)
    expect((await at.answer('EMAIL_OTP', mail, { USERNAME: username, EMAIL_OTP_CODE })).status).toBe(200)
    await at.change(userId, { preferredMfa: 'SOFTWARE_TOKEN_MFA' })
    const preferred = await at.byPassword(username)
    const SOFTWARE_TOKEN_MFA_CODE = codeOf(secret)
    expect(
      (await at.answer('SOFTWARE_TOKEN_MFA', preferred, { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE })).status,
    ).toBe(200)
  })

  it('can switch to another factor of the account, but not to one that it does not have', async () => {
    const { username, userId, email } = await fixture.member()
    const secret = await at.withAuthenticator(userId)
    await at.change(userId, { mfa: ['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'], preferredMfa: 'SOFTWARE_TOKEN_MFA' })
    const instead = (challenge: string, challenged: Answer, ANSWER: string) =>
      at.answer(challenge, challenged, { USERNAME: username, ANSWER })
    const challenged = await at.byPassword(username)
    const choices = JSON.stringify(['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'])
    const shownChoices = { ChallengeParameters: { MFAS_CAN_CHOOSE: choices } }
    expect(challenged.body).toMatchObject({ ChallengeName: 'SOFTWARE_TOKEN_MFA', ...shownChoices })
    for (const none of ['SMS_MFA', 'EMAIL', 'toString', 'SELECT_MFA_TYPE'])
      expect(await instead('SOFTWARE_TOKEN_MFA', challenged, none)).toMatchObject({ status: 400 })
    const sent = fixture.codesFor(email)
    const mail = await instead('SOFTWARE_TOKEN_MFA', challenged, 'EMAIL_OTP')
    expect(mail.body).toMatchObject({ ChallengeName: 'EMAIL_OTP', ...shownChoices })
    // The previous step has ended.
    expect((await instead('SOFTWARE_TOKEN_MFA', challenged, 'EMAIL_OTP')).status).toBe(400)
    const back = await instead('EMAIL_OTP', mail, 'SOFTWARE_TOKEN_MFA')
    expect(back.body).toMatchObject({ ChallengeName: 'SOFTWARE_TOKEN_MFA', ...shownChoices })
    const other = { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE: codeOf(secret, 3) }
    expect(await at.answer('SOFTWARE_TOKEN_MFA', back, other)).toMatchObject(mismatch)
    const again = await instead('SOFTWARE_TOKEN_MFA', back, 'EMAIL_OTP')
    const EMAIL_OTP_CODE = await fixture.codeFor(email, sent + 1)
    expect((await at.answer('EMAIL_OTP', again, { USERNAME: username, EMAIL_OTP_CODE })).status).toBe(200)

    // A code as the first factor does not bypass the second, and a single factor offers no choice.
    const first = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    expect((await instead('EMAIL_OTP', first, 'SOFTWARE_TOKEN_MFA')).status).toBe(400)
    await at.change(userId, { mfa: ['SOFTWARE_TOKEN_MFA'] })
    const alone = await at.byPassword(username)
    expect(alone.body['ChallengeParameters']).not.toHaveProperty('MFAS_CAN_CHOOSE')
    expect((await instead('SOFTWARE_TOKEN_MFA', alone, 'EMAIL_OTP')).status).toBe(400)
  })

  it('does not accept a mail code as both factors', async () => {
    const { username, userId, email } = await fixture.member()
    await at.change(userId, { mfa: ['EMAIL_OTP'] })
    // The error comes only after the code, so that the second factor is not disclosed to others.
    let sent = fixture.codesFor(email)
    const select = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    const first = { USERNAME: username, EMAIL_OTP_CODE: await fixture.codeFor(email, sent) }
    expect((await at.answer('EMAIL_OTP', select, first)).body['__type']).toBe('MFAMethodNotFoundException')
    sent = fixture.codesFor(email)
    const custom = await at.begin('CUSTOM_AUTH', { USERNAME: username })
    const ANSWER = await fixture.codeFor(email, sent)
    const alone = await at.answer('CUSTOM_CHALLENGE', custom, { USERNAME: username, ANSWER })
    expect(alone.body['__type']).toBe('MFAMethodNotFoundException')
    const secret = await at.withAuthenticator(userId)
    await at.change(userId, { mfa: ['EMAIL_OTP', 'SOFTWARE_TOKEN_MFA'], preferredMfa: 'EMAIL_OTP' })
    const again = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    const EMAIL_OTP_CODE = await fixture.codeFor(email, sent + 1)
    const second = await at.answer('EMAIL_OTP', again, { USERNAME: username, EMAIL_OTP_CODE })
    expect(second.body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
    const SOFTWARE_TOKEN_MFA_CODE = codeOf(secret)
    expect(
      (await at.answer('SOFTWARE_TOKEN_MFA', second, { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE })).status,
    ).toBe(200)
  })
})

describe('a password that was reset by mail, with codes by mail as the second factor', () => {
  /** @returns a member, with the options of a stranger who has access to the mailbox. */
  async function reset(more: Partial<typeof users.$inferInsert> = {}) {
    const person = await fixture.member()
    await at.change(person.userId, { mfa: ['EMAIL_OTP'], ...more })
    const Password = 'Mailbox-2031!'
    const sent = fixture.codesFor(person.email)
    await fixture.call('ForgotPassword', { ClientId: publicClient, Username: person.email })
    const ConfirmationCode = await fixture.codeFor(person.email, sent)
    const given = { ClientId: publicClient, Username: person.email, ConfirmationCode, Password }
    expect(await fixture.call('ConfirmForgotPassword', given)).toMatchObject({ status: 200 })
    return { ...person, Password }
  }

  it('cannot be combined with a second code from that mailbox in any flow', async () => {
    const { username, email, Password } = await reset()
    const refused = { body: { __type: 'MFAMethodNotFoundException' } }
    expect(await at.byPassword(username, {}, Password)).toMatchObject(refused)
    expect(await at.bySrp(username, Password)).toMatchObject(refused)
    const chosen = { USERNAME: email, PREFERRED_CHALLENGE: 'PASSWORD', PASSWORD: Password }
    expect(await at.begin('USER_AUTH', chosen)).toMatchObject(refused)
    const srp = startSrp()
    const parameters = { USERNAME: username, CHALLENGE_NAME: 'SRP_A', SRP_A: srp.A }
    const challenged = await at.begin('CUSTOM_AUTH', parameters)
    const sent = fixture.codesFor(email)
    const mailed = await at.prove(srp, challenged, Password)
    const ANSWER = await fixture.codeFor(email, sent)
    expect(await at.answer('CUSTOM_CHALLENGE', mailed, { USERNAME: username, ANSWER })).toMatchObject(refused)
  })

  it('can be combined with another factor, and after that with a mail code again', async () => {
    const phone = `+1650${randomUUID().replaceAll(/\D/g, '').padEnd(7, '0').slice(0, 7)}`
    const { username, userId, email, Password } = await reset()
    await at.change(userId, {
      attributes: { email, email_verified: 'true', phone_number: phone, phone_number_verified: 'true' },
    })
    // A sign-in without the password does not prove its possession.
    const first = await at.begin('USER_AUTH', { USERNAME: email, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    const EMAIL_OTP_CODE = await fixture.codeFor(email, 2)
    const texted = await at.answer('EMAIL_OTP', first, { USERNAME: username, EMAIL_OTP_CODE })
    const owner = { USERNAME: username, SMS_MFA_CODE: await fixture.codeFor(phone) }
    expect(await at.answer('SMS_MFA', texted, owner)).toMatchObject({ status: 200 })
    const challenged = await at.byPassword(username, {}, Password)
    expect(challenged.body['ChallengeName']).toBe('SMS_MFA')
    const SMS_MFA_CODE = await fixture.codeFor(phone, 1)
    expect(await at.answer('SMS_MFA', challenged, { USERNAME: username, SMS_MFA_CODE })).toMatchObject({ status: 200 })
    expect((await at.byPassword(username, {}, Password)).body['ChallengeName']).toBe('EMAIL_OTP')
  })

  it('requires the other second factor if there are two', async () => {
    const { username, userId, Password } = await reset()
    const secret = await at.withAuthenticator(userId)
    await at.change(userId, { mfa: ['EMAIL_OTP', 'SOFTWARE_TOKEN_MFA'], preferredMfa: 'EMAIL_OTP' })
    const challenged = await at.byPassword(username, {}, Password)
    expect(challenged.body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
    const given = { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE: codeOf(secret) }
    expect(await at.answer('SOFTWARE_TOKEN_MFA', challenged, given)).toMatchObject({ status: 200 })
  })

  it('does not block users who enable the second factor afterwards', async () => {
    const { username, userId, Password } = await reset({ mfa: [] })
    expect(await at.byPassword(username, {}, Password)).toMatchObject({ status: 200 })
    await at.change(userId, { mfa: ['EMAIL_OTP'] })
    expect((await at.byPassword(username, {}, Password)).body['ChallengeName']).toBe('EMAIL_OTP')
  })
})

describe('MFA_SETUP', () => {
  /** An account without a second factor. */
  async function bare() {
    const person = await fixture.member(strictClient)
    await fixture.service.context.db.execute(`delete from aliases where user_id = '${person.userId}'`)
    await strict.change(person.userId, { attributes: { given_name: 'Maren' }, emailKey: null })
    return person
  }

  it('sets up an authenticator with the challenge session, and does not accept its first code again', async () => {
    const { username, userId } = await bare()
    const challenged = await strict.bySrp(username)
    expect(challenged.body['ChallengeName']).toBe('MFA_SETUP')
    expect(JSON.parse(challenged.body['ChallengeParameters'].MFAS_CAN_SETUP)).toEqual([
      'SOFTWARE_TOKEN_MFA',
      'EMAIL_OTP',
    ])
    expect((await strict.answer('MFA_SETUP', challenged, { USERNAME: username })).status).toBe(400)
    const { body: associated } = await fixture.call('AssociateSoftwareToken', { Session: challenged.body['Session'] })
    const secret = String(associated['SecretCode'])
    const verify = (UserCode: string) =>
      fixture.call('VerifySoftwareToken', { Session: associated['Session'], UserCode, FriendlyDeviceName: 'phone' })
    expect((await verify(codeOf(secret, 5))).body['__type']).toBe('EnableSoftwareTokenMFAException')
    const code = codeOf(secret, -1)
    const verified = await verify(code)
    expect(verified.body['Status']).toBe('SUCCESS')
    const done = await strict.answer('MFA_SETUP', verified, { USERNAME: username })
    expect(claimsOf(tokensOf(done)['AccessToken'])).toMatchObject({ sub: userId })
    const next = await strict.byPassword(username)
    expect(next.body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
    const answer = (SOFTWARE_TOKEN_MFA_CODE: string) =>
      strict.answer('SOFTWARE_TOKEN_MFA', next, { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE })
    expect(await answer(code)).toMatchObject(mismatch)
    expect((await answer(codeOf(secret))).status).toBe(200)
  })

  it('sets up an email', async () => {
    const { username, userId } = await bare()
    const email = `${randomUUID()}@example.com`
    const challenged = await strict.byPassword(username)
    expect((await strict.answer('MFA_SETUP', challenged, { USERNAME: username, EMAIL: 'no address' })).status).toBe(400)
    const sent = await strict.answer('MFA_SETUP', challenged, { USERNAME: username, EMAIL: email })
    expect(sent.body['ChallengeName']).toBe('EMAIL_OTP')
    const EMAIL_OTP_CODE = await fixture.codeFor(email)
    const done = await strict.answer('EMAIL_OTP', sent, { USERNAME: username, EMAIL_OTP_CODE })
    expect(claimsOf(tokensOf(done)['IdToken'])).toMatchObject({ sub: userId, email, email_verified: true })
    const next = await strict.byPassword(username)
    expect(next.body['ChallengeName']).toBe('EMAIL_OTP')
    const [user] = await fixture.service.context.db.select().from(users).where(eq(users.id, userId))
    expect(user).toMatchObject({ mfa: ['EMAIL_OTP'] })
  })

  it('is not offered if there is a second factor, nor in another step', async () => {
    const { username, email } = await fixture.member(strictClient)
    const challenged = await strict.byPassword(username)
    expect(challenged.body['ChallengeName']).toBe('EMAIL_OTP')
    for (const operation of ['AssociateSoftwareToken', 'VerifySoftwareToken']) {
      const { body } = await fixture.call(operation, { Session: challenged.body['Session'], UserCode: '123456' })
      expect(body['message']).toBe('Invalid session for the user, session is expired.')
    }
    const EMAIL_OTP_CODE = await fixture.codeFor(email, 1)
    expect((await strict.answer('EMAIL_OTP', challenged, { USERNAME: username, EMAIL_OTP_CODE })).status).toBe(200)
    expect((await strict.byPassword(username, {}, `${password}x`)).status).toBe(400)
  })
})
