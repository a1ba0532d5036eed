import { randomUUID } from 'node:crypto'
import { AdminUpdateUserAttributesCommand } from '@aws-sdk/client-cognito-identity-provider'
import { userConfirmed, userDeleted, userUpdated } from '@robokids/contracts/identity'
import { eq } from 'drizzle-orm'
import { TOTP, Secret } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { identity } from '../../src/app.ts'
import { cleanUp } from '../../src/users/clean-up.ts'
import { devices, passkeys, users } from '../../src/schema.ts'
import { newTotpSecret, sealTotpSecret, totpStep } from '../../src/factors/totp.ts'
import { openFrontDesk, password, publicClient, settings, type FrontDesk } from '../front-desk.ts'
import { signInsAt } from '../sign-ins.ts'

let desk: FrontDesk
beforeAll(async () => {
  desk = await openFrontDesk({ EVEN_ANSWER_MS: '5' })
})
afterAll(() => desk.stop())

const other = 'Another-2031?'
const refusal = (__type: string, message: string) => ({ status: 400, body: { __type, message } })
const wrongCode = refusal('CodeMismatchException', 'Invalid verification code provided, please try again.')
const overCode = refusal('ExpiredCodeException', 'Invalid code provided, please request a code again.')
const tooOften = refusal('LimitExceededException', 'Attempt limit exceeded, please try after some time.')
const wrongPassword = refusal('NotAuthorizedException', 'Incorrect username or password.')
const revoked = refusal('NotAuthorizedException', 'Access Token has been revoked')
const done = { status: 200, body: {} }

const signIn = (name: string, secret = password, clientId = publicClient) =>
  desk.call('InitiateAuth', {
    ClientId: clientId,
    AuthFlow: 'USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: name, PASSWORD: secret },
  })
async function tokenOf(name: string, secret = password, clientId = publicClient): Promise<string> {
  const { body } = await signIn(name, secret, clientId)
  return body['AuthenticationResult'].AccessToken as string
}
/** Somebody who is signed in. */
async function guest(attributes: Record<string, string> = {}, clientId = publicClient) {
  const person = await desk.member(clientId, attributes)
  return { ...person, AccessToken: await tokenOf(person.username, password, clientId) }
}
const attributesOf = async (AccessToken: string): Promise<Record<string, string>> => {
  const { body } = await desk.call('GetUser', { AccessToken })
  return Object.fromEntries(
    (body['UserAttributes'] as { Name: string; Value: string }[]).map(({ Name, Value }) => [Name, Value]),
  )
}
/** A six-digit code that is not this one. */
const not = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const maskOf = (email: string) => `${email[0]}***@e***`
const changesOf = (userId: string) =>
  desk.bed.bus.all(userUpdated, (data) => data.userId === userId).map(({ data }) => data)
const told = (userId: string, change: string) =>
  desk.bed.bus.seen(userUpdated, (data) => data.userId === userId && data.changed.includes(change))

describe('SignUp', () => {
  it("takes no name that could be meant as another account's address or sub", async () => {
    const { email, userId } = await desk.member()
    const signUp = (Username: string) =>
      desk.call('SignUp', {
        ClientId: publicClient,
        Username,
        Password: password,
        UserAttributes: [{ Name: 'email', Value: `mine-${email}` }],
      })
    for (const name of [email, email.toUpperCase(), 'nobody@example.com', '@']) {
      expect(await signUp(name)).toEqual(
        refusal(
          'InvalidParameterException',
          'Username cannot be of email format, since user pool is configured for email alias.',
        ),
      )
    }
    for (const name of [userId, userId.toUpperCase()]) {
      expect(await signUp(name)).toEqual(
        refusal(
          'InvalidParameterException',
          'Username cannot be of UUID format, since users are found by their sub as well.',
        ),
      )
    }
    expect(await signIn(email)).toMatchObject({ status: 200 })
  })

  it('names each rule of the pool that a password breaks', async () => {
    const rules = { RequireUppercase: true, RequireLowercase: true, RequireNumbers: true, RequireSymbols: true }
    const { clientId } = await desk.pool({ Policies: { PasswordPolicy: { MinimumLength: 10, ...rules } } })
    const attempt = (Password: string) => desk.call('SignUp', { ClientId: clientId, Username: 'maren', Password })
    expect(await attempt('ROBOT-203')).toEqual(
      refusal(
        'InvalidPasswordException',
        'Password did not conform with policy: Password not long enough | Password must have lowercase characters',
      ),
    )
    expect((await attempt('Robot-2030')).status).toBe(200)
  })

  it('mails the same code to who signs up twice at once', async () => {
    const email = `twice-${randomUUID()}@example.com`
    await Promise.all(Array.from({ length: 5 }, () => desk.signUp(publicClient, { email })))
    const newest = await desk.codeFor(email, 4)
    expect(new Set(desk.codesTo(email))).toEqual(new Set([newest]))
  })

  it('makes one account of many sign-ups of one address with one password, where they may be repeated', async () => {
    const email = `eight-${randomUUID()}@example.com`
    const second = await desk.bed.start(identity, { ...settings, DATABASE_URL: desk.service.databaseUrl })
    const signUp = async (url: string, given_name: string, Password = password, address = email) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'x-amz-target': 'AWSCognitoIdentityProviderService.SignUp' },
        body: JSON.stringify({
          ClientId: publicClient,
          Username: `user_${randomUUID()}`,
          Password,
          UserAttributes: Object.entries({ email: address, given_name }).map(([Name, Value]) => ({ Name, Value })),
          Repeatable: true,
        }),
      })
      const body = (await answer.json()) as Record<string, string>
      return { sub: body['UserSub'] ?? '', name: body['Username'] ?? '' }
    }
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, nth) => signUp(nth % 2 === 0 ? desk.url : second.url, `Maren ${nth}`)),
    )
    const { sub, name } = answers[0] ?? { sub: '', name: '' }
    expect(answers).toEqual(answers.map(() => ({ sub, name })))
    const { db } = desk.service.context
    const accounts = () => db.select().from(users).where(eq(users.emailKey, email))
    expect(await accounts()).toMatchObject([{ id: sub, username: name, status: 'UNCONFIRMED' }])

    // Later as well, with what was corrected, and in any case; another password is another person's.
    expect(await signUp(desk.url, 'Zoe', password, email.toUpperCase())).toEqual({ sub, name })
    expect((await accounts())[0]?.attributes).toMatchObject({ given_name: 'Zoe', email_verified: 'false' })
    const stranger = await signUp(desk.url, 'Bo', other)
    expect(stranger.sub).not.toBe(sub)
    const ConfirmationCode = await desk.codeFor(email)
    const confirm = { ClientId: publicClient, Username: name, ConfirmationCode }
    expect((await desk.call('ConfirmSignUp', confirm)).status).toBe(200)
    // What is confirmed is not signed up with again.
    expect((await signUp(desk.url, 'Maren')).sub).not.toBe(sub)
  })

  it('mails an address ten times an hour, however often it is signed up with and the code asked for, and the newest code works', async () => {
    const email = `often-${randomUUID()}@example.com`
    const answers = await Array.fromAsync({ length: 14 }, (_, nth) =>
      desk.call('SignUp', {
        ClientId: publicClient,
        Username: `often-${randomUUID()}`,
        Password: password,
        UserAttributes: [{ Name: 'email', Value: nth % 2 === 0 ? email : email.toUpperCase() }],
      }),
    )
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body['CodeDeliveryDetails']]))).size).toBe(
      1,
    )
    const { username } = await desk.signUp(publicClient, { email })
    const sent = () => desk.codesFor(email) + desk.codesFor(email.toUpperCase())
    for (let asked = 0; asked < 9; asked++) {
      const resent = await desk.call('ResendConfirmationCode', { ClientId: publicClient, Username: username })
      expect(resent).toMatchObject({ status: 200, body: { CodeDeliveryDetails: { DeliveryMedium: 'EMAIL' } } })
    }
    // Events leave in the order in which they happened.
    await desk.codeFor((await desk.signUp()).email)
    expect(sent()).toBe(10)
    const ConfirmationCode = desk.codesTo(email).at(-1)
    const confirmed = await desk.call('ConfirmSignUp', { ClientId: publicClient, Username: username, ConfirmationCode })
    expect(confirmed.status).toBe(200)
  })
})

