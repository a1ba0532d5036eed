import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findClient } from '../../src/pools/pools.ts'
import { signInSteps } from '../../src/schema.ts'
import { startIdentity, password, publicClient, type IdentityFixture } from '../fixture.ts'
import { claimsOf, signInClient, tokensOf } from '../sign-in-client.ts'
import { prime, startSrp, timestamp } from '../srp-client.ts'

let fixture: IdentityFixture
let at: ReturnType<typeof signInClient>
beforeAll(async () => {
  fixture = await startIdentity()
  at = signInClient(fixture)
})
afterEach(() => fixture.service.context.clock.set(Temporal.Now.instant()))
afterAll(() => fixture.stop())

const wrong = { status: 400, body: { __type: 'NotAuthorizedException', message: 'Incorrect username or password.' } }
const noSession = {
  status: 400,
  body: { __type: 'NotAuthorizedException', message: 'Invalid session for the user, session is expired.' },
}

describe('USER_PASSWORD_AUTH', () => {
  it('signs in with the username, or with the email in any case', async () => {
    const { username, email, userId } = await fixture.member()
    for (const name of [username, email, email.toUpperCase()]) {
      const answer = await at.byPassword(name)
      expect(claimsOf(tokensOf(answer)['AccessToken'])).toMatchObject({ sub: userId, username, token_use: 'access' })
    }
  })

  it('accepts a password in another Unicode form, and does not trim it', async () => {
    const username = `user_${randomUUID()}`
    const attributes = [{ Name: 'email', Value: `${username}@example.com` }]
    const secret = ' Man\u0303ana-2030! '
    await fixture.call('SignUp', {
      ClientId: publicClient,
      Username: username,
      Password: secret,
      UserAttributes: attributes,
    })
    const ConfirmationCode = await fixture.codeFor(`${username}@example.com`)
    await fixture.call('ConfirmSignUp', { ClientId: publicClient, Username: username, ConfirmationCode })
    expect((await at.byPassword(username, {}, secret.normalize('NFC'))).status).toBe(200)
    expect((await at.byPassword(username, {}, secret.normalize('NFD'))).status).toBe(200)
    expect(await at.byPassword(username, {}, secret.trim())).toMatchObject(wrong)
  })

  it('responds to an unknown username as to a wrong password, except to LEGACY clients', async () => {
    const { username } = await fixture.member()
    const unknown = await at.byPassword(`user_${randomUUID()}`)
    expect(unknown).toMatchObject(wrong)
    expect(await at.byPassword(username, {}, 'Other-2030!')).toEqual(unknown)
    const { clientId, poolId } = await fixture.pool({}, { PreventUserExistenceErrors: 'LEGACY' })
    const legacy = signInClient(fixture, clientId, poolId)
    for (const answer of [
      await legacy.byPassword('nobody'),
      await legacy.begin('USER_SRP_AUTH', { USERNAME: 'nobody', SRP_A: 'ab' }),
      await legacy.begin('USER_AUTH', { USERNAME: 'nobody' }),
      await legacy.begin('CUSTOM_AUTH', { USERNAME: 'nobody' }),
    ]) {
      expect(answer.body).toEqual({ __type: 'UserNotFoundException', message: 'User does not exist.' })
    }
  })

  it('discloses the state of an account only with the password', async () => {
    const person = await fixture.signUp()
    expect(await at.byPassword(person.username, {}, 'Other-2030!')).toMatchObject(wrong)
    expect((await at.byPassword(person.username)).body).toEqual({
      __type: 'UserNotConfirmedException',
      message: 'User is not confirmed.',
    })
    await at.change(person.userId, { status: 'RESET_REQUIRED' })
    expect((await at.byPassword(person.username)).body['__type']).toBe('PasswordResetRequiredException')
    await at.change(person.userId, { status: 'CONFIRMED', enabled: false })
    expect((await at.byPassword(person.username)).body).toMatchObject({ message: 'User is disabled.' })
  })
})

