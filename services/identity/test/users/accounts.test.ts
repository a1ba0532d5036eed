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
import { startIdentity, password, publicClient, settings, type IdentityFixture } from '../fixture.ts'
import { signInClient } from '../sign-in-client.ts'

let fixture: IdentityFixture
beforeAll(async () => {
  fixture = await startIdentity({ EVEN_ANSWER_MS: '5' })
})
afterAll(() => fixture.stop())

const other = 'Another-2031?'
const refusal = (__type: string, message: string) => ({ status: 400, body: { __type, message } })
const wrongCode = refusal('CodeMismatchException', 'Invalid verification code provided, please try again.')
const overCode = refusal('ExpiredCodeException', 'Invalid code provided, please request a code again.')
const tooOften = refusal('LimitExceededException', 'Attempt limit exceeded, please try after some time.')
const wrongPassword = refusal('NotAuthorizedException', 'Incorrect username or password.')
const revoked = refusal('NotAuthorizedException', 'Access Token has been revoked')
const done = { status: 200, body: {} }

const signIn = (name: string, secret = password, clientId = publicClient) =>
  fixture.call('InitiateAuth', {
    ClientId: clientId,
    AuthFlow: 'USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: name, PASSWORD: secret },
  })
async function tokenOf(name: string, secret = password, clientId = publicClient): Promise<string> {
  const { body } = await signIn(name, secret, clientId)
  return body['AuthenticationResult'].AccessToken as string
}
/** A signed-in user. */
async function guest(attributes: Record<string, string> = {}, clientId = publicClient) {
  const person = await fixture.member(clientId, attributes)
  return { ...person, AccessToken: await tokenOf(person.username, password, clientId) }
}
const attributesOf = async (AccessToken: string): Promise<Record<string, string>> => {
  const { body } = await fixture.call('GetUser', { AccessToken })
  return Object.fromEntries(
    (body['UserAttributes'] as { Name: string; Value: string }[]).map(({ Name, Value }) => [Name, Value]),
  )
}
/** A different six-digit code. */
const not = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const maskOf = (email: string) => `${email[0]}***@e***`
const changesOf = (userId: string) =>
  fixture.bed.bus.all(userUpdated, (data) => data.userId === userId).map(({ data }) => data)
const waitForUpdate = (userId: string, change: string) =>
  fixture.bed.bus.seen(userUpdated, (data) => data.userId === userId && data.changed.includes(change))

describe('SignUp', () => {
  it('rejects usernames that look like an email or sub', async () => {
    const { email, userId } = await fixture.member()
    const signUp = (Username: string) =>
      fixture.call('SignUp', {
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

  it('names each policy rule that a password breaks', async () => {
    const rules = { RequireUppercase: true, RequireLowercase: true, RequireNumbers: true, RequireSymbols: true }
    const { clientId } = await fixture.pool({ Policies: { PasswordPolicy: { MinimumLength: 10, ...rules } } })
    const attempt = (Password: string) => fixture.call('SignUp', { ClientId: clientId, Username: 'maren', Password })
    expect(await attempt('ROBOT-203')).toEqual(
      refusal(
        'InvalidPasswordException',
        'Password did not conform with policy: Password not long enough | Password must have lowercase characters',
      ),
    )
    expect((await attempt('Robot-2030')).status).toBe(200)
  })

  it('mails the same code for two concurrent sign-ups of a user', async () => {
    const email = `twice-${randomUUID()}@example.com`
    await Promise.all(Array.from({ length: 5 }, () => fixture.signUp(publicClient, { email })))
    const newest = await fixture.codeFor(email, 4)
    expect(new Set(fixture.codesTo(email))).toEqual(new Set([newest]))
  })

  it('creates one account for repeatable sign-ups with the same email and password', async () => {
    const email = `eight-${randomUUID()}@example.com`
    const second = await fixture.bed.start(identity, { ...settings, DATABASE_URL: fixture.service.databaseUrl })
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
      Array.from({ length: 8 }, (_, nth) => signUp(nth % 2 === 0 ? fixture.url : second.url, `Maren ${nth}`)),
    )
    const { sub, name } = answers[0] ?? { sub: '', name: '' }
    expect(answers).toEqual(answers.map(() => ({ sub, name })))
    const { db } = fixture.service.context
    const accounts = () => db.select().from(users).where(eq(users.emailKey, email))
    expect(await accounts()).toMatchObject([{ id: sub, username: name, status: 'UNCONFIRMED' }])

    // Also later, with corrections, and in any case; another password is another user's.
    expect(await signUp(fixture.url, 'Zoe', password, email.toUpperCase())).toEqual({ sub, name })
    expect((await accounts())[0]?.attributes).toMatchObject({ given_name: 'Zoe', email_verified: 'false' })
    const stranger = await signUp(fixture.url, 'Bo', other)
    expect(stranger.sub).not.toBe(sub)
    const ConfirmationCode = await fixture.codeFor(email)
    const confirm = { ClientId: publicClient, Username: name, ConfirmationCode }
    expect((await fixture.call('ConfirmSignUp', confirm)).status).toBe(200)
    // A confirmed account cannot be signed up again.
    expect((await signUp(fixture.url, 'Maren')).sub).not.toBe(sub)
  })

  it('mails an email address ten times an hour, however many sign-ups and code requests, and the newest code works', async () => {
    const email = `often-${randomUUID()}@example.com`
    const answers = await Array.fromAsync({ length: 14 }, (_, nth) =>
      fixture.call('SignUp', {
        ClientId: publicClient,
        Username: `often-${randomUUID()}`,
        Password: password,
        UserAttributes: [{ Name: 'email', Value: nth % 2 === 0 ? email : email.toUpperCase() }],
      }),
    )
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body['CodeDeliveryDetails']]))).size).toBe(
      1,
    )
    const { username } = await fixture.signUp(publicClient, { email })
    const sent = () => fixture.codesFor(email) + fixture.codesFor(email.toUpperCase())
    for (let asked = 0; asked < 9; asked++) {
      const resent = await fixture.call('ResendConfirmationCode', { ClientId: publicClient, Username: username })
      expect(resent).toMatchObject({ status: 200, body: { CodeDeliveryDetails: { DeliveryMedium: 'EMAIL' } } })
    }
    // Events are published in order.
    await fixture.codeFor((await fixture.signUp()).email)
    expect(sent()).toBe(10)
    const ConfirmationCode = fixture.codesTo(email).at(-1)
    const confirmed = await fixture.call('ConfirmSignUp', {
      ClientId: publicClient,
      Username: username,
      ConfirmationCode,
    })
    expect(confirmed.status).toBe(200)
  })
})