describe('GetUserAttributeVerificationCode', () => {
  it('answers however many ask at once, and so does everything else', async () => {
    const { AccessToken } = await guest()
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        desk.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName: 'email' }),
      ),
    )
    const sent = answers.filter(({ status }) => status === 200)
    expect(sent).toHaveLength(10)
    expect(answers.filter((answer) => !sent.includes(answer))).toEqual(Array.from({ length: 30 }, () => tooOften))
  })
})

describe('ResendConfirmationCode', () => {
  it('sends the code again, whoever asks', async () => {
    const { username, email } = await desk.signUp()
    const first = await desk.codeFor(email)
    expect(await desk.call('ResendConfirmationCode', { ClientId: publicClient, Username: username })).toEqual({
      status: 200,
      body: {
        CodeDeliveryDetails: { Destination: maskOf(email), DeliveryMedium: 'EMAIL', AttributeName: 'email' },
      },
    })
    const second = await desk.codeFor(email, 1)
    const confirm = (ConfirmationCode: string) =>
      desk.call('ConfirmSignUp', { ClientId: publicClient, Username: username, ConfirmationCode })
    expect(second).toBe(first)
    expect(await confirm(not(first))).toEqual(wrongCode)
    expect(await confirm(second)).toMatchObject({ status: 200 })
    expect(await confirm(second)).toEqual(overCode)
  })

  it('finds the account by the e-mail address that was given, in any case', async () => {
    const { email } = await desk.signUp()
    const { status } = await desk.call('ResendConfirmationCode', {
      ClientId: publicClient,
      Username: email.toUpperCase(),
    })
    expect(status).toBe(200)
    await desk.codeFor(email, 1)
  })

  it('says of a confirmed account that it is, to clients that are told of accounts', async () => {
    const { clientId } = await desk.pool({}, { PreventUserExistenceErrors: 'LEGACY' })
    const { username } = await desk.member(clientId)
    const resend = (Username: string) => desk.call('ResendConfirmationCode', { ClientId: clientId, Username })
    expect(await resend(username)).toEqual(refusal('InvalidParameterException', 'User is already confirmed.'))
    expect(await resend('nobody')).toEqual(refusal('UserNotFoundException', 'User does not exist.'))
  })

  it('refuses more than a few an hour', async () => {
    const { username } = await desk.signUp()
    const resend = () => desk.call('ResendConfirmationCode', { ClientId: publicClient, Username: username })
    for (let sent = 0; sent < 10; sent++) expect(await resend()).toMatchObject({ status: 200 })
    expect(await resend()).toEqual(tooOften)
  })
})