describe('USER_SRP_AUTH', () => {
  it('signs in without sending the password, by the session or the secret block', async () => {
    const { email, username } = await fixture.member()
    const answer = await at.bySrp(email)
    expect(tokensOf(answer)).toMatchObject({ TokenType: 'Bearer', ExpiresIn: 3600 })
    const srp = startSrp()
    const challenged = await at.begin('USER_SRP_AUTH', { USERNAME: email, SRP_A: srp.A.toUpperCase() })
    expect(challenged.body).toMatchObject({
      ChallengeName: 'PASSWORD_VERIFIER',
      ChallengeParameters: { USERNAME: username, USER_ID_FOR_SRP: username },
    })
    const { Session: _, ...withoutSession } = challenged.body
    expect((await at.prove(srp, { status: 200, body: withoutSession })).status).toBe(200)
  })

  it('accepts a correct proof once, and ends the exchange after a wrong one', async () => {
    const { username } = await fixture.member()
    const srp = startSrp()
    const challenged = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: srp.A })
    expect(await at.prove(srp, challenged, 'Other-2030!')).toMatchObject(wrong)
    expect(await at.prove(srp, challenged)).toMatchObject(noSession)
    const again = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: srp.A })
    expect((await at.prove(srp, again)).status).toBe(200)
    expect(await at.prove(srp, again)).toMatchObject(noSession)
  })

  it('rejects an A that makes the key predictable, or is not a number', async () => {
    const { username } = await fixture.member()
    for (const A of ['0', '00', prime.toString(16), (prime * 2n).toString(16), 'xyz', '-1', '0x1']) {
      const answer = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: A })
      expect(answer).toMatchObject({ status: 400, body: { __type: 'InvalidParameterException' } })
    }
  })

  it('rejects timestamps of another time or format, and the step can be repeated', async () => {
    const { username } = await fixture.member()
    const srp = startSrp()
    const challenged = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: srp.A })
    const now = fixture.service.context.clock.now()
    const forms = [
      timestamp(now.subtract({ minutes: 30 })),
      timestamp(now.add({ minutes: 30 })),
      now.toString(),
      'Tue Feb 31 07:08:09 UTC 2030',
      timestamp(now).replace('UTC', 'GMT'),
    ]
    for (const TIMESTAMP of forms) {
      const answer = await at.prove(srp, challenged, password, { TIMESTAMP })
      expect(answer.body['__type']).toBe('InvalidParameterException')
    }
    expect((await at.prove(srp, challenged)).status).toBe(200)
  })

  it('responds to an unknown username with the same fields and a stable salt', async () => {
    const { username, email } = await fixture.member()
    const { A } = startSrp()
    const ask = async (name: string) => (await at.begin('USER_SRP_AUTH', { USERNAME: name, SRP_A: A })).body
    const [name, address] = [`user_${randomUUID()}`, `${randomUUID()}@example.com`]
    // Usernames are case-sensitive, emails are not.
    for (const [known, unknown, again] of [
      [username, name, name],
      [email, address, address.toUpperCase()],
    ] as const) {
      const [real, first, second] = [await ask(known), await ask(unknown), await ask(again)]
      expect(Object.keys(first)).toEqual(Object.keys(real))
      expect(Object.keys(first['ChallengeParameters'])).toEqual(Object.keys(real['ChallengeParameters']))
      expect(first['ChallengeParameters'].SALT).toBe(second['ChallengeParameters'].SALT)
      expect(first['ChallengeParameters'].SRP_B).not.toBe(second['ChallengeParameters'].SRP_B)
      expect(first['ChallengeParameters'].USERNAME).toMatch(/^user_[\da-f-]{36}$/)
      expect(Math.abs(first['ChallengeParameters'].SRP_B.length - 768)).toBeLessThan(8)
    }
    // The username contains its creation time, which must be plausible.
    const unknown = `${randomUUID()}@example.com`
    const canonical = (await ask(unknown))['ChallengeParameters'].USERNAME as string
    const madeAt = Number.parseInt(canonical.slice('user_'.length).replaceAll('-', '').slice(0, 12), 16)
    const { pool } = await findClient(publicClient, fixture.service.context)
    expect(madeAt).toBeGreaterThanOrEqual(pool.createdAt.epochMilliseconds)
    expect(madeAt).toBeLessThan(Date.now())
    expect((await ask(unknown.toUpperCase()))['ChallengeParameters'].USERNAME).toBe(canonical)
    expect(await at.bySrp(unknown)).toEqual(await at.bySrp(username, 'Other-2030!'))
    expect(await at.bySrp(unknown)).toMatchObject(wrong)
  })

  it('is simulated for an account without a password', async () => {
    const { username, userId } = await fixture.member()
    await at.change(userId, { passwordHash: null, srpSalt: null, sealedSrpVerifier: null })
    expect(await at.bySrp(username)).toMatchObject(wrong)
    expect(await at.byPassword(username)).toMatchObject(wrong)
  })
})