describe('GetUserAttributeVerificationCode', () => {
  it('handles many concurrent requests without blocking others', async () => {
    const { AccessToken } = await guest()
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        fixture.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName: 'email' }),
      ),
    )
    const sent = answers.filter(({ status }) => status === 200)
    expect(sent).toHaveLength(10)
    expect(answers.filter((answer) => !sent.includes(answer))).toEqual(Array.from({ length: 30 }, () => tooOften))
  })
})

describe('ResendConfirmationCode', () => {
  it('sends the code again to any requester', async () => {
    const { username, email } = await fixture.signUp()
    const first = await fixture.codeFor(email)
    expect(await fixture.call('ResendConfirmationCode', { ClientId: publicClient, Username: username })).toEqual({
      status: 200,
      body: {
        CodeDeliveryDetails: { Destination: maskOf(email), DeliveryMedium: 'EMAIL', AttributeName: 'email' },
      },
    })
    const second = await fixture.codeFor(email, 1)
    const confirm = (ConfirmationCode: string) =>
      fixture.call('ConfirmSignUp', { ClientId: publicClient, Username: username, ConfirmationCode })
    expect(second).toBe(first)
    expect(await confirm(not(first))).toEqual(wrongCode)
    expect(await confirm(second)).toMatchObject({ status: 200 })
    expect(await confirm(second)).toEqual(overCode)
  })

  it('finds the account by its email, in any case', async () => {
    const { email } = await fixture.signUp()
    const { status } = await fixture.call('ResendConfirmationCode', {
      ClientId: publicClient,
      Username: email.toUpperCase(),
    })
    expect(status).toBe(200)
    await fixture.codeFor(email, 1)
  })

  it('discloses a confirmed account only to LEGACY clients', async () => {
    const { clientId } = await fixture.pool({}, { PreventUserExistenceErrors: 'LEGACY' })
    const { username } = await fixture.member(clientId)
    const resend = (Username: string) => fixture.call('ResendConfirmationCode', { ClientId: clientId, Username })
    expect(await resend(username)).toEqual(refusal('InvalidParameterException', 'User is already confirmed.'))
    expect(await resend('nobody')).toEqual(refusal('UserNotFoundException', 'User does not exist.'))
  })

  it('is limited per hour', async () => {
    const { username } = await fixture.signUp()
    const resend = () => fixture.call('ResendConfirmationCode', { ClientId: publicClient, Username: username })
    for (let sent = 0; sent < 10; sent++) expect(await resend()).toMatchObject({ status: 200 })
    expect(await resend()).toEqual(tooOften)
  })
})