describe('ConfirmSignUp', () => {
  it('confirms the account whose password is given, by a code to its address, where two signed up with one', async () => {
    const { username, email } = await desk.signUp()
    await desk.codeFor(email)
    const stranger = `stranger-${username}`
    await desk.call('SignUp', {
      ClientId: publicClient,
      Username: stranger,
      Password: other,
      UserAttributes: [{ Name: 'email', Value: email.toUpperCase() }],
    })
    const newest = await desk.codeFor(email.toUpperCase())
    const confirm = (ConfirmationCode: string, more: object = {}, Username = email) =>
      desk.call('ConfirmSignUp', { ClientId: publicClient, Username, ConfirmationCode, ...more })
    expect(await confirm(newest)).toEqual(refusal('InvalidParameterException', 'Missing required parameter Password'))
    expect(await confirm(newest, { Password: 'Neither-2030!' })).toEqual(wrongPassword)
    expect(await signIn(email)).toEqual(refusal('UserNotConfirmedException', 'User is not confirmed.'))
    expect(await confirm(newest, { Password: password })).toMatchObject({ status: 200 })
    expect(await attributesOf(await tokenOf(email))).toMatchObject({ email, email_verified: 'true' })
    expect(await signIn(stranger, other)).toEqual(refusal('UserNotConfirmedException', 'User is not confirmed.'))
    // The address is taken: what was sent for the stranger's account is worth nothing any more.
    expect(await confirm(newest, {}, stranger)).toEqual(overCode)
  })

  it('confirms no account of another password, where one is given, by its address or its name', async () => {
    const { username, email } = await desk.signUp()
    const ConfirmationCode = await desk.codeFor(email)
    for (const Username of [email, username]) {
      const given = { ClientId: publicClient, Username, ConfirmationCode }
      expect(await desk.call('ConfirmSignUp', { ...given, Password: other })).toEqual(wrongPassword)
      expect(await signIn(username)).toEqual(refusal('UserNotConfirmedException', 'User is not confirmed.'))
    }
    const right = { ClientId: publicClient, Username: username, ConfirmationCode, Password: password }
    expect(await desk.call('ConfirmSignUp', right)).toMatchObject({ status: 200 })
  })

  it('lets one account alone have an address, until the other takes it over', async () => {
    const email = `taken-${Date.now()}@example.com`
    const { username: first } = await desk.member(publicClient, { email })
    const { username: second } = await desk.signUp(publicClient, { email: email.toUpperCase() })
    const ConfirmationCode = await desk.codeFor(email.toUpperCase())
    const confirm = (more = {}) =>
      desk.call('ConfirmSignUp', { ClientId: publicClient, Username: second, ConfirmationCode, ...more })
    expect(await confirm()).toEqual(refusal('AliasExistsException', 'An account with the email already exists.'))
    expect(await confirm({ ForceAliasCreation: true })).toMatchObject({ status: 200 })
    const { body } = await desk.call('GetUser', { AccessToken: await tokenOf(email) })
    expect(body['Username']).toBe(second)
    expect(await attributesOf(await tokenOf(first))).toMatchObject({ email_verified: 'false' })
  })
})

