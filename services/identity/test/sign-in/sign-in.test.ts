import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp } from '../../src/users/clean-up.ts'
import { findClient } from '../../src/pools/pools.ts'
import { signInSteps } from '../../src/schema.ts'
import { openFrontDesk, password, publicClient, type FrontDesk } from '../front-desk.ts'
import { claimsOf, signInsAt, tokensOf } from '../sign-ins.ts'
import { prime, startSrp, timestamp } from '../srp-client.ts'

let desk: FrontDesk
let at: ReturnType<typeof signInsAt>
beforeAll(async () => {
  desk = await openFrontDesk()
  at = signInsAt(desk)
})
afterEach(() => desk.service.context.clock.set(Temporal.Now.instant()))
afterAll(() => desk.stop())

const wrong = { status: 400, body: { __type: 'NotAuthorizedException', message: 'Incorrect username or password.' } }
const noSession = {
  status: 400,
  body: { __type: 'NotAuthorizedException', message: 'Invalid session for the user, session is expired.' },
}

describe('USER_PASSWORD_AUTH', () => {
  it('signs in by the name and by the address in any case', async () => {
    const { username, email, userId } = await desk.member()
    for (const name of [username, email, email.toUpperCase()]) {
      const answer = await at.byPassword(name)
      expect(claimsOf(tokensOf(answer)['AccessToken'])).toMatchObject({ sub: userId, username, token_use: 'access' })
    }
  })

  it('takes a password that was composed in another way, and trims nothing', async () => {
    const username = `user_${randomUUID()}`
    const attributes = [{ Name: 'email', Value: `${username}@example.com` }]
    const secret = ' Man\u0303ana-2030! '
    await desk.call('SignUp', {
      ClientId: publicClient,
      Username: username,
      Password: secret,
      UserAttributes: attributes,
    })
    const ConfirmationCode = await desk.codeFor(`${username}@example.com`)
    await desk.call('ConfirmSignUp', { ClientId: publicClient, Username: username, ConfirmationCode })
    expect((await at.byPassword(username, {}, secret.normalize('NFC'))).status).toBe(200)
    expect((await at.byPassword(username, {}, secret.normalize('NFD'))).status).toBe(200)
    expect(await at.byPassword(username, {}, secret.trim())).toMatchObject(wrong)
  })

  it('answers an unknown name like a wrong password, and tells LEGACY clients', async () => {
    const { username } = await desk.member()
    const unknown = await at.byPassword(`user_${randomUUID()}`)
    expect(unknown).toMatchObject(wrong)
    expect(await at.byPassword(username, {}, 'Other-2030!')).toEqual(unknown)
    const { clientId, poolId } = await desk.pool({}, { PreventUserExistenceErrors: 'LEGACY' })
    const legacy = signInsAt(desk, clientId, poolId)
    for (const answer of [
      await legacy.byPassword('nobody'),
      await legacy.begin('USER_SRP_AUTH', { USERNAME: 'nobody', SRP_A: 'ab' }),
      await legacy.begin('USER_AUTH', { USERNAME: 'nobody' }),
      await legacy.begin('CUSTOM_AUTH', { USERNAME: 'nobody' }),
    ]) {
      expect(answer.body).toEqual({ __type: 'UserNotFoundException', message: 'User does not exist.' })
    }
  })

  it('tells the state of an account to who has the password alone', async () => {
    const person = await desk.signUp()
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
  it('signs in without the password leaving the client, by the session or the secret block', async () => {
    const { email, username } = await desk.member()
    const answer = await at.bySrp(email)
    expect(tokensOf(answer)).toMatchObject({ TokenType: 'Bearer', ExpiresIn: 3600 })
    const srp = startSrp()
    const asked = await at.begin('USER_SRP_AUTH', { USERNAME: email, SRP_A: srp.A.toUpperCase() })
    expect(asked.body).toMatchObject({
      ChallengeName: 'PASSWORD_VERIFIER',
      ChallengeParameters: { USERNAME: username, USER_ID_FOR_SRP: username },
    })
    const { Session: _, ...withoutSession } = asked.body
    expect((await at.prove(srp, { status: 200, body: withoutSession })).status).toBe(200)
  })

  it('takes a right proof once, and a wrong one ends the exchange', async () => {
    const { username } = await desk.member()
    const srp = startSrp()
    const asked = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: srp.A })
    expect(await at.prove(srp, asked, 'Other-2030!')).toMatchObject(wrong)
    expect(await at.prove(srp, asked)).toMatchObject(noSession)
    const again = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: srp.A })
    expect((await at.prove(srp, again)).status).toBe(200)
    expect(await at.prove(srp, again)).toMatchObject(noSession)
  })

  it('refuses an A that makes the key known, or is no number', async () => {
    const { username } = await desk.member()
    for (const A of ['0', '00', prime.toString(16), (prime * 2n).toString(16), 'xyz', '-1', '0x1']) {
      const answer = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: A })
      expect(answer).toMatchObject({ status: 400, body: { __type: 'InvalidParameterException' } })
    }
  })

  it('refuses timestamps of another time or form, and the step stays', async () => {
    const { username } = await desk.member()
    const srp = startSrp()
    const asked = await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: srp.A })
    const now = desk.service.context.clock.now()
    const forms = [
      timestamp(now.subtract({ minutes: 30 })),
      timestamp(now.add({ minutes: 30 })),
      now.toString(),
      'Tue Feb 31 07:08:09 UTC 2030',
      timestamp(now).replace('UTC', 'GMT'),
    ]
    for (const TIMESTAMP of forms) {
      const answer = await at.prove(srp, asked, password, { TIMESTAMP })
      expect(answer.body['__type']).toBe('InvalidParameterException')
    }
    expect((await at.prove(srp, asked)).status).toBe(200)
  })

  it('answers a name that nobody has with the same keys and a salt that stays', async () => {
    const { username, email } = await desk.member()
    const { A } = startSrp()
    const ask = async (name: string) => (await at.begin('USER_SRP_AUTH', { USERNAME: name, SRP_A: A })).body
    const [name, address] = [`user_${randomUUID()}`, `${randomUUID()}@example.com`]
    // A name is another in capitals, an address is not.
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
    // The name tells when it was made: not before there were any, and not only now.
    const nobody = `${randomUUID()}@example.com`
    const canonical = (await ask(nobody))['ChallengeParameters'].USERNAME as string
    const madeAt = Number.parseInt(canonical.slice('user_'.length).replaceAll('-', '').slice(0, 12), 16)
    const { pool } = await findClient(publicClient, desk.service.context)
    expect(madeAt).toBeGreaterThanOrEqual(pool.createdAt.epochMilliseconds)
    expect(madeAt).toBeLessThan(Date.now())
    expect((await ask(nobody.toUpperCase()))['ChallengeParameters'].USERNAME).toBe(canonical)
    expect(await at.bySrp(nobody)).toEqual(await at.bySrp(username, 'Other-2030!'))
    expect(await at.bySrp(nobody)).toMatchObject(wrong)
  })

  it('is simulated for an account without a password', async () => {
    const { username, userId } = await desk.member()
    await at.change(userId, { passwordHash: null, srpSalt: null, sealedSrpVerifier: null })
    expect(await at.bySrp(username)).toMatchObject(wrong)
    expect(await at.byPassword(username)).toMatchObject(wrong)
  })
})