describe('challenge sessions', () => {
  it('are invalid for another user, client or step, and after three minutes', async () => {
    const [maren, bo] = [await fixture.member(), await fixture.member()]
    const srp = startSrp()
    const challenged = await at.begin('USER_SRP_AUTH', { USERNAME: maren.username, SRP_A: srp.A })
    expect(await at.prove(srp, challenged, password, { USERNAME: bo.username })).toMatchObject(noSession)
    expect(
      await at.answer('SELECT_CHALLENGE', challenged, { USERNAME: maren.username, ANSWER: 'EMAIL_OTP' }),
    ).toMatchObject(noSession)
    expect(
      await at.answer('NEW_PASSWORD_REQUIRED', challenged, { USERNAME: maren.username, NEW_PASSWORD: password }),
    ).toMatchObject(noSession)
    const other = await fixture.pool()
    expect(await signInClient(fixture, other.clientId, other.poolId).prove(srp, challenged)).toMatchObject(noSession)
    expect(await at.answer('PASSWORD_VERIFIER', 'x'.repeat(64), { USERNAME: maren.username })).toMatchObject(noSession)
    fixture.service.context.clock.advance({ seconds: 181 })
    expect(await at.prove(srp, challenged)).toMatchObject(noSession)
  })

  it('are deleted after they expire', async () => {
    const { username } = await fixture.member()
    await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: startSrp().A })
    const { db, clock } = fixture.service.context
    expect(await db.$count(signInSteps)).toBeGreaterThan(0)
    clock.advance({ seconds: 181 })
    await fixture.sweep()
    expect(await db.$count(signInSteps)).toBe(0)
  })
})

describe('NEW_PASSWORD_REQUIRED', () => {
  it('replaces a temporary password', async () => {
    const { username, userId } = await fixture.member()
    await at.change(userId, { status: 'FORCE_CHANGE_PASSWORD' })
    const challenged = await at.bySrp(username)
    expect(challenged.body).toMatchObject({
      ChallengeName: 'NEW_PASSWORD_REQUIRED',
      ChallengeParameters: { USER_ID_FOR_SRP: username, requiredAttributes: '[]' },
    })
    expect(JSON.parse(challenged.body['ChallengeParameters'].userAttributes)).toMatchObject({ given_name: 'Maren' })
    const weak = await at.answer('NEW_PASSWORD_REQUIRED', challenged, { USERNAME: username, NEW_PASSWORD: 'short' })
    expect(weak.body['__type']).toBe('InvalidPasswordException')
    const changed = await at.answer('NEW_PASSWORD_REQUIRED', challenged, {
      USERNAME: username,
      NEW_PASSWORD: 'Mended-2031!',
      'userAttributes.given_name': 'Mari',
      // Only for administrators: ignored if clients send it back.
      'userAttributes.nickname': 'Admiral',
    })
    expect(claimsOf(tokensOf(changed)['IdToken'])).toMatchObject({ given_name: 'Mari', email_verified: true })
    expect(claimsOf(tokensOf(changed)['IdToken'])).not.toHaveProperty('nickname')
    expect(await at.byPassword(username)).toMatchObject(wrong)
    expect((await at.bySrp(username, 'Mended-2031!')).status).toBe(200)
  })

  it('succeeds once for several concurrent tabs, and never fails with a 5xx', async () => {
    const { username, userId } = await fixture.member()
    await at.change(userId, { status: 'FORCE_CHANGE_PASSWORD' })
    const challenged = await Promise.all(Array.from({ length: 8 }, () => at.byPassword(username)))
    const answer = { USERNAME: username, NEW_PASSWORD: 'Mended-2031!' }
    const answers = await Promise.all(challenged.map((one) => at.answer('NEW_PASSWORD_REQUIRED', one, answer)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 400),
    ])
  })

  it('requires missing attributes, and rejects an expired temporary password', async () => {
    const { username, userId } = await fixture.member()
    await at.change(userId, { status: 'FORCE_CHANGE_PASSWORD', attributes: {}, emailKey: null })
    const challenged = await at.byPassword(username)
    expect(JSON.parse(challenged.body['ChallengeParameters'].requiredAttributes)).toEqual(['userAttributes.email'])
    const answer = { USERNAME: username, NEW_PASSWORD: 'Mended-2031!' }
    const lacking = await at.answer('NEW_PASSWORD_REQUIRED', challenged, answer)
    expect(lacking.body['message']).toBe('Missing required attribute userAttributes.email')
    const long = await at.answer('NEW_PASSWORD_REQUIRED', challenged, {
      ...answer,
      'userAttributes.email': `${username}@example.org`,
      'userAttributes.address': 'x'.repeat(2049),
    })
    expect(long.body['__type']).toBe('InvalidParameterException')
    const email = `${username}@example.org`
    const full = await at.answer('NEW_PASSWORD_REQUIRED', challenged, { ...answer, 'userAttributes.email': email })
    expect(claimsOf(tokensOf(full)['IdToken'])).toMatchObject({ email, email_verified: false })
    await at.change(userId, { status: 'FORCE_CHANGE_PASSWORD', passwordExpiresAt: fixture.service.context.clock.now() })
    expect((await at.byPassword(username, {}, 'Mended-2031!')).body['message']).toBe(
      'Temporary password has expired and must be reset by an administrator.',
    )
  })
})