describe('ForgotPassword and ConfirmForgotPassword', () => {
  const forgot = (Username: string, ClientId = publicClient) => desk.call('ForgotPassword', { ClientId, Username })
  const reset = (Username: string, ConfirmationCode: string, Password = other, ClientId = publicClient) =>
    desk.call('ConfirmForgotPassword', { ClientId, Username, ConfirmationCode, Password })

  it('give an account another password, by a code, and end its sign-ins', async () => {
    const { username, email, userId, AccessToken } = await guest()
    expect(await forgot(email.toUpperCase())).toEqual({
      status: 200,
      body: {
        CodeDeliveryDetails: { Destination: maskOf(email), DeliveryMedium: 'EMAIL', AttributeName: 'email' },
      },
    })
    const code = await desk.codeFor(email, 1)
    expect(await reset(username, not(code))).toEqual(wrongCode)
    expect(await reset(email, code, 'short')).toMatchObject({ body: { __type: 'InvalidPasswordException' } })
    expect(await reset(email, code)).toEqual(done)
    expect(await reset(email, code)).toEqual(overCode)
    expect(await signIn(username)).toEqual(wrongPassword)
    expect(await signIn(username, other)).toMatchObject({ status: 200 })
    expect(await desk.call('GetUser', { AccessToken })).toEqual(revoked)
    await told(userId, 'password')
  })

  it('work by the address of a sign-up that is not confirmed, which they confirm', async () => {
    const { username, email, userId } = await desk.signUp()
    expect(await forgot(email)).toMatchObject({ status: 200 })
    expect(await reset(email, await desk.codeFor(email, 1))).toEqual(done)
    const AccessToken = await tokenOf(email, other)
    expect(await desk.call('GetUser', { AccessToken })).toMatchObject({ body: { Username: username } })
    expect(await attributesOf(AccessToken)).toMatchObject({ email_verified: 'true' })
    const confirmed = await desk.bed.bus.seen(userConfirmed, (data) => data.userId === userId)
    expect(confirmed.data.emailVerified).toBe(true)
  })

  it('end a sign-in that was begun with the password before', async () => {
    const { clientId } = await desk.pool()
    const { username, email } = await desk.member(clientId)
    const begun = await desk.call('InitiateAuth', {
      ClientId: clientId,
      AuthFlow: 'USER_AUTH',
      AuthParameters: { USERNAME: username },
    })
    await forgot(username, clientId)
    expect(await reset(username, await desk.codeFor(email, 1), other, clientId)).toEqual(done)
    const answered = await desk.call('RespondToAuthChallenge', {
      ClientId: clientId,
      ChallengeName: 'SELECT_CHALLENGE',
      Session: begun.body['Session'],
      ChallengeResponses: { USERNAME: username, ANSWER: 'PASSWORD', PASSWORD: other },
    })
    expect(answered).toEqual(refusal('NotAuthorizedException', 'Invalid session for the user, session is expired.'))
  })

  it('take one code a few times, and then another', async () => {
    const { username, email } = await desk.member()
    expect(await reset(username, '000000')).toEqual(overCode)
    await forgot(username)
    const first = await desk.codeFor(email, 1)
    for (let tries = 0; tries < 4; tries++) expect(await reset(username, not(first))).toEqual(wrongCode)
    await forgot(email)
    expect(await desk.codeFor(email, 2)).toBe(first)
    for (let tries = 0; tries < 5; tries++) expect(await reset(username, not(first))).toEqual(wrongCode)
    expect(await reset(username, first)).toEqual(tooOften)
    await forgot(username)
    expect(await reset(username, await desk.codeFor(email, 3))).toEqual(done)
  })

  it('leave nothing in the account of whoever had it, where they prove its address for the first time', async () => {
    const { clientId, poolId } = await desk.pool({ MfaConfiguration: 'OPTIONAL' })
    const { username, userId, AccessToken } = await guest({}, clientId)
    const { db, clock, config } = desk.service.context
    const [number, email] = ['+16505550155', `proven-${username}@example.com`]
    await desk.call('DeleteUserAttributes', { AccessToken, UserAttributeNames: ['email'] })
    const UserAttributes = Object.entries({ email, phone_number: number }).map(([Name, Value]) => ({ Name, Value }))
    await desk.call('UpdateUserAttributes', { AccessToken, UserAttributes })
    await desk.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName: 'phone_number' })
    const Code = await desk.codeFor(number)
    await desk.call('VerifyUserAttribute', { AccessToken, AttributeName: 'phone_number', Code })
    expect(await attributesOf(AccessToken)).toMatchObject({ phone_number_verified: 'true' })
    const created = { createdAt: clock.now(), updatedAt: clock.now(), lastSignInAt: clock.now() }
    const device = { key: `${poolId}_${username}`, groupKey: '-a', lastAddress: '192.0.2.1', remembered: true }
    await db.insert(devices).values({ ...device, ...created, userId })
    const passkey = { id: `passkey-${username}`, name: 'Passkey 1', relyingPartyId: 'localhost', publicKey: 'AA' }
    await db.insert(passkeys).values({ ...passkey, userId, counter: 0, transports: [], createdAt: clock.now() })
    const sealedTotpSecret = sealTotpSecret(newTotpSecret(), userId, config)
    await db
      .update(users)
      .set({ sealedTotpSecret, mfa: ['SOFTWARE_TOKEN_MFA'], preferredMfa: 'SOFTWARE_TOKEN_MFA' })
      .where(eq(users.id, userId))

    const sent = desk.codesFor(email)
    expect(await forgot(email, clientId)).toMatchObject({ status: 200 })
    expect(await reset(email, await desk.codeFor(email, sent), other, clientId)).toEqual(done)
    expect(await desk.call('GetUser', { AccessToken })).toEqual(revoked)
    const token = await tokenOf(email, other, clientId)
    expect((await desk.call('GetUser', { AccessToken: token })).body['UserMFASettingList']).toBeUndefined()
    expect(await attributesOf(token)).toMatchObject({ email_verified: 'true', phone_number_verified: 'false' })
    expect(await db.$count(passkeys, eq(passkeys.userId, userId))).toBe(0)
    expect(await db.$count(devices, eq(devices.key, device.key))).toBe(0)
  })

  it('do not take the code of another account, or of another purpose', async () => {
    const [maren, bo] = [await desk.member(), await desk.signUp()]
    await forgot(maren.username)
    await forgot(bo.email)
    const [code, signUpCode, hers] = [
      await desk.codeFor(bo.email, 1),
      await desk.codeFor(bo.email, 0),
      await desk.codeFor(maren.email, 1),
    ]
    expect(code).toBe(signUpCode)
    if (hers !== code) expect(await reset(maren.username, code)).toEqual(wrongCode)
    const confirmed = await desk.call('ConfirmSignUp', {
      ClientId: publicClient,
      Username: bo.username,
      ConfirmationCode: hers,
    })
    expect(confirmed.status).toBe(400)
  })

  it('leave a code that strangers guess at to its owner', async () => {
    const guarded = await openFrontDesk({ EVEN_ANSWER_MS: '5', TRUST_PROXY: 'loopback' })
    try {
      const { username, email } = await guarded.member()
      const from = (address: string) => ({ 'x-forwarded-for': address })
      await guarded.call('ForgotPassword', { ClientId: publicClient, Username: username }, from('192.0.2.1'))
      const code = await guarded.codeFor(email, 1)
      const attempt = (ConfirmationCode: string, address: string) =>
        guarded.call(
          'ConfirmForgotPassword',
          { ClientId: publicClient, Username: username, ConfirmationCode, Password: other },
          from(address),
        )
      // Whoever has not asked for a code is not told that somebody else has.
      for (let tries = 0; tries < 55; tries++) expect(await attempt(not(code), '203.0.113.7')).toEqual(overCode)
      // Nor does a stranger who asks as well put another in its place.
      await guarded.call('ForgotPassword', { ClientId: publicClient, Username: email }, from('203.0.113.8'))
      expect(await attempt(code, '192.0.2.1')).toEqual(done)
    } finally {
      await guarded.stop()
    }
  })

  it('leave a code to whoever asked for it, however often a stranger asks and guesses', async () => {
    const guarded = await openFrontDesk({ EVEN_ANSWER_MS: '5', TRUST_PROXY: 'loopback' })
    try {
      const { username, email } = await guarded.member()
      const forgotten = (address: string) =>
        guarded.call('ForgotPassword', { ClientId: publicClient, Username: email }, { 'x-forwarded-for': address })
      const attempt = (ConfirmationCode: string, address: string) =>
        guarded.call(
          'ConfirmForgotPassword',
          { ClientId: publicClient, Username: username, ConfirmationCode, Password: other },
          { 'x-forwarded-for': address },
        )
      await forgotten('192.0.2.1')
      const code = await guarded.codeFor(email, 1)
      for (let round = 0; round < 6; round++) {
        expect((await forgotten('203.0.113.7')).status).toBe(200)
        for (let tries = 0; tries < 5; tries++) expect(await attempt('no code', '203.0.113.7')).toEqual(wrongCode)
        expect(await attempt(code, '203.0.113.7')).toEqual(tooOften)
      }
      // The newest in the mailbox came at the stranger's asking: it is the same.
      expect(await guarded.codeFor(email, 7)).toBe(code)
      expect(await attempt(code, '192.0.2.1')).toEqual(done)
      expect((await attempt(code, '192.0.2.1')).status).toBe(400)
    } finally {
      await guarded.stop()
    }
  })

  it('do not take a code that went to an address that the account has replaced', async () => {
    const { username, email, AccessToken } = await guest()
    await forgot(email)
    const code = await desk.codeFor(email, 1)
    const address = `new-${email}`
    await desk.call('UpdateUserAttributes', { AccessToken, UserAttributes: [{ Name: 'email', Value: address }] })
    const Code = await desk.codeFor(address)
    expect(await desk.call('VerifyUserAttribute', { AccessToken, AttributeName: 'email', Code })).toEqual(done)
    for (const name of [username, address, email]) expect((await reset(name, code)).status).toBe(400)
    expect(await signIn(address)).toMatchObject({ status: 200 })
  })

  it('refuse a code that is too old', async () => {
    const { username, email } = await desk.member()
    await forgot(username)
    const code = await desk.codeFor(email, 1)
    const later = await desk.bed.start(identity, {
      ...settings,
      DATABASE_URL: desk.service.databaseUrl,
      CLOCK_OFFSET: 'PT61M',
    })
    const answer = await fetch(later.url, {
      method: 'POST',
      headers: { 'x-amz-target': 'AWSCognitoIdentityProviderService.ConfirmForgotPassword' },
      body: JSON.stringify({
        ClientId: publicClient,
        Username: username,
        ConfirmationCode: code,
        Password: other,
      }),
    })
    expect({ status: answer.status, body: await answer.json() }).toEqual(overCode)
    await later.stop()
    expect(await signIn(username)).toMatchObject({ status: 200 })
  })

  it('tell of accounts to clients that are told', async () => {
    const { clientId, poolId } = await desk.pool({}, { PreventUserExistenceErrors: 'LEGACY' })
    expect(poolId).not.toBe('')
    const unknown = refusal('UserNotFoundException', 'User does not exist.')
    expect(await forgot('nobody', clientId)).toEqual(unknown)
    expect(await reset('nobody', '000000', other, clientId)).toEqual(unknown)
    const nowhere = await desk.call('SignUp', { ClientId: clientId, Username: 'bo', Password: password })
    expect(nowhere.status).toBe(200)
    expect(await forgot('bo', clientId)).toEqual(
      refusal(
        'InvalidParameterException',
        'Cannot reset password for the user as there is no registered/verified email or phone_number',
      ),
    )
  })

  it('send two people who ask at once one code each that works', async () => {
    const { username, email } = await desk.member()
    const answers = await Promise.all(Array.from({ length: 5 }, () => forgot(username)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const code = await desk.codeFor(email, 5)
    const resets = await Promise.all(Array.from({ length: 5 }, () => reset(username, code)))
    expect(resets.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

describe('ChangePassword', () => {
  const change = (AccessToken: string, PreviousPassword: string, ProposedPassword: string) =>
    desk.call('ChangePassword', { AccessToken, PreviousPassword, ProposedPassword })

  it('ends the other sign-ins, and goes on with its own', async () => {
    const { username, userId, AccessToken } = await guest()
    const elsewhere = await tokenOf(username)
    expect(await change(AccessToken, password, other)).toEqual(done)
    expect(await desk.call('GetUser', { AccessToken })).toMatchObject({ status: 200 })
    expect(await desk.call('GetUser', { AccessToken: elsewhere })).toEqual(revoked)
    expect(await signIn(username)).toEqual(wrongPassword)
    expect(await signIn(username, other)).toMatchObject({ status: 200 })
    await told(userId, 'password')
  })

  it('refuses a wrong password, a few times', async () => {
    const { AccessToken } = await guest()
    for (let tries = 0; tries < 5; tries++)
      expect(await change(AccessToken, 'Wrong-2030!', other)).toEqual(wrongPassword)
    expect(await change(AccessToken, password, other)).toEqual(tooOften)
  })

  it('is for its owner while somebody who has stolen a session guesses, or does not guess but only asks', async () => {
    const { username, AccessToken: stolen } = await guest()
    const own = await tokenOf(username)
    for (let tries = 0; tries < 6; tries++) await change(stolen, 'Wrong-2030!', other)
    expect(await change(stolen, password, other)).toEqual(tooOften)
    expect(await change(own, password, other)).toEqual(done)
    expect(await desk.call('GetUser', { AccessToken: stolen })).toEqual(revoked)
  })

  it('takes a password by its characters, not by its bytes, and trims nothing', async () => {
    const composed = 'Ma\u00f1ana-2030!'
    const decomposed = 'Man\u0303ana-2030!'
    const { username, AccessToken } = await guest()
    expect(await change(AccessToken, password, composed)).toEqual(done)
    expect(await signIn(username, decomposed)).toMatchObject({ status: 200 })
    const spaced = ' Robot-2030! '
    expect(await change(AccessToken, decomposed, spaced)).toEqual(done)
    expect(await signIn(username, spaced)).toMatchObject({ status: 200 })
    expect(await signIn(username, spaced.trim())).toEqual(wrongPassword)
  })

  it('takes by SRP the very characters that were typed, composed or not', async () => {
    for (const typed of ['Ma\u00f1ana-2030!', 'Man\u0303ana-2030!']) {
      const { username, AccessToken } = await guest()
      expect(await change(AccessToken, password, typed)).toEqual(done)
      expect((await signInsAt(desk).bySrp(username, typed)).status).toBe(200)
      expect(await signIn(username, typed.normalize('NFC'))).toMatchObject({ status: 200 })
    }
  })

  it.each([
    ['aB1!', 'Password not long enough'],
    ['robot-2030!', 'Password must have uppercase characters'],
    ['Robot-robot!', 'Password must have numeric characters'],
    ['Robot2030robot', 'Password must have symbol characters'],
    [
      'robot',
      'Password not long enough | Password must have uppercase characters | Password must have numeric characters | Password must have symbol characters',
    ],
    ['Abcdef1€', 'Password must have symbol characters'],
    ['Пароль1!', 'Password must have uppercase characters'],
    ['éclair1!', 'Password must have uppercase characters'],
    ['Abcdef١!', 'Password must have numeric characters'],
  ])('refuses %s by the policy', async (proposed, broken) => {
    const { AccessToken } = await guest()
    expect(await change(AccessToken, password, proposed)).toEqual(
      refusal('InvalidPasswordException', `Password did not conform with policy: ${broken}`),
    )
  })

  it('refuses a token of nobody', async () => {
    expect(await change('a.b.c', password, other)).toEqual(refusal('NotAuthorizedException', 'Invalid Access Token'))
  })
})

describe('UpdateUserAttributes', () => {
  const update = (AccessToken: string, attributes: Record<string, string>) =>
    desk.call('UpdateUserAttributes', {
      AccessToken,
      UserAttributes: Object.entries(attributes).map(([Name, Value]) => ({ Name, Value })),
    })
  const verify = (AccessToken: string, AttributeName: string, Code: string) =>
    desk.call('VerifyUserAttribute', { AccessToken, AttributeName, Code })

  it('changes what is not verified at once', async () => {
    const { AccessToken, userId } = await guest()
    expect(await update(AccessToken, { given_name: 'Bo', address: '1 Main St, Town, CA 94401' })).toEqual({
      status: 200,
      body: { CodeDeliveryDetailsList: [] },
    })
    expect(await attributesOf(AccessToken)).toMatchObject({ given_name: 'Bo', email_verified: 'true' })
    const { data } = await told(userId, 'given_name')
    expect(data).toMatchObject({ changed: ['given_name', 'address'], previousEmail: null, givenName: 'Bo' })
  })

  it('keeps the verified address as the sign-in until the new one is verified', async () => {
    const { username, email, userId, AccessToken } = await guest()
    const next = `next-${email}`
    expect(await update(AccessToken, { email: next })).toEqual({
      status: 200,
      body: {
        CodeDeliveryDetailsList: [{ Destination: maskOf(next), DeliveryMedium: 'EMAIL', AttributeName: 'email' }],
      },
    })
    expect(await attributesOf(AccessToken)).toMatchObject({ email: next, email_verified: 'false' })
    expect((await told(userId, 'email')).data).toMatchObject({
      previousEmail: email,
      email: next,
      emailVerified: false,
    })
    expect(await signIn(email)).toMatchObject({ status: 200 })
    expect(await signIn(next)).toEqual(wrongPassword)
    // A reset still goes where the mailbox is known to be the person's.
    await desk.call('ForgotPassword', { ClientId: publicClient, Username: username })
    await desk.codeFor(email, 1)

    const code = await desk.codeFor(next)
    expect(await verify(AccessToken, 'email', not(code))).toEqual(wrongCode)
    expect(await verify(AccessToken, 'email', code)).toEqual(done)
    expect(await verify(AccessToken, 'email', code)).toEqual(overCode)
    expect(await attributesOf(AccessToken)).toMatchObject({ email: next, email_verified: 'true' })
    expect(await signIn(next.toUpperCase())).toMatchObject({ status: 200 })
    expect(await signIn(email)).toEqual(wrongPassword)
    await told(userId, 'email_verified')
  })

  it('goes on telling the verified address what changes, until its successor is verified', async () => {
    const { email, userId, AccessToken } = await guest()
    await update(AccessToken, { email: `next-${email}` })
    await desk.call('ChangePassword', { AccessToken, PreviousPassword: password, ProposedPassword: other })
    expect((await told(userId, 'password')).data).toMatchObject({ emailVerified: false, previousEmail: email })
  })

  it('counts the address that is verified already as such, however it is written', async () => {
    const { email, AccessToken } = await guest()
    await update(AccessToken, { email: `other-${email}` })
    expect(await update(AccessToken, { email: email.toUpperCase() })).toMatchObject({
      body: { CodeDeliveryDetailsList: [] },
    })
    expect(await attributesOf(AccessToken)).toMatchObject({ email: email.toUpperCase(), email_verified: 'true' })
    // The code for the address in between proves nothing any more.
    expect(await verify(AccessToken, 'email', await desk.codeFor(`other-${email}`))).toEqual(overCode)
  })

  it('sends codes to a few of the addresses an hour that an account claims, and to an address that many claim', async () => {
    const { AccessToken, email } = await guest()
    const claim = (Value: string) => update(AccessToken, { email: Value })
    for (let nth = 0; nth < 10; nth++) expect((await claim(`${nth}-${email}`)).status).toBe(200)
    expect(await claim(`last-${email}`)).toEqual(tooOften)
    expect(await attributesOf(AccessToken)).toMatchObject({ email: `9-${email}` })

    const number = '+16505550177'
    const answers = await Array.fromAsync({ length: 11 }, async () => {
      const { AccessToken: token } = await guest({ phone_number: number })
      return desk.call('GetUserAttributeVerificationCode', { AccessToken: token, AttributeName: 'phone_number' })
    })
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 200), 400])
    expect(answers.at(-1)).toEqual(tooOften)
  })

  it.each(['custom:role', 'nickname', 'picture', 'preferred_username', 'updated_at', 'website'])(
    'lets nobody say %s of themselves: what people write is a list, and the rest is said by administrators',
    async (name) => {
      const { AccessToken, username } = await guest()
      const refused = refusal('NotAuthorizedException', 'A client attempted to write unauthorized attribute')
      expect(await update(AccessToken, { [name]: 'staff', given_name: 'Bo' })).toEqual(refused)
      const signUp = await desk.call('SignUp', {
        ClientId: publicClient,
        Username: `user_${randomUUID()}`,
        Password: password,
        UserAttributes: [{ Name: name, Value: 'staff' }],
      })
      expect(signUp).toEqual(refused)
      const asAdministrator = { UserPoolId: 'us-west-1_RoboKids', Username: username }
      const UserAttributes = [{ Name: name, Value: 'staff' }]
      await desk.sdk.send(new AdminUpdateUserAttributesCommand({ ...asAdministrator, UserAttributes }))
      const before = await attributesOf(AccessToken)
      expect(before).toMatchObject({ [name]: 'staff', given_name: 'Maren' })
      expect(await desk.call('DeleteUserAttributes', { AccessToken, UserAttributeNames: [name] })).toEqual(refused)
      expect(await attributesOf(AccessToken)).toEqual(before)
    },
  )

  it('gives an account no more attributes than its tokens can carry', async () => {
    const { AccessToken, username } = await guest()
    const say = (from: number, count: number) =>
      desk.sdk.send(
        new AdminUpdateUserAttributesCommand({
          UserPoolId: 'us-west-1_RoboKids',
          Username: username,
          UserAttributes: Array.from({ length: count }, (_, index) => ({
            Name: `custom:a${from + index}`,
            Value: 'x',
          })),
        }),
      )
    await say(0, 40)
    await expect(say(40, 9)).rejects.toMatchObject({
      name: 'InvalidParameterException',
      message: 'A user can have at most 50 attributes.',
    })
    // Two are there from the sign-up.
    await say(40, 8)
    expect(await update(AccessToken, { given_name: 'Bo' })).toMatchObject({ status: 200 })
    const more = { family_name: 'Holt' }
    expect(await update(AccessToken, more)).toEqual(
      refusal('InvalidParameterException', 'A user can have at most 50 attributes.'),
    )
  })

  it("does not let an address be verified that is another account's", async () => {
    const bo = await desk.member()
    const { AccessToken } = await guest()
    await update(AccessToken, { email: bo.email })
    expect(await verify(AccessToken, 'email', await desk.codeFor(bo.email, 1))).toEqual(
      refusal('AliasExistsException', 'An account with the email already exists.'),
    )
    expect(await desk.call('GetUser', { AccessToken: await tokenOf(bo.email) })).toMatchObject({
      body: { Username: bo.username },
    })
  })

  it.each([
    [{ email: 'nonsense' }, 'Invalid email address format.'],
    [{ phone_number: '555 1234' }, 'Invalid phone number format.'],
    [{ email_verified: 'true' }, 'Cannot modify the non-mutable attribute email_verified'],
    [{ sub: 'a' }, 'Cannot modify an immutable attribute'],
    [{ birthdate: '2001-02-29' }, 'Attributes did not conform to the schema: birthdate: Invalid date format.'],
    [{ nonsense: 'a' }, 'Attributes did not conform to the schema: nonsense: Attribute does not exist in the schema.'],
  ])('refuses %o', async (attributes, message) => {
    const { AccessToken } = await guest()
    expect(await update(AccessToken, attributes as Record<string, string>)).toEqual(
      refusal('InvalidParameterException', message),
    )
  })

  it('verifies a phone number by a text message', async () => {
    const { AccessToken } = await guest()
    const number = `+1555${String(Date.now()).slice(-7)}`
    const send = () => desk.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName: 'phone_number' })
    expect(await send()).toEqual(refusal('InvalidParameterException', 'User does not have attribute phone_number.'))
    await update(AccessToken, { phone_number: number })
    expect(await attributesOf(AccessToken)).toMatchObject({ phone_number: number, phone_number_verified: 'false' })
    expect(await send()).toEqual({
      status: 200,
      body: {
        CodeDeliveryDetails: {
          Destination: `+*******${number.slice(-4)}`,
          DeliveryMedium: 'SMS',
          AttributeName: 'phone_number',
        },
      },
    })
    expect(await verify(AccessToken, 'phone_number', await desk.codeFor(number))).toEqual(done)
    expect(await attributesOf(AccessToken)).toMatchObject({ phone_number_verified: 'true' })
    expect(await verify(AccessToken, 'given_name', '000000')).toEqual(
      refusal('InvalidParameterException', 'Attribute given_name cannot be verified.'),
    )
  })
})