describe('sessions', () => {
  it('are worth nothing to another person, client, step or after three minutes', async () => {
    const [maren, bo] = [await desk.member(), await desk.member()]
    const srp = startSrp()
    const asked = await at.begin('USER_SRP_AUTH', { USERNAME: maren.username, SRP_A: srp.A })
    expect(await at.prove(srp, asked, password, { USERNAME: bo.username })).toMatchObject(noSession)
    expect(await at.answer('SELECT_CHALLENGE', asked, { USERNAME: maren.username, ANSWER: 'EMAIL_OTP' })).toMatchObject(
      noSession,
    )
    expect(
      await at.answer('NEW_PASSWORD_REQUIRED', asked, { USERNAME: maren.username, NEW_PASSWORD: password }),
    ).toMatchObject(noSession)
    const other = await desk.pool()
    expect(await signInsAt(desk, other.clientId, other.poolId).prove(srp, asked)).toMatchObject(noSession)
    expect(await at.answer('PASSWORD_VERIFIER', 'x'.repeat(64), { USERNAME: maren.username })).toMatchObject(noSession)
    desk.service.context.clock.advance({ seconds: 181 })
    expect(await at.prove(srp, asked)).toMatchObject(noSession)
  })

  it('are deleted once they are over', async () => {
    const { username } = await desk.member()
    await at.begin('USER_SRP_AUTH', { USERNAME: username, SRP_A: startSrp().A })
    const { db, clock } = desk.service.context
    expect(await db.$count(signInSteps)).toBeGreaterThan(0)
    clock.advance({ seconds: 181 })
    await cleanUp.run(desk.service.context, AbortSignal.any([]))
    expect(await db.$count(signInSteps)).toBe(0)
  })
})