describe('ConfirmSignUp', () => {
  it('confirms the account with the given password if two signed up with one email', async () => {
    const { username, email } = await fixture.signUp()
    await fixture.codeFor(email)
    const stranger = `stranger-${username}`
    await fixture.call('SignUp', {
      ClientId: publicClient,
      Username: stranger,
      Password: other,
      UserAttributes: [{ Name: 'email', Value: email.toUpperCase() }],
    })
    const newest = await fixture.codeFor(email.toUpperCase())
    const confirm = (ConfirmationCode: string, more: object = {}, Username = email) =>
      fixture.call('ConfirmSignUp', { ClientId: publicClient, Username, ConfirmationCode, ...more })
    expect(await confirm(newest)).toEqual(refusal('InvalidParameterException', 'Missing required parameter Password'))
    expect(await confirm(newest, { Password: 'Neither-2030!' })).toEqual(wrongPassword)
    expect(await signIn(email)).toEqual(refusal('UserNotConfirmedException', 'User is not confirmed.'))
    expect(await confirm(newest, { Password: password })).toMatchObject({ status: 200 })
    expect(await attributesOf(await tokenOf(email))).toMatchObject({ email, email_verified: 'true' })
    expect(await signIn(stranger, other)).toEqual(refusal('UserNotConfirmedException', 'User is not confirmed.'))
    // The email is taken: the code of the stranger's account is invalid now.
    expect(await confirm(newest, {}, stranger)).toEqual(overCode)
  })

  it('rejects a wrong password, with the email or the username', async () => {
    const { username, email } = await fixture.signUp()
    const ConfirmationCode = await fixture.codeFor(email)
    for (const Username of [email, username]) {
      const given = { ClientId: publicClient, Username, ConfirmationCode }
      expect(await fixture.call('ConfirmSignUp', { ...given, Password: other })).toEqual(wrongPassword)
      expect(await signIn(username)).toEqual(refusal('UserNotConfirmedException', 'User is not confirmed.'))
    }
    const right = { ClientId: publicClient, Username: username, ConfirmationCode, Password: password }
    expect(await fixture.call('ConfirmSignUp', right)).toMatchObject({ status: 200 })
  })

  it('lets only one account have an email, until the other takes it over', async () => {
    const email = `taken-${Date.now()}@example.com`
    const { username: first } = await fixture.member(publicClient, { email })
    const { username: second } = await fixture.signUp(publicClient, { email: email.toUpperCase() })
    const ConfirmationCode = await fixture.codeFor(email.toUpperCase())
    const confirm = (more = {}) =>
      fixture.call('ConfirmSignUp', { ClientId: publicClient, Username: second, ConfirmationCode, ...more })
    expect(await confirm()).toEqual(refusal('AliasExistsException', 'An account with the email already exists.'))
    expect(await confirm({ ForceAliasCreation: true })).toMatchObject({ status: 200 })
    const { body } = await fixture.call('GetUser', { AccessToken: await tokenOf(email) })
    expect(body['Username']).toBe(second)
    expect(await attributesOf(await tokenOf(first))).toMatchObject({ email_verified: 'false' })
  })
})