describe('DeleteUserAttributes', () => {
  it('takes attributes away, and the sign-in by the address with it', async () => {
    const { username, email, userId, AccessToken } = await guest({ family_name: 'Holt' })
    const remove = (...UserAttributeNames: string[]) =>
      desk.call('DeleteUserAttributes', { AccessToken, UserAttributeNames })
    expect(await remove('email_verified')).toMatchObject({ body: { __type: 'InvalidParameterException' } })
    expect(await remove('email', 'family_name')).toEqual(done)
    const left = await attributesOf(AccessToken)
    expect(Object.keys(left).toSorted((one, next) => one.localeCompare(next))).toEqual(['given_name', 'sub'])
    expect(await signIn(email)).toEqual(wrongPassword)
    expect(await signIn(username)).toMatchObject({ status: 200 })
    expect((await told(userId, 'email')).data).toMatchObject({ email: null, previousEmail: email })
  })
})

describe('a sign-up that is never confirmed', () => {
  it('is forgotten after a month, and one that is confirmed is not', async () => {
    const own = await openFrontDesk({ EVEN_ANSWER_MS: '5' })
    try {
      const { context } = own.service
      const [confirmed, forgotten] = [await own.member(), await own.signUp()]
      context.clock.advance({ hours: 24 * 15 })
      const late = await own.signUp()
      await cleanUp.run(context, AbortSignal.any([]))
      const left = async () => (await context.db.select({ id: users.id }).from(users)).map(({ id }) => id).toSorted()
      expect(await left()).toEqual([confirmed.userId, forgotten.userId, late.userId].toSorted())
      context.clock.advance({ hours: 24 * 16 })
      await Promise.all([cleanUp.run(context, AbortSignal.any([])), cleanUp.run(context, AbortSignal.any([]))])
      expect(await left()).toEqual([confirmed.userId, late.userId].toSorted())
      await own.bed.bus.seen(userDeleted, ({ userId }) => userId === forgotten.userId)
      expect(own.bed.bus.all(userDeleted)).toHaveLength(1)
    } finally {
      await own.stop()
    }
  })
})