describe('NEW_PASSWORD_REQUIRED', () => {
  it('takes a password of the person in place of a temporary one', async () => {
    const { username, userId } = await desk.member()
    await at.change(userId, { status: 'FORCE_CHANGE_PASSWORD' })
    const asked = await at.bySrp(username)
    expect(asked.body).toMatchObject({
      ChallengeName: 'NEW_PASSWORD_REQUIRED',
      ChallengeParameters: { USER_ID_FOR_SRP: username, requiredAttributes: '[]' },
    })
    expect(JSON.parse(asked.body['ChallengeParameters'].userAttributes)).toMatchObject({ given_name: 'Maren' })
    const weak = await at.answer('NEW_PASSWORD_REQUIRED', asked, { USERNAME: username, NEW_PASSWORD: 'short' })
    expect(weak.body['__type']).toBe('InvalidPasswordException')
    const changed = await at.answer('NEW_PASSWORD_REQUIRED', asked, {
      USERNAME: username,
      NEW_PASSWORD: 'Mended-2031!',
      'userAttributes.given_name': 'Mari',
      // For administrators alone: what clients send back of it is left alone.
      'userAttributes.nickname': 'Admiral',
    })
    expect(claimsOf(tokensOf(changed)['IdToken'])).toMatchObject({ given_name: 'Mari', email_verified: true })
    expect(claimsOf(tokensOf(changed)['IdToken'])).not.toHaveProperty('nickname')
    expect(await at.byPassword(username)).toMatchObject(wrong)
    expect((await at.bySrp(username, 'Mended-2031!')).status).toBe(200)
  })

  it('is answered once where several tabs are at it, and never by a fault', async () => {
    const { username, userId } = await desk.member()
    await at.change(userId, { status: 'FORCE_CHANGE_PASSWORD' })
    const asked = await Promise.all(Array.from({ length: 8 }, () => at.byPassword(username)))
    const answer = { USERNAME: username, NEW_PASSWORD: 'Mended-2031!' }
    const answers = await Promise.all(asked.map((one) => at.answer('NEW_PASSWORD_REQUIRED', one, answer)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 400),
    ])
  })

  it('asks for what the account lacks, and refuses a temporary password that is over', async () => {
    const { username, userId } = await desk.member()
    await at.change(userId, { status: 'FORCE_CHANGE_PASSWORD', attributes: {}, emailKey: null })
    const asked = await at.byPassword(username)
    expect(JSON.parse(asked.body['ChallengeParameters'].requiredAttributes)).toEqual(['userAttributes.email'])
    const answer = { USERNAME: username, NEW_PASSWORD: 'Mended-2031!' }
    const lacking = await at.answer('NEW_PASSWORD_REQUIRED', asked, answer)
    expect(lacking.body['message']).toBe('Missing required attribute userAttributes.email')
    const long = await at.answer('NEW_PASSWORD_REQUIRED', asked, {
      ...answer,
      'userAttributes.email': `${username}@example.org`,
      'userAttributes.address': 'x'.repeat(2049),
    })
    expect(long.body['__type']).toBe('InvalidParameterException')
    const email = `${username}@example.org`
    const full = await at.answer('NEW_PASSWORD_REQUIRED', asked, { ...answer, 'userAttributes.email': email })
    expect(claimsOf(tokensOf(full)['IdToken'])).toMatchObject({ email, email_verified: false })
    await at.change(userId, { status: 'FORCE_CHANGE_PASSWORD', passwordExpiresAt: desk.service.context.clock.now() })
    expect((await at.byPassword(username, {}, 'Mended-2031!')).body['message']).toBe(
      'Temporary password has expired and must be reset by an administrator.',
    )
  })
})