describe('USER_AUTH', () => {
  it('offers the account’s first factors, and accepts the choice', async () => {
    const { username, email } = await fixture.member()
    const challenged = await at.begin('USER_AUTH', { USERNAME: email })
    expect(challenged.body).toMatchObject({
      ChallengeName: 'SELECT_CHALLENGE',
      AvailableChallenges: ['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP'],
    })
    const byPassword = await at.answer('SELECT_CHALLENGE', challenged, {
      USERNAME: username,
      ANSWER: 'PASSWORD',
      PASSWORD: password,
    })
    expect(byPassword.status).toBe(200)
    expect(await at.answer('SELECT_CHALLENGE', challenged, { USERNAME: username, ANSWER: 'EMAIL_OTP' })).toMatchObject(
      noSession,
    )
    const second = await at.begin('USER_AUTH', { USERNAME: email })
    const srp = startSrp()
    const verifier = await at.answer('SELECT_CHALLENGE', second, {
      USERNAME: email,
      ANSWER: 'PASSWORD_SRP',
      SRP_A: srp.A,
    })
    expect((await at.prove(srp, verifier)).status).toBe(200)
    const third = await at.begin('USER_AUTH', { USERNAME: email })
    expect((await at.answer('SELECT_CHALLENGE', third, { USERNAME: email, ANSWER: 'SMS_OTP' })).body['__type']).toBe(
      'InvalidParameterException',
    )
    expect(
      await at.answer('SELECT_CHALLENGE', third, { USERNAME: email, ANSWER: 'PASSWORD', PASSWORD: 'x' }),
    ).toMatchObject(wrong)
    expect((await at.answer('PASSWORD', third, { USERNAME: email, PASSWORD: password })).status).toBe(200)
  })

  it('offers a choice if a password is preferred but not given', async () => {
    const { username } = await fixture.member()
    const challenged = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'PASSWORD' })
    expect(challenged.body['ChallengeName']).toBe('SELECT_CHALLENGE')
    const chosen = { USERNAME: username, ANSWER: 'PASSWORD', PASSWORD: password }
    expect((await at.answer('SELECT_CHALLENGE', challenged, chosen)).status).toBe(200)
  })

  it('starts with the preferred challenge if the account has it', async () => {
    const { username, email } = await fixture.member()
    expect(
      (await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'PASSWORD', PASSWORD: password })).status,
    ).toBe(200)
    const srp = startSrp()
    const verifier = await at.begin('USER_AUTH', {
      USERNAME: username,
      PREFERRED_CHALLENGE: 'PASSWORD_SRP',
      SRP_A: srp.A,
    })
    expect((await at.prove(srp, verifier)).status).toBe(200)
    expect(
      (await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'SMS_OTP' })).body['ChallengeName'],
    ).toBe('SELECT_CHALLENGE')
    const sent = fixture.codesFor(email)
    const challenged = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    expect(challenged.body).toMatchObject({
      ChallengeName: 'EMAIL_OTP',
      ChallengeParameters: { CODE_DELIVERY_DELIVERY_MEDIUM: 'EMAIL', CODE_DELIVERY_DESTINATION: 'u***@e***' },
    })
    const code = await fixture.codeFor(email, sent)
    const guess = code === '000000' ? '000001' : '000000'
    expect((await at.answer('EMAIL_OTP', challenged, { USERNAME: username, EMAIL_OTP_CODE: guess })).body).toEqual({
      __type: 'CodeMismatchException',
      message: 'Invalid verification code provided, please try again.',
    })
    const done = await at.answer('EMAIL_OTP', challenged, { USERNAME: username, EMAIL_OTP_CODE: code })
    expect(done.status).toBe(200)
    expect(await at.answer('EMAIL_OTP', challenged, { USERNAME: username, EMAIL_OTP_CODE: code })).toMatchObject(
      noSession,
    )
  })

  it('rejects codes of another account, and limits the attempts', async () => {
    const [maren, bo] = [await fixture.member(), await fixture.member()]
    const [sentMaren, sentBo] = [fixture.codesFor(maren.email), fixture.codesFor(bo.email)]
    const ofMaren = await at.begin('USER_AUTH', { USERNAME: maren.username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    await at.begin('USER_AUTH', { USERNAME: bo.username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    const [code, other] = [await fixture.codeFor(maren.email, sentMaren), await fixture.codeFor(bo.email, sentBo)]
    if (code !== other) {
      const stolen = await at.answer('EMAIL_OTP', ofMaren, { USERNAME: maren.username, EMAIL_OTP_CODE: other })
      expect(stolen.body['__type']).toBe('CodeMismatchException')
    }
    for (let tries = 0; tries < 5; tries++) {
      await at.answer('EMAIL_OTP', ofMaren, { USERNAME: maren.username, EMAIL_OTP_CODE: 'wrong' })
    }
    fixture.service.context.clock.advance({ seconds: 10 })
    expect(await at.answer('EMAIL_OTP', ofMaren, { USERNAME: maren.username, EMAIL_OTP_CODE: code })).toMatchObject(
      noSession,
    )
  })

  it('is simulated for an unknown username', async () => {
    const { email } = await fixture.member()
    const unknown = `user_${randomUUID()}@example.com`
    const [real, fake] = [
      await at.begin('USER_AUTH', { USERNAME: email, PREFERRED_CHALLENGE: 'EMAIL_OTP' }),
      await at.begin('USER_AUTH', { USERNAME: unknown, PREFERRED_CHALLENGE: 'EMAIL_OTP' }),
    ]
    const shape = ({ body }: typeof real) => ({
      ...body,
      Session: '',
      ChallengeParameters: { ...body['ChallengeParameters'], USER_ID_FOR_SRP: '' },
    })
    expect(shape(fake)).toEqual(shape(real))
    expect((await at.answer('EMAIL_OTP', fake, { USERNAME: unknown, EMAIL_OTP_CODE: '123456' })).body['__type']).toBe(
      'CodeMismatchException',
    )
    const select = await at.begin('USER_AUTH', { USERNAME: unknown })
    expect(select.body['AvailableChallenges']).toEqual(
      (await at.begin('USER_AUTH', { USERNAME: unknown })).body['AvailableChallenges'],
    )
    expect(select.body['AvailableChallenges']).toEqual(
      expect.arrayContaining(['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP']),
    )
    expect(fixture.codesFor(unknown)).toBe(0)
    // An unconfirmed sign-up with the email makes no difference either.
    const unconfirmed = await fixture.signUp()
    await fixture.codeFor(unconfirmed.email)
    const theirs = await at.begin('USER_AUTH', { USERNAME: unconfirmed.email, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    expect(shape(theirs)).toEqual(shape(real))
    expect(theirs.body['ChallengeParameters'].USER_ID_FOR_SRP).not.toBe(unconfirmed.username)
    const choosing = await at.begin('USER_AUTH', { USERNAME: unconfirmed.email })
    const chosen = { USERNAME: unconfirmed.email, ANSWER: 'PASSWORD', PASSWORD: password }
    expect((await at.answer('SELECT_CHALLENGE', choosing, chosen)).body['__type']).toBe('UserNotConfirmedException')
    expect(fixture.codesFor(unconfirmed.email)).toBe(1)
  })

  it('accepts the session of a confirmation once, for that account only', async () => {
    const person = await fixture.signUp()
    const other = await fixture.member()
    const { body } = await fixture.call('ConfirmSignUp', {
      ClientId: publicClient,
      Username: person.username,
      ConfirmationCode: await fixture.codeFor(person.email),
    })
    const Session = String(body['Session'])
    expect(await at.begin('USER_AUTH', { USERNAME: other.username }, { Session })).toMatchObject(noSession)
    const answer = await at.begin('USER_AUTH', { USERNAME: person.username }, { Session })
    expect(claimsOf(tokensOf(answer)['AccessToken'])).toMatchObject({ sub: person.userId })
    expect(await at.begin('USER_AUTH', { USERNAME: person.username }, { Session })).toMatchObject(noSession)
    const select = await at.begin('USER_AUTH', { USERNAME: person.username })
    expect(
      await at.begin('USER_AUTH', { USERNAME: person.username }, { Session: select.body['Session'] }),
    ).toMatchObject(noSession)
  })
})

describe('CUSTOM_AUTH', () => {
  it('requires a code by mail, with three attempts', async () => {
    const { username, email } = await fixture.member()
    const sent = fixture.codesFor(email)
    const challenged = await at.begin('CUSTOM_AUTH', { USERNAME: email })
    expect(challenged.body).toMatchObject({
      ChallengeName: 'CUSTOM_CHALLENGE',
      ChallengeParameters: { USERNAME: username, kind: 'EMAIL_CODE', CODE_DELIVERY_DESTINATION: 'u***@e***' },
    })
    const ANSWER = await fixture.codeFor(email, sent)
    for (let tries = 0; tries < 2; tries++) {
      expect(
        (await at.answer('CUSTOM_CHALLENGE', challenged, { USERNAME: username, ANSWER: 'no' })).body['__type'],
      ).toBe('CodeMismatchException')
    }
    expect((await at.answer('CUSTOM_CHALLENGE', challenged, { USERNAME: username, ANSWER })).status).toBe(200)
    const again = await at.begin('CUSTOM_AUTH', { USERNAME: email })
    const code = await fixture.codeFor(email, sent + 1)
    for (let tries = 0; tries < 3; tries++)
      await at.answer('CUSTOM_CHALLENGE', again, { USERNAME: username, ANSWER: 'no' })
    expect(await at.answer('CUSTOM_CHALLENGE', again, { USERNAME: username, ANSWER: code })).toMatchObject(noSession)
  })

  it('requires the password first if it starts with SRP', async () => {
    const { username, email } = await fixture.member()
    const srp = startSrp()
    const challenged = await at.begin('CUSTOM_AUTH', { USERNAME: username, CHALLENGE_NAME: 'SRP_A', SRP_A: srp.A })
    const sent = fixture.codesFor(email)
    const custom = await at.prove(srp, challenged)
    expect(custom.body['ChallengeName']).toBe('CUSTOM_CHALLENGE')
    const ANSWER = await fixture.codeFor(email, sent)
    expect((await at.answer('CUSTOM_CHALLENGE', custom, { USERNAME: username, ANSWER })).status).toBe(200)
  })
})

describe('flows', () => {
  it('are rejected for clients that may not use them', async () => {
    const { clientId } = await fixture.pool(
      {},
      { ExplicitAuthFlows: ['ALLOW_USER_SRP_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'] },
    )
    const { body } = await signInClient(fixture, clientId).byPassword('maren')
    expect(body).toEqual({
      __type: 'InvalidParameterException',
      message: 'USER_PASSWORD_AUTH flow not enabled for this client',
    })
  })

  it('name missing parameters', async () => {
    const { username } = await fixture.member()
    expect((await at.begin('USER_SRP_AUTH', { USERNAME: username })).body['message']).toBe(
      'Missing required parameter SRP_A',
    )
    expect((await at.begin('USER_AUTH', {})).body['message']).toBe('Missing required parameter USERNAME')
    expect((await at.begin('REFRESH_TOKEN_AUTH', {})).body['message']).toBe('Missing required parameter REFRESH_TOKEN')
    expect((await at.answer('EMAIL_OTP', 'x'.repeat(40), {})).body['message']).toBe(
      'Missing required parameter USERNAME',
    )
  })
})