describe('DeleteUser', () => {
  it('deletes the account, its sign-ins and its address', async () => {
    const { username, email, userId, AccessToken } = await guest()
    expect(await desk.call('DeleteUser', { AccessToken })).toEqual(done)
    expect(await desk.call('GetUser', { AccessToken })).toEqual(revoked)
    expect(await signIn(username)).toEqual(wrongPassword)
    await desk.bed.bus.seen(userDeleted, (data) => data.userId === userId && data.email === email)
    await desk.member(publicClient, { email: email.toUpperCase() })
    expect(await signIn(email)).toMatchObject({ status: 200 })
  })

  it('deletes it by the password alone where one is given, and sends nothing', async () => {
    const { clientId } = await desk.pool({ MfaConfiguration: 'OPTIONAL' })
    const { userId, email, AccessToken } = await guest({}, clientId)
    await desk.service.context.db
      .update(users)
      .set({ mfa: ['EMAIL_OTP'] })
      .where(eq(users.id, userId))
    const sent = desk.codesFor(email)
    const remove = (Password: string) => desk.call('DeleteUser', { AccessToken, Password })
    expect(await remove(other)).toEqual(wrongPassword)
    expect(await desk.call('GetUser', { AccessToken })).toMatchObject({ status: 200 })
    expect(await remove(password)).toEqual(done)
    expect(await desk.call('GetUser', { AccessToken })).toEqual(revoked)
    await desk.bed.bus.seen(userDeleted, (data) => data.userId === userId)
    expect(desk.codesFor(email)).toBe(sent)
  })

  it('makes whoever guesses the password wait, also many guesses at once, as at a sign-in', async () => {
    const { username, AccessToken } = await guest()
    const remove = (Password: string) => desk.call('DeleteUser', { AccessToken, Password })
    const waits = refusal('NotAuthorizedException', 'Password attempts exceeded')
    const guesses = await Promise.all(Array.from({ length: 30 }, (_, nth) => remove(`${other}${nth}`)))
    expect(guesses.filter((answer) => answer.body['message'] === wrongPassword.body.message)).toHaveLength(6)
    expect(guesses.filter((answer) => answer.body['message'] === waits.body.message)).toHaveLength(24)
    expect(await remove(password)).toEqual(waits)
    expect(await signIn(username)).toEqual(waits)
    expect(await desk.call('GetUser', { AccessToken })).toMatchObject({ status: 200 })
  })

  it('deletes it once, however many ask at once', async () => {
    const { userId, AccessToken } = await guest()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => desk.call('DeleteUser', { AccessToken, Password: password })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body['__type'])).toEqual(
      Array.from({ length: 7 }, () => 'NotAuthorizedException'),
    )
    await desk.bed.bus.seen(userDeleted, (data) => data.userId === userId)
    expect(desk.bed.bus.all(userDeleted, (data) => data.userId === userId)).toHaveLength(1)
  })
})