describe('USER_AUTH', () => {
  it('offers what the account can begin with, and takes the choice', async () => {
    const { username, email } = await desk.member()
    const asked = await at.begin('USER_AUTH', { USERNAME: email })
    expect(asked.body).toMatchObject({
      ChallengeName: 'SELECT_CHALLENGE',
      AvailableChallenges: ['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP'],
    })
    const byPassword = await at.answer('SELECT_CHALLENGE', asked, {
      USERNAME: username,
      ANSWER: 'PASSWORD',
      PASSWORD: password,
    })
    expect(byPassword.status).toBe(200)
    expect(await at.answer('SELECT_CHALLENGE', asked, { USERNAME: username, ANSWER: 'EMAIL_OTP' })).toMatchObject(
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

  it('lets one choose where a password is preferred and none is given', async () => {
    const { username } = await desk.member()
    const asked = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'PASSWORD' })
    expect(asked.body['ChallengeName']).toBe('SELECT_CHALLENGE')
    const chosen = { USERNAME: username, ANSWER: 'PASSWORD', PASSWORD: password }
    expect((await at.answer('SELECT_CHALLENGE', asked, chosen)).status).toBe(200)
  })

  it('begins with the preferred challenge where the account has it', async () => {
    const { username, email } = await desk.member()
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
    const sent = desk.codesFor(email)
    const asked = await at.begin('USER_AUTH', { USERNAME: username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    expect(asked.body).toMatchObject({
      ChallengeName: 'EMAIL_OTP',
      ChallengeParameters: { CODE_DELIVERY_DELIVERY_MEDIUM: 'EMAIL', CODE_DELIVERY_DESTINATION: 'u***@e***' },
    })
    const code = await desk.codeFor(email, sent)
    const guess = code === '000000' ? '000001' : '000000'
    expect((await at.answer('EMAIL_OTP', asked, { USERNAME: username, EMAIL_OTP_CODE: guess })).body).toEqual({
      __type: 'CodeMismatchException',
      message: 'Invalid verification code provided, please try again.',
    })
    const done = await at.answer('EMAIL_OTP', asked, { USERNAME: username, EMAIL_OTP_CODE: code })
    expect(done.status).toBe(200)
    expect(await at.answer('EMAIL_OTP', asked, { USERNAME: username, EMAIL_OTP_CODE: code })).toMatchObject(noSession)
  })

  it('takes no code of another account, and only a few tries', async () => {
    const [maren, bo] = [await desk.member(), await desk.member()]
    const [sentMaren, sentBo] = [desk.codesFor(maren.email), desk.codesFor(bo.email)]
    const ofMaren = await at.begin('USER_AUTH', { USERNAME: maren.username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    await at.begin('USER_AUTH', { USERNAME: bo.username, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    const [code, other] = [await desk.codeFor(maren.email, sentMaren), await desk.codeFor(bo.email, sentBo)]
    if (code !== other) {
      const stolen = await at.answer('EMAIL_OTP', ofMaren, { USERNAME: maren.username, EMAIL_OTP_CODE: other })
      expect(stolen.body['__type']).toBe('CodeMismatchException')
    }
    for (let tries = 0; tries < 5; tries++) {
      await at.answer('EMAIL_OTP', ofMaren, { USERNAME: maren.username, EMAIL_OTP_CODE: 'wrong' })
    }
    desk.service.context.clock.advance({ seconds: 10 })
    expect(await at.answer('EMAIL_OTP', ofMaren, { USERNAME: maren.username, EMAIL_OTP_CODE: code })).toMatchObject(
      noSession,
    )
  })

  it('pretends for a name that nobody has', async () => {
    const { email } = await desk.member()
    const nobody = `user_${randomUUID()}@example.com`
    const [real, fake] = [
      await at.begin('USER_AUTH', { USERNAME: email, PREFERRED_CHALLENGE: 'EMAIL_OTP' }),
      await at.begin('USER_AUTH', { USERNAME: nobody, PREFERRED_CHALLENGE: 'EMAIL_OTP' }),
    ]
    const shape = ({ body }: typeof real) => ({
      ...body,
      Session: '',
      ChallengeParameters: { ...body['ChallengeParameters'], USER_ID_FOR_SRP: '' },
    })
    expect(shape(fake)).toEqual(shape(real))
    expect((await at.answer('EMAIL_OTP', fake, { USERNAME: nobody, EMAIL_OTP_CODE: '123456' })).body['__type']).toBe(
      'CodeMismatchException',
    )
    const select = await at.begin('USER_AUTH', { USERNAME: nobody })
    expect(select.body['AvailableChallenges']).toEqual(
      (await at.begin('USER_AUTH', { USERNAME: nobody })).body['AvailableChallenges'],
    )
    expect(select.body['AvailableChallenges']).toEqual(
      expect.arrayContaining(['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP']),
    )
    expect(desk.codesFor(nobody)).toBe(0)
    // Nor is anybody told apart who signed up with the address and has not confirmed it.
    const unconfirmed = await desk.signUp()
    await desk.codeFor(unconfirmed.email)
    const theirs = await at.begin('USER_AUTH', { USERNAME: unconfirmed.email, PREFERRED_CHALLENGE: 'EMAIL_OTP' })
    expect(shape(theirs)).toEqual(shape(real))
    expect(theirs.body['ChallengeParameters'].USER_ID_FOR_SRP).not.toBe(unconfirmed.username)
    const choosing = await at.begin('USER_AUTH', { USERNAME: unconfirmed.email })
    const chosen = { USERNAME: unconfirmed.email, ANSWER: 'PASSWORD', PASSWORD: password }
    expect((await at.answer('SELECT_CHALLENGE', choosing, chosen)).body['__type']).toBe('UserNotConfirmedException')
    expect(desk.codesFor(unconfirmed.email)).toBe(1)
  })

  it('lets the session of a confirmation pass once, for that account alone', async () => {
    const person = await desk.signUp()
    const other = await desk.member()
    const { body } = await desk.call('ConfirmSignUp', {
      ClientId: publicClient,
      Username: person.username,
      ConfirmationCode: await desk.codeFor(person.email),
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
  it('asks for a code by mail, three times', async () => {
    const { username, email } = await desk.member()
    const sent = desk.codesFor(email)
    const asked = await at.begin('CUSTOM_AUTH', { USERNAME: email })
    expect(asked.body).toMatchObject({
      ChallengeName: 'CUSTOM_CHALLENGE',
      ChallengeParameters: { USERNAME: username, kind: 'EMAIL_CODE', CODE_DELIVERY_DESTINATION: 'u***@e***' },
    })
    const ANSWER = await desk.codeFor(email, sent)
    for (let tries = 0; tries < 2; tries++) {
      expect((await at.answer('CUSTOM_CHALLENGE', asked, { USERNAME: username, ANSWER: 'no' })).body['__type']).toBe(
        'CodeMismatchException',
      )
    }
    expect((await at.answer('CUSTOM_CHALLENGE', asked, { USERNAME: username, ANSWER })).status).toBe(200)
    const again = await at.begin('CUSTOM_AUTH', { USERNAME: email })
    const code = await desk.codeFor(email, sent + 1)
    for (let tries = 0; tries < 3; tries++)
      await at.answer('CUSTOM_CHALLENGE', again, { USERNAME: username, ANSWER: 'no' })
    expect(await at.answer('CUSTOM_CHALLENGE', again, { USERNAME: username, ANSWER: code })).toMatchObject(noSession)
  })

  it('asks for the password first where it begins with SRP', async () => {
    const { username, email } = await desk.member()
    const srp = startSrp()
    const asked = await at.begin('CUSTOM_AUTH', { USERNAME: username, CHALLENGE_NAME: 'SRP_A', SRP_A: srp.A })
    const sent = desk.codesFor(email)
    const custom = await at.prove(srp, asked)
    expect(custom.body['ChallengeName']).toBe('CUSTOM_CHALLENGE')
    const ANSWER = await desk.codeFor(email, sent)
    expect((await at.answer('CUSTOM_CHALLENGE', custom, { USERNAME: username, ANSWER })).status).toBe(200)
  })
})

describe('flows', () => {
  it('are refused to clients that may not use them', async () => {
    const { clientId } = await desk.pool({}, { ExplicitAuthFlows: ['ALLOW_USER_SRP_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'] })
    const { body } = await signInsAt(desk, clientId).byPassword('maren')
    expect(body).toEqual({
      __type: 'InvalidParameterException',
      message: 'USER_PASSWORD_AUTH flow not enabled for this client',
    })
  })

  it('name what is missing', async () => {
    const { username } = await desk.member()
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