describe('ForgotPassword and ConfirmForgotPassword', () => {
  const forgot = (Username: string, ClientId = publicClient) => fixture.call('ForgotPassword', { ClientId, Username })
  const reset = (Username: string, ConfirmationCode: string, Password = other, ClientId = publicClient) =>
    fixture.call('ConfirmForgotPassword', { ClientId, Username, ConfirmationCode, Password })

  it('set a new password with a code, and end all sign-ins', async () => {
    const { username, email, userId, AccessToken } = await guest()
    expect(await forgot(email.toUpperCase())).toEqual({
      status: 200,
      body: {
        CodeDeliveryDetails: { Destination: maskOf(email), DeliveryMedium: 'EMAIL', AttributeName: 'email' },
      },
    })
    const code = await fixture.codeFor(email, 1)
    expect(await reset(username, not(code))).toEqual(wrongCode)
    expect(await reset(email, code, 'short')).toMatchObject({ body: { __type: 'InvalidPasswordException' } })
    expect(await reset(email, code)).toEqual(done)
    expect(await reset(email, code)).toEqual(overCode)
    expect(await signIn(username)).toEqual(wrongPassword)
    expect(await signIn(username, other)).toMatchObject({ status: 200 })
    expect(await fixture.call('GetUser', { AccessToken })).toEqual(revoked)
    await waitForUpdate(userId, 'password')
  })

  it('accept the email of an unconfirmed sign-up, and confirm it', async () => {
    const { username, email, userId } = await fixture.signUp()
    expect(await forgot(email)).toMatchObject({ status: 200 })
    expect(await reset(email, await fixture.codeFor(email, 1))).toEqual(done)
    const AccessToken = await tokenOf(email, other)
    expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({ body: { Username: username } })
    expect(await attributesOf(AccessToken)).toMatchObject({ email_verified: 'true' })
    const confirmed = await fixture.bed.bus.seen(userConfirmed, (data) => data.userId === userId)
    expect(confirmed.data.emailVerified).toBe(true)
  })

  it('end a sign-in that was started with the old password', async () => {
    const { clientId } = await fixture.pool()
    const { username, email } = await fixture.member(clientId)
    const begun = await fixture.call('InitiateAuth', {
      ClientId: clientId,
      AuthFlow: 'USER_AUTH',
      AuthParameters: { USERNAME: username },
    })
    await forgot(username, clientId)
    expect(await reset(username, await fixture.codeFor(email, 1), other, clientId)).toEqual(done)
    const answered = await fixture.call('RespondToAuthChallenge', {
      ClientId: clientId,
      ChallengeName: 'SELECT_CHALLENGE',
      Session: begun.body['Session'],
      ChallengeResponses: { USERNAME: username, ANSWER: 'PASSWORD', PASSWORD: other },
    })
    expect(answered).toEqual(refusal('NotAuthorizedException', 'Invalid session for the user, session is expired.'))
  })

  it('limit the attempts per code, and then accept another code', async () => {
    const { username, email } = await fixture.member()
    expect(await reset(username, '000000')).toEqual(overCode)
    await forgot(username)
    const first = await fixture.codeFor(email, 1)
    for (let tries = 0; tries < 4; tries++) expect(await reset(username, not(first))).toEqual(wrongCode)
    await forgot(email)
    expect(await fixture.codeFor(email, 2)).toBe(first)
    for (let tries = 0; tries < 5; tries++) expect(await reset(username, not(first))).toEqual(wrongCode)
    expect(await reset(username, first)).toEqual(tooOften)
    await forgot(username)
    expect(await reset(username, await fixture.codeFor(email, 3))).toEqual(done)
  })

  it('remove everything of a previous user when they verify the email for the first time', async () => {
    const { clientId, poolId } = await fixture.pool({ MfaConfiguration: 'OPTIONAL' })
    const { username, userId, AccessToken } = await guest({}, clientId)
    const { db, clock, config } = fixture.service.context
    const [number, email] = ['+16505550155', `proven-${username}@example.com`]
    await fixture.call('DeleteUserAttributes', { AccessToken, UserAttributeNames: ['email'] })
    const UserAttributes = Object.entries({ email, phone_number: number }).map(([Name, Value]) => ({ Name, Value }))
    await fixture.call('UpdateUserAttributes', { AccessToken, UserAttributes })
    await fixture.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName: 'phone_number' })
    const Code = await fixture.codeFor(number)
    await fixture.call('VerifyUserAttribute', { AccessToken, AttributeName: 'phone_number', Code })
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

    const sent = fixture.codesFor(email)
    expect(await forgot(email, clientId)).toMatchObject({ status: 200 })
    expect(await reset(email, await fixture.codeFor(email, sent), other, clientId)).toEqual(done)
    expect(await fixture.call('GetUser', { AccessToken })).toEqual(revoked)
    const token = await tokenOf(email, other, clientId)
    expect((await fixture.call('GetUser', { AccessToken: token })).body['UserMFASettingList']).toBeUndefined()
    expect(await attributesOf(token)).toMatchObject({ email_verified: 'true', phone_number_verified: 'false' })
    expect(await db.$count(passkeys, eq(passkeys.userId, userId))).toBe(0)
    expect(await db.$count(devices, eq(devices.key, device.key))).toBe(0)
  })

  it('do not accept the code of another account, or for another purpose', async () => {
    const [maren, bo] = [await fixture.member(), await fixture.signUp()]
    await forgot(maren.username)
    await forgot(bo.email)
    const [code, signUpCode, hers] = [
      await fixture.codeFor(bo.email, 1),
      await fixture.codeFor(bo.email, 0),
      await fixture.codeFor(maren.email, 1),
    ]
    expect(code).toBe(signUpCode)
    if (hers !== code) expect(await reset(maren.username, code)).toEqual(wrongCode)
    const confirmed = await fixture.call('ConfirmSignUp', {
      ClientId: publicClient,
      Username: bo.username,
      ConfirmationCode: hers,
    })
    expect(confirmed.status).toBe(400)
  })

  it('keep a code valid for its owner while strangers guess', async () => {
    const guarded = await startIdentity({ EVEN_ANSWER_MS: '5', TRUST_PROXY: 'loopback' })
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
      // It is not disclosed that somebody else has requested a code.
      for (let tries = 0; tries < 55; tries++) expect(await attempt(not(code), '203.0.113.7')).toEqual(overCode)
      // A stranger's request does not replace it either.
      await guarded.call('ForgotPassword', { ClientId: publicClient, Username: email }, from('203.0.113.8'))
      expect(await attempt(code, '192.0.2.1')).toEqual(done)
    } finally {
      await guarded.stop()
    }
  })

  it('keep a code valid for its requester, however often a stranger requests and guesses codes', async () => {
    const guarded = await startIdentity({ EVEN_ANSWER_MS: '5', TRUST_PROXY: 'loopback' })
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
      // The newest in the mailbox was requested by the stranger: it is the same.
      expect(await guarded.codeFor(email, 7)).toBe(code)
      expect(await attempt(code, '192.0.2.1')).toEqual(done)
      expect((await attempt(code, '192.0.2.1')).status).toBe(400)
    } finally {
      await guarded.stop()
    }
  })

  it('do not accept a code that was sent to a former email of the account', async () => {
    const { username, email, AccessToken } = await guest()
    await forgot(email)
    const code = await fixture.codeFor(email, 1)
    const address = `new-${email}`
    await fixture.call('UpdateUserAttributes', { AccessToken, UserAttributes: [{ Name: 'email', Value: address }] })
    const Code = await fixture.codeFor(address)
    expect(await fixture.call('VerifyUserAttribute', { AccessToken, AttributeName: 'email', Code })).toEqual(done)
    for (const name of [username, address, email]) expect((await reset(name, code)).status).toBe(400)
    expect(await signIn(address)).toMatchObject({ status: 200 })
  })

  it('reject an expired code', async () => {
    const { username, email } = await fixture.member()
    await forgot(username)
    const code = await fixture.codeFor(email, 1)
    const later = await fixture.bed.start(identity, {
      ...settings,
      DATABASE_URL: fixture.service.databaseUrl,
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

  it('disclose accounts only to LEGACY clients', async () => {
    const { clientId, poolId } = await fixture.pool({}, { PreventUserExistenceErrors: 'LEGACY' })
    expect(poolId).not.toBe('')
    const unknown = refusal('UserNotFoundException', 'User does not exist.')
    expect(await forgot('nobody', clientId)).toEqual(unknown)
    expect(await reset('nobody', '000000', other, clientId)).toEqual(unknown)
    const nowhere = await fixture.call('SignUp', { ClientId: clientId, Username: 'bo', Password: password })
    expect(nowhere.status).toBe(200)
    expect(await forgot('bo', clientId)).toEqual(
      refusal(
        'InvalidParameterException',
        'Cannot reset password for the user as there is no registered/verified email or phone_number',
      ),
    )
  })

  it('send a working code to each of two concurrent requesters', async () => {
    const { username, email } = await fixture.member()
    const answers = await Promise.all(Array.from({ length: 5 }, () => forgot(username)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const code = await fixture.codeFor(email, 5)
    const resets = await Promise.all(Array.from({ length: 5 }, () => reset(username, code)))
    expect(resets.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

describe('ChangePassword', () => {
  const change = (AccessToken: string, PreviousPassword: string, ProposedPassword: string) =>
    fixture.call('ChangePassword', { AccessToken, PreviousPassword, ProposedPassword })

  it('ends the other sign-ins, but not its own', async () => {
    const { username, userId, AccessToken } = await guest()
    const elsewhere = await tokenOf(username)
    expect(await change(AccessToken, password, other)).toEqual(done)
    expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({ status: 200 })
    expect(await fixture.call('GetUser', { AccessToken: elsewhere })).toEqual(revoked)
    expect(await signIn(username)).toEqual(wrongPassword)
    expect(await signIn(username, other)).toMatchObject({ status: 200 })
    await waitForUpdate(userId, 'password')
  })

  it('rejects wrong passwords, with a limit', async () => {
    const { AccessToken } = await guest()
    for (let tries = 0; tries < 5; tries++)
      expect(await change(AccessToken, 'Wrong-2030!', other)).toEqual(wrongPassword)
    expect(await change(AccessToken, password, other)).toEqual(tooOften)
  })

  it('stays available to the owner while a stolen session is used for guesses or requests', async () => {
    const { username, AccessToken: stolen } = await guest()
    const own = await tokenOf(username)
    for (let tries = 0; tries < 6; tries++) await change(stolen, 'Wrong-2030!', other)
    expect(await change(stolen, password, other)).toEqual(tooOften)
    expect(await change(own, password, other)).toEqual(done)
    expect(await fixture.call('GetUser', { AccessToken: stolen })).toEqual(revoked)
  })

  it('counts characters, not bytes, and does not trim', async () => {
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

  it('accepts the typed characters by SRP in any Unicode form', async () => {
    for (const typed of ['Ma\u00f1ana-2030!', 'Man\u0303ana-2030!']) {
      const { username, AccessToken } = await guest()
      expect(await change(AccessToken, password, typed)).toEqual(done)
      expect((await signInClient(fixture).bySrp(username, typed)).status).toBe(200)
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
  ])('rejects %s by the policy', async (proposed, broken) => {
    const { AccessToken } = await guest()
    expect(await change(AccessToken, password, proposed)).toEqual(
      refusal('InvalidPasswordException', `Password did not conform with policy: ${broken}`),
    )
  })

  it('rejects an invalid token', async () => {
    expect(await change('a.b.c', password, other)).toEqual(refusal('NotAuthorizedException', 'Invalid Access Token'))
  })
})

describe('UpdateUserAttributes', () => {
  const update = (AccessToken: string, attributes: Record<string, string>) =>
    fixture.call('UpdateUserAttributes', {
      AccessToken,
      UserAttributes: Object.entries(attributes).map(([Name, Value]) => ({ Name, Value })),
    })
  const verify = (AccessToken: string, AttributeName: string, Code: string) =>
    fixture.call('VerifyUserAttribute', { AccessToken, AttributeName, Code })

  it('changes attributes without verification immediately', async () => {
    const { AccessToken, userId } = await guest()
    expect(await update(AccessToken, { given_name: 'Bo', address: '1 Main St, Town, CA 94401' })).toEqual({
      status: 200,
      body: { CodeDeliveryDetailsList: [] },
    })
    expect(await attributesOf(AccessToken)).toMatchObject({ given_name: 'Bo', email_verified: 'true' })
    const { data } = await waitForUpdate(userId, 'given_name')
    expect(data).toMatchObject({ changed: ['given_name', 'address'], previousEmail: null, givenName: 'Bo' })
  })

  it('keeps the verified email for signing in until the new one is verified', async () => {
    const { username, email, userId, AccessToken } = await guest()
    const next = `next-${email}`
    expect(await update(AccessToken, { email: next })).toEqual({
      status: 200,
      body: {
        CodeDeliveryDetailsList: [{ Destination: maskOf(next), DeliveryMedium: 'EMAIL', AttributeName: 'email' }],
      },
    })
    expect(await attributesOf(AccessToken)).toMatchObject({ email: next, email_verified: 'false' })
    expect((await waitForUpdate(userId, 'email')).data).toMatchObject({
      previousEmail: email,
      email: next,
      emailVerified: false,
    })
    expect(await signIn(email)).toMatchObject({ status: 200 })
    expect(await signIn(next)).toEqual(wrongPassword)
    // A reset still goes to the verified mailbox.
    await fixture.call('ForgotPassword', { ClientId: publicClient, Username: username })
    await fixture.codeFor(email, 1)

    const code = await fixture.codeFor(next)
    expect(await verify(AccessToken, 'email', not(code))).toEqual(wrongCode)
    expect(await verify(AccessToken, 'email', code)).toEqual(done)
    expect(await verify(AccessToken, 'email', code)).toEqual(overCode)
    expect(await attributesOf(AccessToken)).toMatchObject({ email: next, email_verified: 'true' })
    expect(await signIn(next.toUpperCase())).toMatchObject({ status: 200 })
    expect(await signIn(email)).toEqual(wrongPassword)
    await waitForUpdate(userId, 'email_verified')
  })

  it('continues to notify the verified email of changes, until its successor is verified', async () => {
    const { email, userId, AccessToken } = await guest()
    await update(AccessToken, { email: `next-${email}` })
    await fixture.call('ChangePassword', { AccessToken, PreviousPassword: password, ProposedPassword: other })
    expect((await waitForUpdate(userId, 'password')).data).toMatchObject({ emailVerified: false, previousEmail: email })
  })

  it('treats the verified email as verified in any case', async () => {
    const { email, AccessToken } = await guest()
    await update(AccessToken, { email: `other-${email}` })
    expect(await update(AccessToken, { email: email.toUpperCase() })).toMatchObject({
      body: { CodeDeliveryDetailsList: [] },
    })
    expect(await attributesOf(AccessToken)).toMatchObject({ email: email.toUpperCase(), email_verified: 'true' })
    // The code for the intermediate email is no longer valid.
    expect(await verify(AccessToken, 'email', await fixture.codeFor(`other-${email}`))).toEqual(overCode)
  })

  it('limits codes per hour for an account that claims many emails, and for an email that many claim', async () => {
    const { AccessToken, email } = await guest()
    const claim = (Value: string) => update(AccessToken, { email: Value })
    for (let nth = 0; nth < 10; nth++) expect((await claim(`${nth}-${email}`)).status).toBe(200)
    expect(await claim(`last-${email}`)).toEqual(tooOften)
    expect(await attributesOf(AccessToken)).toMatchObject({ email: `9-${email}` })

    const number = '+16505550177'
    const answers = await Array.fromAsync({ length: 11 }, async () => {
      const { AccessToken: token } = await guest({ phone_number: number })
      return fixture.call('GetUserAttributeVerificationCode', { AccessToken: token, AttributeName: 'phone_number' })
    })
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 200), 400])
    expect(answers.at(-1)).toEqual(tooOften)
  })

  it.each(['custom:role', 'nickname', 'picture', 'preferred_username', 'updated_at', 'website'])(
    'rejects %s: users can write only listed attributes, the others are for administrators',
    async (name) => {
      const { AccessToken, username } = await guest()
      const refused = refusal('NotAuthorizedException', 'A client attempted to write unauthorized attribute')
      expect(await update(AccessToken, { [name]: 'staff', given_name: 'Bo' })).toEqual(refused)
      const signUp = await fixture.call('SignUp', {
        ClientId: publicClient,
        Username: `user_${randomUUID()}`,
        Password: password,
        UserAttributes: [{ Name: name, Value: 'staff' }],
      })
      expect(signUp).toEqual(refused)
      const asAdministrator = { UserPoolId: 'us-west-1_RoboKids', Username: username }
      const UserAttributes = [{ Name: name, Value: 'staff' }]
      await fixture.sdk.send(new AdminUpdateUserAttributesCommand({ ...asAdministrator, UserAttributes }))
      const before = await attributesOf(AccessToken)
      expect(before).toMatchObject({ [name]: 'staff', given_name: 'Maren' })
      expect(await fixture.call('DeleteUserAttributes', { AccessToken, UserAttributeNames: [name] })).toEqual(refused)
      expect(await attributesOf(AccessToken)).toEqual(before)
    },
  )

  it('limits the attributes of an account to what its tokens can carry', async () => {
    const { AccessToken, username } = await guest()
    const say = (from: number, count: number) =>
      fixture.sdk.send(
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
    // Two exist since the sign-up.
    await say(40, 8)
    expect(await update(AccessToken, { given_name: 'Bo' })).toMatchObject({ status: 200 })
    const more = { family_name: 'Holt' }
    expect(await update(AccessToken, more)).toEqual(
      refusal('InvalidParameterException', 'A user can have at most 50 attributes.'),
    )
  })

  it("rejects the verification of another account's email", async () => {
    const bo = await fixture.member()
    const { AccessToken } = await guest()
    await update(AccessToken, { email: bo.email })
    expect(await verify(AccessToken, 'email', await fixture.codeFor(bo.email, 1))).toEqual(
      refusal('AliasExistsException', 'An account with the email already exists.'),
    )
    expect(await fixture.call('GetUser', { AccessToken: await tokenOf(bo.email) })).toMatchObject({
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
  ])('rejects %o', async (attributes, message) => {
    const { AccessToken } = await guest()
    expect(await update(AccessToken, attributes as Record<string, string>)).toEqual(
      refusal('InvalidParameterException', message),
    )
  })

  it('verifies a phone number by a text message', async () => {
    const { AccessToken } = await guest()
    const number = `+1555${String(Date.now()).slice(-7)}`
    const send = () => fixture.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName: 'phone_number' })
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
    expect(await verify(AccessToken, 'phone_number', await fixture.codeFor(number))).toEqual(done)
    expect(await attributesOf(AccessToken)).toMatchObject({ phone_number_verified: 'true' })
    expect(await verify(AccessToken, 'given_name', '000000')).toEqual(
      refusal('InvalidParameterException', 'Attribute given_name cannot be verified.'),
    )
  })
})

describe('DeleteUserAttributes', () => {
  it('removes attributes, and the sign-in with a removed email', async () => {
    const { username, email, userId, AccessToken } = await guest({ family_name: 'Holt' })
    const remove = (...UserAttributeNames: string[]) =>
      fixture.call('DeleteUserAttributes', { AccessToken, UserAttributeNames })
    expect(await remove('email_verified')).toMatchObject({ body: { __type: 'InvalidParameterException' } })
    expect(await remove('email', 'family_name')).toEqual(done)
    const left = await attributesOf(AccessToken)
    expect(Object.keys(left).toSorted((one, next) => one.localeCompare(next))).toEqual(['given_name', 'sub'])
    expect(await signIn(email)).toEqual(wrongPassword)
    expect(await signIn(username)).toMatchObject({ status: 200 })
    expect((await waitForUpdate(userId, 'email')).data).toMatchObject({ email: null, previousEmail: email })
  })
})

describe('a sign-up that is never confirmed', () => {
  it('is deleted after a month, unlike a confirmed one', async () => {
    const own = await startIdentity({ EVEN_ANSWER_MS: '5' })
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
  it('deletes the account, its sign-ins and its email', async () => {
    const { username, email, userId, AccessToken } = await guest()
    expect(await fixture.call('DeleteUser', { AccessToken })).toEqual(done)
    expect(await fixture.call('GetUser', { AccessToken })).toEqual(revoked)
    expect(await signIn(username)).toEqual(wrongPassword)
    await fixture.bed.bus.seen(userDeleted, (data) => data.userId === userId && data.email === email)
    await fixture.member(publicClient, { email: email.toUpperCase() })
    expect(await signIn(email)).toMatchObject({ status: 200 })
  })

  it('requires the correct password if one is given, and sends nothing', async () => {
    const { clientId } = await fixture.pool({ MfaConfiguration: 'OPTIONAL' })
    const { userId, email, AccessToken } = await guest({}, clientId)
    await fixture.service.context.db
      .update(users)
      .set({ mfa: ['EMAIL_OTP'] })
      .where(eq(users.id, userId))
    const sent = fixture.codesFor(email)
    const remove = (Password: string) => fixture.call('DeleteUser', { AccessToken, Password })
    expect(await remove(other)).toEqual(wrongPassword)
    expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({ status: 200 })
    expect(await remove(password)).toEqual(done)
    expect(await fixture.call('GetUser', { AccessToken })).toEqual(revoked)
    await fixture.bed.bus.seen(userDeleted, (data) => data.userId === userId)
    expect(fixture.codesFor(email)).toBe(sent)
  })

  it('delays password guesses, even concurrent ones, as a sign-in does', async () => {
    const { username, AccessToken } = await guest()
    const remove = (Password: string) => fixture.call('DeleteUser', { AccessToken, Password })
    const waits = refusal('NotAuthorizedException', 'Password attempts exceeded')
    const guesses = await Promise.all(Array.from({ length: 30 }, (_, nth) => remove(`${other}${nth}`)))
    expect(guesses.filter((answer) => answer.body['message'] === wrongPassword.body.message)).toHaveLength(6)
    expect(guesses.filter((answer) => answer.body['message'] === waits.body.message)).toHaveLength(24)
    expect(await remove(password)).toEqual(waits)
    expect(await signIn(username)).toEqual(waits)
    expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({ status: 200 })
  })

  it('deletes it once under concurrent requests', async () => {
    const { userId, AccessToken } = await guest()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => fixture.call('DeleteUser', { AccessToken, Password: password })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body['__type'])).toEqual(
      Array.from({ length: 7 }, () => 'NotAuthorizedException'),
    )
    await fixture.bed.bus.seen(userDeleted, (data) => data.userId === userId)
    expect(fixture.bed.bus.all(userDeleted, (data) => data.userId === userId)).toHaveLength(1)
  })
})

describe('AssociateSoftwareToken, VerifySoftwareToken and SetUserMFAPreference', () => {
  const codeOf = (secret: string, steps = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: fixture.service.context.clock.now().epochMilliseconds + steps * 30_000,
    })
  const associate = async (AccessToken: string) => {
    const { body } = await fixture.call('AssociateSoftwareToken', { AccessToken })
    return body['SecretCode'] as string
  }
  const verify = (AccessToken: string, UserCode: string) =>
    fixture.call('VerifySoftwareToken', { AccessToken, UserCode, FriendlyDeviceName: 'phone' })
  const prefer = (AccessToken: string, preference: object) =>
    fixture.call('SetUserMFAPreference', { AccessToken, ...preference })

  it('set up an authenticator, and enable and disable it', async () => {
    const { username, userId, AccessToken } = await guest()
    const secret = await associate(AccessToken)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    const on = { SoftwareTokenMfaSettings: { Enabled: true, PreferredMfa: true } }
    expect(await prefer(AccessToken, on)).toEqual(
      refusal('InvalidParameterException', 'User has not verified software token mfa'),
    )
    const wrong = ['000000', '111111', '222222', '333333'].find(
      (code) => totpStep(secret, code, fixture.service.context.clock.now()) === undefined,
    )
    expect(await verify(AccessToken, wrong ?? '')).toMatchObject({
      // Shown to users.
      body: { __type: 'EnableSoftwareTokenMFAException', message: expect.stringMatching(/^The code doesn’t match/) },
    })
    // A phone with a clock that is seconds off.
    expect(await verify(AccessToken, codeOf(secret, -1))).toEqual({ status: 200, body: { Status: 'SUCCESS' } })
    expect(await prefer(AccessToken, { ...on, SMSMfaSettings: null })).toEqual(done)
    expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({
      body: { UserMFASettingList: ['SOFTWARE_TOKEN_MFA'], PreferredMfaSetting: 'SOFTWARE_TOKEN_MFA' },
    })
    expect(await signIn(username)).toMatchObject({ body: { ChallengeName: 'SOFTWARE_TOKEN_MFA' } })
    await waitForUpdate(userId, 'mfa')
    const before = changesOf(userId).length
    expect(await prefer(AccessToken, on)).toEqual(done)
    expect(await prefer(AccessToken, { SoftwareTokenMfaSettings: { Enabled: false } })).toEqual(done)
    expect(await signIn(username)).toMatchObject({ body: { AuthenticationResult: {} } })
    await fixture.call('UpdateUserAttributes', { AccessToken, UserAttributes: [{ Name: 'family_name', Value: 'M' }] })
    await waitForUpdate(userId, 'family_name')
    // No event is published if nothing changed.
    expect(changesOf(userId).slice(before)).toMatchObject([{ changed: ['mfa'] }, { changed: ['family_name'] }])
  })

  it('keep the current authenticator until a new one is verified', async () => {
    const { username, AccessToken } = await guest()
    const secret = await associate(AccessToken)
    await verify(AccessToken, codeOf(secret, -1))
    await prefer(AccessToken, { SoftwareTokenMfaSettings: { Enabled: true } })
    await associate(AccessToken)
    const asked = await signIn(username)
    const answered = await fixture.call('RespondToAuthChallenge', {
      ClientId: publicClient,
      ChallengeName: 'SOFTWARE_TOKEN_MFA',
      Session: asked.body['Session'],
      ChallengeResponses: { USERNAME: username, SOFTWARE_TOKEN_MFA_CODE: codeOf(secret) },
    })
    expect(answered).toMatchObject({ body: { AuthenticationResult: {} } })
  })

  it('reject what was not started, or is not supported by the pool', async () => {
    const { AccessToken } = await guest()
    expect(await verify(AccessToken, '000000')).toMatchObject({
      body: { __type: 'SoftwareTokenMFANotFoundException' },
    })
    const { clientId } = await fixture.pool({ MfaConfiguration: 'OFF' })
    const outside = await guest({}, clientId)
    expect(await fixture.call('AssociateSoftwareToken', { AccessToken: outside.AccessToken })).toMatchObject({
      body: { __type: 'SoftwareTokenMFANotFoundException' },
    })
    expect(await fixture.call('AssociateSoftwareToken', {})).toEqual(
      refusal('InvalidParameterException', 'Missing required parameter AccessToken'),
    )
  })

  it('allow one preferred factor, which must be enabled', async () => {
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
    const { body } = await fixture.call('GetUser', { AccessToken })
    expect(body['UserMFASettingList']).toEqual(['EMAIL_OTP'])
    expect(body).not.toHaveProperty('PreferredMfaSetting')
  })
})