describe('AssociateSoftwareToken, VerifySoftwareToken and SetUserMFAPreference', () => {
  const codeOf = (secret: string, steps = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: desk.service.context.clock.now().epochMilliseconds + steps * 30_000,
    })
  const associate = async (AccessToken: string) => {
    const { body } = await desk.call('AssociateSoftwareToken', { AccessToken })
    return body['SecretCode'] as string
  }
  const verify = (AccessToken: string, UserCode: string) =>
    desk.call('VerifySoftwareToken', { AccessToken, UserCode, FriendlyDeviceName: 'phone' })
  const prefer = (AccessToken: string, wish: object) => desk.call('SetUserMFAPreference', { AccessToken, ...wish })

  it('set an authenticator up, and turn it on and off', async () => {
    const { username, userId, AccessToken } = await guest()
    const secret = await associate(AccessToken)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    const on = { SoftwareTokenMfaSettings: { Enabled: true, PreferredMfa: true } }
    expect(await prefer(AccessToken, on)).toEqual(
      refusal('InvalidParameterException', 'User has not verified software token mfa'),
    )
    const wrong = ['000000', '111111', '222222', '333333'].find(
      (code) => totpStep(secret, code, desk.service.context.clock.now()) === undefined,
    )
    expect(await verify(AccessToken, wrong ?? '')).toMatchObject({
      // A parent reads it.
      body: { __type: 'EnableSoftwareTokenMFAException', message: expect.stringMatching(/^The code does not match/) },
    })
    // A phone that is seconds off.
    expect(await verify(AccessToken, codeOf(secret, -1))).toEqual({ status: 200, body: { Status: 'SUCCESS' } })
    expect(await prefer(AccessToken, { ...on, SMSMfaSettings: null })).toEqual(done)
    expect(await desk.call('GetUser', { AccessToken })).toMatchObject({
      body: { UserMFASettingList: ['SOFTWARE_TOKEN_MFA'], PreferredMfaSetting: 'SOFTWARE_TOKEN_MFA' },
    })
    expect(await signIn(username)).toMatchObject({ body: { ChallengeName: 'SOFTWARE_TOKEN_MFA' } })
    await told(userId, 'mfa')
    const before = changesOf(userId).length
    expect(await prefer(AccessToken, on)).toEqual(done)
    expect(await prefer(AccessToken, { SoftwareTokenMfaSettings: { Enabled: false } })).toEqual(done)
    expect(await signIn(username)).toMatchObject({ body: { AuthenticationResult: {} } })
    await desk.call('UpdateUserAttributes', { AccessToken, UserAttributes: [{ Name: 'family_name', Value: 'M' }] })
    await told(userId, 'family_name')
    // What was so already is no change that anybody is told of.
    expect(changesOf(userId).slice(before)).toMatchObject([{ changed: ['mfa'] }, { changed: ['family_name'] }])
  })

  it('keep the authenticator in use until another one has shown a code', async () => {
    const { username, AccessToken } = await guest()
    const secret = await associate(AccessToken)
    await verify(AccessToken, codeOf(secret, -1))
    await prefer(AccessToken, { SoftwareTokenMfaSettings: { Enabled: true } })
    await associate(AccessToken)
    const asked = await signIn(username)
    const answered = await desk.call('RespondToAuthChallenge', {
      ClientId: publicClient,
      ChallengeName: 'SOFTWARE_TOKEN_MFA',
      Session: asked.body['Session'],
      ChallengeResponses: { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE: codeOf(secret) },
    })
    expect(answered).toMatchObject({ body: { AuthenticationResult: {} } })
  })

  it('refuse what was not begun, or is not for the pool', async () => {
    const { AccessToken } = await guest()
    expect(await verify(AccessToken, '000000')).toMatchObject({
      body: { __type: 'SoftwareTokenMFANotFoundException' },
    })
    const { clientId } = await desk.pool({ MfaConfiguration: 'OFF' })
    const outside = await guest({}, clientId)
    expect(await desk.call('AssociateSoftwareToken', { AccessToken: outside.AccessToken })).toMatchObject({
      body: { __type: 'SoftwareTokenMFANotFoundException' },
    })
    expect(await desk.call('AssociateSoftwareToken', {})).toEqual(
      refusal('InvalidParameterException', 'Missing required parameter AccessToken'),
    )
  })

  it('let one factor be preferred, and only one that is on', async () => {
    const { AccessToken } = await guest()
    const both = { Enabled: true, PreferredMfa: true }
    expect(await prefer(AccessToken, { EmailMfaSettings: both, SMSMfaSettings: both })).toEqual(
      refusal('InvalidParameterException', 'Only one MFA method can be preferred.'),
    )
    expect(await prefer(AccessToken, { EmailMfaSettings: { PreferredMfa: true } })).toMatchObject({
      body: { __type: 'InvalidParameterException' },
    })
    expect(await prefer(AccessToken, { SMSMfaSettings: { Enabled: true } })).toEqual(
      refusal('InvalidParameterException', 'User has no verified phone_number.'),
    )
    expect(await prefer(AccessToken, { EmailMfaSettings: both })).toEqual(done)
    expect(await prefer(AccessToken, { EmailMfaSettings: { Enabled: true, PreferredMfa: false } })).toEqual(done)
    const { body } = await desk.call('GetUser', { AccessToken })
    expect(body['UserMFASettingList']).toEqual(['EMAIL_OTP'])
    expect(body).not.toHaveProperty('PreferredMfaSetting')
  })
})
