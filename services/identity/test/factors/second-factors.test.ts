import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aliases, pools, users } from '../../src/schema.ts'
import { openFrontDesk, password, publicClient, type FrontDesk } from '../front-desk.ts'
import { claimsOf, signInsAt, tokensOf, type Answer } from '../sign-ins.ts'
import { startSrp } from '../srp-client.ts'

let desk: FrontDesk
let at: ReturnType<typeof signInsAt>
/** A pool whose accounts all need a second factor. */
let strict: ReturnType<typeof signInsAt>
let strictClient: string
beforeAll(async () => {
  desk = await openFrontDesk()
  at = signInsAt(desk)
  const { clientId, poolId } = await desk.pool()
  const [pool] = await desk.service.context.db.select().from(pools).where(eq(pools.id, poolId))
  await desk.service.context.db
    .update(pools)
    .set({ settings: { ...pool!.settings, mfa: 'ON', mfaFactors: ['SOFTWARE_TOKEN_MFA', 'SMS_MFA', 'EMAIL_OTP'] } })
    .where(eq(pools.id, poolId))
  strictClient = clientId
  strict = signInsAt(desk, clientId, poolId)
})
afterAll(() => desk.stop())

/** The code of an authenticator, some steps of 30 s from now. */
function codeOf(secret: string, steps = 0): string {
  const timestamp = desk.service.context.clock.now().epochMilliseconds + steps * 30_000
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
}

const mismatch = { status: 400, body: { __type: 'CodeMismatchException' } }

describe('SOFTWARE_TOKEN_MFA', () => {
  const answer = (name: string, asked: Answer, SOFTWARE_TOKEN_MFA_CODE: string) =>
    at.answer('SOFTWARE_TOKEN_MFA', asked, { USERNAME: name, SOFTWARE_TOKEN_MFA_CODE })

  it('takes a code of now, or one step off, once', async () => {
    const { username, userId } = await desk.member()
    const secret = await at.withAuthenticator(userId)
    const asked = await at.bySrp(username)
    expect(asked.body).toMatchObject({ ChallengeName: 'SOFTWARE_TOKEN_MFA' })
    expect(await answer(username, asked, codeOf(secret, -3))).toMatchObject(mismatch)
    expect(await answer(username, asked, codeOf(secret, 3))).toMatchObject(mismatch)
    expect(await answer(username, asked, '12345')).toMatchObject(mismatch)
    const code = codeOf(secret, -1)
    expect((await answer(username, asked, code)).status).toBe(200)
    expect(await answer(username, await at.byPassword(username), code)).toMatchObject(mismatch)
    expect((await answer(username, await at.byPassword(username), codeOf(secret, 1))).status).toBe(200)
    // One step before one that was taken is as used as that.
    expect(await answer(username, await at.byPassword(username), codeOf(secret))).toMatchObject(mismatch)
  })

  it('takes a code once, in many sign-ins at once', async () => {
    const { username, userId } = await desk.member()
    const secret = await at.withAuthenticator(userId)
    const asked = await Promise.all(Array.from({ length: 5 }, () => at.byPassword(username)))
    const code = codeOf(secret)
    const answers = await Promise.all(asked.map((step) => answer(username, step, code)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400, 400, 400])
  })

  it('lets nobody guess on by beginning again', async () => {
    const { username, userId } = await desk.member()
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
    const { username, userId, email } = await desk.member()
    await at.change(userId, {
      mfa: ['SMS_MFA'],
      attributes: { email, email_verified: 'true', phone_number: phone, phone_number_verified: 'true' },
    })
    const asked = await at.byPassword(username)
    expect(asked.body).toMatchObject({
      ChallengeName: 'SMS_MFA',
      ChallengeParameters: {
        CODE_DELIVERY_DELIVERY_MEDIUM: 'SMS',
        CODE_DELIVERY_DESTINATION: `+*******${phone.slice(-4)}`,
      },
    })
    const SMS_MFA_CODE = await desk.codeFor(phone)
    expect((await at.answer('SMS_MFA', asked, { USERNAME: username, SMS_MFA_CODE })).status).toBe(200)
  })

  it('goes on to the verified number until its successor is verified, and is never left out', async () => {
    const [phone, next] = ['1', '2'].map((digit) => `+141${digit}${String(Date.now()).slice(-7)}`) as [string, string]
    const { username, userId, email } = await desk.member()
    const verified = { email, email_verified: 'true', phone_number: phone, phone_number_verified: 'true' }
    await at.change(userId, { attributes: verified })
    const { AccessToken } = tokensOf(await at.byPassword(username))
    await at.change(userId, { mfa: ['SMS_MFA'] })
    const moved = { AccessToken, UserAttributes: [{ Name: 'phone_number', Value: next }] }
    const asked = async () => (await at.byPassword(username)).body['ChallengeParameters']?.CODE_DELIVERY_DESTINATION
    for (let turn = 0; turn < 2; turn++) {
      expect(await desk.call('UpdateUserAttributes', moved)).toMatchObject({ status: 200 })
      expect(await asked()).toBe(`+*******${phone.slice(-4)}`)
    }
    await desk.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName: 'phone_number' })
    const Code = await desk.codeFor(next)
    await desk.call('VerifyUserAttribute', { AccessToken, AttributeName: 'phone_number', Code })
    await desk.codeFor(phone, 1)
    expect(await at.byPassword(username)).toMatchObject({ body: { ChallengeName: 'SMS_MFA' } })
    await desk.codeFor(next, 1)

    // Without a number that a code can go to, another factor is asked for, or the sign-in is refused.
    await at.change(userId, { attributes: { ...verified, phone_number_verified: 'false' } })
    expect(await at.byPassword(username)).toMatchObject({ body: { ChallengeName: 'EMAIL_OTP' } })
    await at.change(userId, { attributes: {} })
    await desk.service.context.db.delete(aliases).where(eq(aliases.userId, userId))
    expect(await at.byPassword(username)).toMatchObject({ body: { __type: 'MFAMethodNotFoundException' } })
  })

  it('asks for a choice among several, or for the preferred one', async () => {
    const { username, userId, email } = await desk.member()
    const secret = await at.withAuthenticator(userId)
    await at.change(userId, { mfa: ['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'] })
    const asked = await at.byPassword(username)
    expect(asked.body['ChallengeName']).toBe('SELECT_MFA_TYPE')
    expect(JSON.parse(asked.body['ChallengeParameters'].MFAS_CAN_CHOOSE)).toEqual(['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'])
    expect((await at.answer('SELECT_MFA_TYPE', asked, { USERNAME: username, ANSWER: 'SMS_MFA' })).status).toBe(400)
    const sent = desk.codesFor(email)
    const mail = await at.answer('SELECT_MFA_TYPE', asked, { USERNAME: username, ANSWER: 'EMAIL_OTP' })
    const EMAIL_OTP_CODE = await desk.codeFor(email, sent)
    expect((await at.answer('EMAIL_OTP', mail, { USERNAME: username, EMAIL_OTP_CODE })).status).toBe(200)
    await at.change(userId, { preferredMfa: 'SOFTWARE_TOKEN_MFA' })
    const preferred = await at.byPassword(username)
    const SOFTWARE_TOKEN_MFA_CODE = codeOf(secret)
    expect(
      (await at.answer('SOFTWARE_TOKEN_MFA', preferred, { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE })).status,
    ).toBe(200)
  })

  it('asks for another of the account’s factors in place of the preferred one, and for none that it has not', async () => {
    const { username, userId, email } = await desk.member()
    const secret = await at.withAuthenticator(userId)
    await at.change(userId, { mfa: ['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'], preferredMfa: 'SOFTWARE_TOKEN_MFA' })
    const instead = (challenge: string, asked: Answer, ANSWER: string) =>
      at.answer(challenge, asked, { USERNAME: username, ANSWER })
    const asked = await at.byPassword(username)
    const choices = JSON.stringify(['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'])
    const told = { ChallengeParameters: { MFAS_CAN_CHOOSE: choices } }
    expect(asked.body).toMatchObject({ ChallengeName: 'SOFTWARE_TOKEN_MFA', ...told })
    for (const none of ['SMS_MFA', 'EMAIL', 'toString', 'SELECT_MFA_TYPE'])
      expect(await instead('SOFTWARE_TOKEN_MFA', asked, none)).toMatchObject({ status: 400 })
    const sent = desk.codesFor(email)
    const mail = await instead('SOFTWARE_TOKEN_MFA', asked, 'EMAIL_OTP')
    expect(mail.body).toMatchObject({ ChallengeName: 'EMAIL_OTP', ...told })
    // The step of before is over.
    expect((await instead('SOFTWARE_TOKEN_MFA', asked, 'EMAIL_OTP')).status).toBe(400)
    const back = await instead('EMAIL_OTP', mail, 'SOFTWARE_TOKEN_MFA')
    expect(back.body).toMatchObject({ ChallengeName: 'SOFTWARE_TOKEN_MFA', ...told })
    const other = { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE: codeOf(secret, 3) }
    expect(await at.answer('SOFTWARE_TOKEN_MFA', back, other)).toMatchObject(mismatch)
    const again = await instead('SOFTWARE_TOKEN_MFA', back, 'EMAIL_OTP')
    const EMAIL_OTP_CODE = await desk.codeFor(email, sent + 1)
    expect((await at.answer('EMAIL_OTP', again, { USERNAME: username, EMAIL_OTP_CODE })).status).toBe(200)

    // A code that is the first factor is no way round the second, and one factor alone leaves no choice.
    const first = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    expect((await instead('EMAIL_OTP', first, 'SOFTWARE_TOKEN_MFA')).status).toBe(400)
    await at.change(userId, { mfa: ['SOFTWARE_TOKEN_MFA'] })
    const alone = await at.byPassword(username)
    expect(alone.body['ChallengeParameters']).not.toHaveProperty('MFAS_CAN_CHOOSE')
    expect((await instead('SOFTWARE_TOKEN_MFA', alone, 'EMAIL_OTP')).status).toBe(400)
  })

  it('does not take a mail code as both factors', async () => {
    const { username, userId, email } = await desk.member()
    await at.change(userId, { mfa: ['EMAIL_OTP'] })
    // Who asks for it is told so once they have given the code, and not before: others would learn of the second step.
    let sent = desk.codesFor(email)
    const select = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    const first = { USERNAME: username, EMAIL_OTP_CODE: await desk.codeFor(email, sent) }
    expect((await at.answer('EMAIL_OTP', select, first)).body['__type']).toBe('MFAMethodNotFoundException')
    sent = desk.codesFor(email)
    const custom = await at.begin('CUSTOM_AUTH', { USERNAME: username })
    const ANSWER = await desk.codeFor(email, sent)
    const alone = await at.answer('CUSTOM_CHALLENGE', custom, { USERNAME: username, ANSWER })
    expect(alone.body['__type']).toBe('MFAMethodNotFoundException')
    const secret = await at.withAuthenticator(userId)
    await at.change(userId, { mfa: ['EMAIL_OTP', 'SOFTWARE_TOKEN_MFA'], preferredMfa: 'EMAIL_OTP' })
    const again = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    const EMAIL_OTP_CODE = await desk.codeFor(email, sent + 1)
    const second = await at.answer('EMAIL_OTP', again, { USERNAME: username, EMAIL_OTP_CODE })
    expect(second.body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
    const SOFTWARE_TOKEN_MFA_CODE = codeOf(secret)
    expect(
      (await at.answer('SOFTWARE_TOKEN_MFA', second, { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE })).status,
    ).toBe(200)
  })
})

describe('a password that was reset by mail, where codes by mail are the second step', () => {
  /** @returns a member, with what a stranger at the mailbox can do. */
  async function reset(more: Partial<typeof users.$inferInsert> = {}) {
    const person = await desk.member()
    await at.change(person.userId, { mfa: ['EMAIL_OTP'], ...more })
    const Password = 'Mailbox-2031!'
    const sent = desk.codesFor(person.email)
    await desk.call('ForgotPassword', { ClientId: publicClient, Username: person.email })
    const ConfirmationCode = await desk.codeFor(person.email, sent)
    const given = { ClientId: publicClient, Username: person.email, ConfirmationCode, Password }
    expect(await desk.call('ConfirmForgotPassword', given)).toMatchObject({ status: 200 })
    return { ...person, Password }
  }

  it('signs in with no second code from that mailbox, whichever way is tried', async () => {
    const { username, email, Password } = await reset()
    const refused = { body: { __type: 'MFAMethodNotFoundException' } }
    expect(await at.byPassword(username, {}, Password)).toMatchObject(refused)
    expect(await at.bySrp(username, Password)).toMatchObject(refused)
    const chosen = { USERNAME: email, PREFERRED_CHALLENGE: 'PASSWORD', PASSWORD: Password }
    expect(await at.begin('USER_AUTH', chosen)).toMatchObject(refused)
    const srp = startSrp()
    const parameters = { USERNAME: username, CHALLENGE_NAME: 'SRP_A', SRP_A: srp.A }
    const asked = await at.begin('CUSTOM_AUTH', parameters)
    const sent = desk.codesFor(email)
    const mailed = await at.prove(srp, asked, Password)
    const ANSWER = await desk.codeFor(email, sent)
    expect(await at.answer('CUSTOM_CHALLENGE', mailed, { USERNAME: username, ANSWER })).toMatchObject(refused)
  })

  it('signs in with another proof, and with a mail code again after that', async () => {
    const phone = `+1650${randomUUID().replaceAll(/\D/g, '').padEnd(7, '0').slice(0, 7)}`
    const { username, userId, email, Password } = await reset()
    await at.change(userId, {
      attributes: { email, email_verified: 'true', phone_number: phone, phone_number_verified: 'true' },
    })
    // Signed in to another way, it says nothing of who has the password.
    const first = await at.begin('USER_AUTH', { USERNAME: email, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    const EMAIL_OTP_CODE = await desk.codeFor(email, 2)
    const texted = await at.answer('EMAIL_OTP', first, { USERNAME: username, EMAIL_OTP_CODE })
    const owner = { USERNAME: username, SMS_MFA_CODE: await desk.codeFor(phone) }
    expect(await at.answer('SMS_MFA', texted, owner)).toMatchObject({ status: 200 })
    const asked = await at.byPassword(username, {}, Password)
    expect(asked.body['ChallengeName']).toBe('SMS_MFA')
    const SMS_MFA_CODE = await desk.codeFor(phone, 1)
    expect(await at.answer('SMS_MFA', asked, { USERNAME: username, SMS_MFA_CODE })).toMatchObject({ status: 200 })
    expect((await at.byPassword(username, {}, Password)).body['ChallengeName']).toBe('EMAIL_OTP')
  })

  it('asks for the other second step where there are two', async () => {
    const { username, userId, Password } = await reset()
    const secret = await at.withAuthenticator(userId)
    await at.change(userId, { mfa: ['EMAIL_OTP', 'SOFTWARE_TOKEN_MFA'], preferredMfa: 'EMAIL_OTP' })
    const asked = await at.byPassword(username, {}, Password)
    expect(asked.body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
    const given = { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE: codeOf(secret) }
    expect(await at.answer('SOFTWARE_TOKEN_MFA', asked, given)).toMatchObject({ status: 200 })
  })

  it('stands in nobody’s way who turns the second step on after it', async () => {
    const { username, userId, Password } = await reset({ mfa: [] })
    expect(await at.byPassword(username, {}, Password)).toMatchObject({ status: 200 })
    await at.change(userId, { mfa: ['EMAIL_OTP'] })
    expect((await at.byPassword(username, {}, Password)).body['ChallengeName']).toBe('EMAIL_OTP')
  })
})

describe('MFA_SETUP', () => {
  /** An account that has nothing to be its second factor. */
  async function bare() {
    const person = await desk.member(strictClient)
    await desk.service.context.db.execute(`delete from aliases where user_id = '${person.userId}'`)
    await strict.change(person.userId, { attributes: { given_name: 'Maren' }, emailKey: null })
    return person
  }

  it('sets an authenticator up by the session, and does not take its first code again', async () => {
    const { username, userId } = await bare()
    const asked = await strict.bySrp(username)
    expect(asked.body['ChallengeName']).toBe('MFA_SETUP')
    expect(JSON.parse(asked.body['ChallengeParameters'].MFAS_CAN_SETUP)).toEqual(['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'])
    expect((await strict.answer('MFA_SETUP', asked, { USERNAME: username })).status).toBe(400)
    const { body: associated } = await desk.call('AssociateSoftwareToken', { Session: asked.body['Session'] })
    const secret = String(associated['SecretCode'])
    const verify = (UserCode: string) =>
      desk.call('VerifySoftwareToken', { Session: associated['Session'], UserCode, FriendlyDeviceName: 'phone' })
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

  it('sets an e-mail address up', async () => {
    const { username, userId } = await bare()
    const email = `${randomUUID()}@example.com`
    const asked = await strict.byPassword(username)
    expect((await strict.answer('MFA_SETUP', asked, { USERNAME: username, EMAIL: 'no address' })).status).toBe(400)
    const sent = await strict.answer('MFA_SETUP', asked, { USERNAME: username, EMAIL: email })
    expect(sent.body['ChallengeName']).toBe('EMAIL_OTP')
    const EMAIL_OTP_CODE = await desk.codeFor(email)
    const done = await strict.answer('EMAIL_OTP', sent, { USERNAME: username, EMAIL_OTP_CODE })
    expect(claimsOf(tokensOf(done)['IdToken'])).toMatchObject({ sub: userId, email, email_verified: true })
    const next = await strict.byPassword(username)
    expect(next.body['ChallengeName']).toBe('EMAIL_OTP')
    const [user] = await desk.service.context.db.select().from(users).where(eq(users.id, userId))
    expect(user).toMatchObject({ mfa: ['EMAIL_OTP'] })
  })

  it('is not offered in place of a second factor that is there, nor by another step', async () => {
    const { username, email } = await desk.member(strictClient)
    const asked = await strict.byPassword(username)
    expect(asked.body['ChallengeName']).toBe('EMAIL_OTP')
    for (const operation of ['AssociateSoftwareToken', 'VerifySoftwareToken']) {
      const { body } = await desk.call(operation, { Session: asked.body['Session'], UserCode: '123456' })
      expect(body['message']).toBe('Invalid session for the user, session is expired.')
    }
    const EMAIL_OTP_CODE = await desk.codeFor(email, 1)
    expect((await strict.answer('EMAIL_OTP', asked, { USERNAME: username, EMAIL_OTP_CODE })).status).toBe(200)
    expect((await strict.byPassword(username, {}, `${password}x`)).status).toBe(400)
  })
})
