import { randomUUID } from 'node:crypto'
import { InitiateAuthCommand, RespondToAuthChallengeCommand } from '@aws-sdk/client-cognito-identity-provider'
import {
  AuthenticationDetails,
  CognitoUser,
  CognitoUserPool,
  type CognitoUserSession,
} from 'amazon-cognito-identity-js'
import { Amplify } from 'aws-amplify'
import * as auth from 'aws-amplify/auth'
import { JwtVerifier } from 'aws-jwt-verify'
import { eq } from 'drizzle-orm'
import { Secret, TOTP } from 'otpauth'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { passkeys, pools } from '../../src/schema.ts'
import { makeAuthenticator } from '../authenticator.ts'
import { startIdentity, password, type IdentityFixture } from '../fixture.ts'
import { signInClient } from '../sign-in-client.ts'

let fixture: IdentityFixture
/** A pool that remembers devices, and one that requires a second factor. */
let tracking: { poolId: string; clientId: string }
let strict: { poolId: string; clientId: string }
let plain: { poolId: string; clientId: string }

async function change(poolId: string, settings: object) {
  const { db } = fixture.service.context
  const [pool] = await db.select().from(pools).where(eq(pools.id, poolId))
  const factors = { mfaFactors: ['SOFTWARE_TOKEN_MFA', 'SMS_MFA', 'EMAIL_OTP'] as const }
  await db
    .update(pools)
    .set({
      settings: { ...pool!.settings, ...factors, mfaFactors: [...factors.mfaFactors], mfa: 'OPTIONAL', ...settings },
    })
    .where(eq(pools.id, poolId))
}

beforeAll(async () => {
  fixture = await startIdentity()
  plain = await fixture.pool()
  tracking = await fixture.pool()
  strict = await fixture.pool()
  await change(plain.poolId, {
    firstFactors: ['PASSWORD', 'EMAIL_OTP', 'WEB_AUTHN'],
    webAuthn: {
      relyingPartyId: 'localhost',
      relyingPartyName: 'test',
      origins: ['http://localhost:3000'],
      userVerification: 'preferred',
    },
  })
  await change(tracking.poolId, { devices: 'ALWAYS' })
  await change(strict.poolId, { mfa: 'ON' })
})
afterAll(() => fixture.stop())

function codeOf(secret: string, steps = 0): string {
  const timestamp = fixture.service.context.clock.now().epochMilliseconds + steps * 30_000
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
}

/** Callbacks that must not be called. */
async function bare(clientId: string) {
  const person = await fixture.member(clientId)
  await fixture.service.context.db.execute(`delete from aliases where user_id = '${person.userId}'`)
  await signInClient(fixture, clientId).change(person.userId, { attributes: {}, emailKey: null })
  return person
}

describe('aws-amplify', () => {
  const point = ({ poolId, clientId }: { poolId: string; clientId: string }) => {
    Amplify.configure({
      Auth: { Cognito: { userPoolId: poolId, userPoolClientId: clientId, userPoolEndpoint: fixture.url } },
    })
  }
  /** The page of another visitor. */
  const fresh = () => auth.signOut()
  afterEach(fresh)

  it('signs in by SRP (its default), refreshes, verifies and signs out', async () => {
    point(plain)
    const { email, userId, username } = await fixture.member(plain.clientId)
    expect(await auth.signIn({ username: email, password })).toMatchObject({
      isSignedIn: true,
      nextStep: { signInStep: 'DONE' },
    })
    expect(await auth.getCurrentUser()).toMatchObject({ userId, username })
    const { tokens } = await auth.fetchAuthSession()
    const issuer = `http://localhost:4001/${plain.poolId}`
    const verifier = JwtVerifier.create({
      issuer,
      audience: plain.clientId,
      jwksUri: `${issuer}/.well-known/jwks.json`,
    })
    // It fetches only over HTTPS.
    const keys = await fetch(`${fixture.url}/${plain.poolId}/.well-known/jwks.json`)
    verifier.cacheJwks((await keys.json()) as Parameters<typeof verifier.cacheJwks>[0])
    expect(await verifier.verify(String(tokens?.idToken))).toMatchObject({ sub: userId, email })
    const refreshed = await auth.fetchAuthSession({ forceRefresh: true })
    expect(String(refreshed.tokens?.accessToken)).not.toBe(String(tokens?.accessToken))
    await auth.fetchAuthSession({ forceRefresh: true })
    const last = String((await auth.fetchAuthSession()).tokens?.accessToken)
    await auth.signOut()
    expect((await fixture.call('GetUser', { AccessToken: last })).body['message']).toBe('Access Token has been revoked')
    await expect(auth.signIn({ username: email, password: 'Wrong-2030!' })).rejects.toMatchObject({
      name: 'NotAuthorizedException',
      message: 'Incorrect username or password.',
    })
  })

  it('signs in by plain password, with a code by mail as custom challenge, and by SRP before it', async () => {
    point(plain)
    const { username, email } = await fixture.member(plain.clientId)
    expect(await auth.signIn({ username, password, options: { authFlowType: 'USER_PASSWORD_AUTH' } })).toMatchObject({
      isSignedIn: true,
    })
    await fresh()
    for (const authFlowType of ['CUSTOM_WITHOUT_SRP', 'CUSTOM_WITH_SRP'] as const) {
      const sent = fixture.codesFor(email)
      const given = authFlowType === 'CUSTOM_WITH_SRP' ? { password } : {}
      const challenged = await auth.signIn({ username, ...given, options: { authFlowType } })
      expect(challenged.nextStep.signInStep).toBe('CONFIRM_SIGN_IN_WITH_CUSTOM_CHALLENGE')
      const challengeResponse = await fixture.codeFor(email, sent)
      expect(await auth.confirmSignIn({ challengeResponse })).toMatchObject({ isSignedIn: true })
      await fresh()
    }
  })

  it('chooses a first factor: a password (plain or by SRP), or a code by mail', async () => {
    point(plain)
    const { username, email } = await fixture.member(plain.clientId)
    const options = { authFlowType: 'USER_AUTH' } as const
    for (const choice of ['PASSWORD', 'PASSWORD_SRP']) {
      const challenged = await auth.signIn({ username, options })
      expect(challenged.nextStep).toMatchObject({
        signInStep: 'CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION',
        availableChallenges: ['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP'],
      })
      const chosen = await auth.confirmSignIn({ challengeResponse: choice })
      expect(chosen.nextStep.signInStep).toBe('CONFIRM_SIGN_IN_WITH_PASSWORD')
      expect(await auth.confirmSignIn({ challengeResponse: password })).toMatchObject({ isSignedIn: true })
      await fresh()
      expect(
        await auth.signIn({ username, password, options: { ...options, preferredChallenge: choice as 'PASSWORD' } }),
      ).toMatchObject({ isSignedIn: true })
      await fresh()
    }
    const sent = fixture.codesFor(email)
    const mail = await auth.signIn({ username, options: { ...options, preferredChallenge: 'EMAIL_OTP' } })
    expect(mail.nextStep.signInStep).toBe('CONFIRM_SIGN_IN_WITH_EMAIL_CODE')
    await expect(auth.confirmSignIn({ challengeResponse: 'wrong' })).rejects.toMatchObject({
      name: 'CodeMismatchException',
    })
    expect(await auth.confirmSignIn({ challengeResponse: await fixture.codeFor(email, sent) })).toMatchObject({
      isSignedIn: true,
    })
    await fresh()
  })

  it('signs in automatically after a confirmation', async () => {
    point(plain)
    const username = `user_${randomUUID()}`
    const email = `${username}@example.com`
    const made = await auth.signUp({
      username,
      password,
      options: { userAttributes: { email }, autoSignIn: { authFlowType: 'USER_AUTH' } },
    })
    expect(made.nextStep.signUpStep).toBe('CONFIRM_SIGN_UP')
    const confirmed = await auth.confirmSignUp({ username, confirmationCode: await fixture.codeFor(email) })
    expect(confirmed.nextStep.signUpStep).toBe('COMPLETE_AUTO_SIGN_IN')
    expect(await auth.autoSignIn()).toMatchObject({ isSignedIn: true })
    await fresh()
    const other = await fixture.signUp(plain.clientId)
    const early = await auth.signIn({ username: other.username, password })
    expect(early.nextStep.signInStep).toBe('CONFIRM_SIGN_UP')
    await fresh()
  })

  it('sets up a required authenticator or email, and uses it', async () => {
    point(strict)
    const { username } = await bare(strict.clientId)
    const challenged = await auth.signIn({ username, password })
    expect(challenged.nextStep).toMatchObject({
      signInStep: 'CONTINUE_SIGN_IN_WITH_MFA_SETUP_SELECTION',
      allowedMFATypes: ['TOTP', 'EMAIL'],
    })
    const setUp = await auth.confirmSignIn({ challengeResponse: 'TOTP' })
    if (setUp.nextStep.signInStep !== 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP') throw new Error(setUp.nextStep.signInStep)
    const { sharedSecret } = setUp.nextStep.totpSetupDetails
    expect(await auth.confirmSignIn({ challengeResponse: codeOf(sharedSecret, -1) })).toMatchObject({
      isSignedIn: true,
    })
    await fresh()
    const next = await auth.signIn({ username, password })
    expect(next.nextStep.signInStep).toBe('CONFIRM_SIGN_IN_WITH_TOTP_CODE')
    expect(await auth.confirmSignIn({ challengeResponse: codeOf(sharedSecret) })).toMatchObject({ isSignedIn: true })
    await fresh()

    const other = await bare(strict.clientId)
    const email = `${randomUUID()}@example.com`
    await auth.signIn({ username: other.username, password })
    expect((await auth.confirmSignIn({ challengeResponse: 'EMAIL' })).nextStep.signInStep).toBe(
      'CONTINUE_SIGN_IN_WITH_EMAIL_SETUP',
    )
    expect((await auth.confirmSignIn({ challengeResponse: email })).nextStep.signInStep).toBe(
      'CONFIRM_SIGN_IN_WITH_EMAIL_CODE',
    )
    expect(await auth.confirmSignIn({ challengeResponse: await fixture.codeFor(email) })).toMatchObject({
      isSignedIn: true,
    })
    await fresh()
  })

  it('chooses a second factor, and replaces a temporary password', async () => {
    point(plain)
    const { username, userId, email } = await fixture.member(plain.clientId)
    const at = signInClient(fixture, plain.clientId, plain.poolId)
    await at.withAuthenticator(userId)
    await at.change(userId, { mfa: ['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'], status: 'FORCE_CHANGE_PASSWORD' })
    const challenged = await auth.signIn({ username, password })
    expect(challenged.nextStep.signInStep).toBe('CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED')
    const choice = await auth.confirmSignIn({ challengeResponse: 'Mended-2031!' })
    expect(choice.nextStep).toMatchObject({
      signInStep: 'CONTINUE_SIGN_IN_WITH_MFA_SELECTION',
      allowedMFATypes: ['TOTP', 'EMAIL'],
    })
    const sent = fixture.codesFor(email)
    expect((await auth.confirmSignIn({ challengeResponse: 'EMAIL' })).nextStep.signInStep).toBe(
      'CONFIRM_SIGN_IN_WITH_EMAIL_CODE',
    )
    expect(await auth.confirmSignIn({ challengeResponse: await fixture.codeFor(email, sent) })).toMatchObject({
      isSignedIn: true,
    })
    await fresh()
  })

  it('is a device that replaces the second factor, until it is forgotten', async () => {
    point(tracking)
    const { username, userId } = await fixture.member(tracking.clientId)
    await auth.signIn({ username, password })
    const [device] = await auth.fetchDevices()
    expect(device?.id).toMatch(/^us-west-1_/)
    await auth.fetchAuthSession({ forceRefresh: true })
    await auth.signOut()
    await signInClient(fixture, tracking.clientId).withAuthenticator(userId)
    expect(await auth.signIn({ username, password })).toMatchObject({ isSignedIn: true })
    await auth.forgetDevice()
    await auth.signOut()
    const challenged = await auth.signIn({ username, password })
    expect(challenged.nextStep.signInStep).toBe('CONFIRM_SIGN_IN_WITH_TOTP_CODE')
    await fresh()
  })

  it('drops a device that the service no longer knows', async () => {
    point(tracking)
    const { username } = await fixture.member(tracking.clientId)
    await auth.signIn({ username, password })
    const [device] = await auth.fetchDevices()
    await auth.signOut()
    const elsewhere = await signInClient(fixture, tracking.clientId, tracking.poolId).byPassword(username)
    const { AccessToken } = elsewhere.body['AuthenticationResult']
    await fixture.call('ForgetDevice', { AccessToken, DeviceKey: device?.id })
    expect(await auth.signIn({ username, password })).toMatchObject({ isSignedIn: true })
    await auth.signOut({ global: true })
  })
})

describe('amazon-cognito-identity-js', () => {
  const userOf = ({ poolId, clientId }: { poolId: string; clientId: string }, Username: string) =>
    new CognitoUser({
      Username,
      Pool: new CognitoUserPool({ UserPoolId: poolId, ClientId: clientId, endpoint: fixture.url }),
    })

  type Step = { step: string; value?: unknown }
  const steps = (resolve: (step: Step) => void, reject: (error: unknown) => void) => ({
    onSuccess: (session: CognitoUserSession) => resolve({ step: 'DONE', value: session }),
    onFailure: reject,
    totpRequired: () => resolve({ step: 'totpRequired' }),
    mfaSetup: () => resolve({ step: 'mfaSetup' }),
    newPasswordRequired: (attributes: unknown) => resolve({ step: 'newPasswordRequired', value: attributes }),
    customChallenge: (parameters: unknown) => resolve({ step: 'customChallenge', value: parameters }),
    selectMFAType: () => resolve({ step: 'selectMFAType' }),
  })
  const signIn = (user: CognitoUser, secret = password) =>
    new Promise<Step>((resolve, reject) => {
      user.authenticateUser(
        new AuthenticationDetails({ Username: user.getUsername(), Password: secret }),
        steps(resolve, reject),
      )
    })

  it('signs in by SRP and by password, refreshes, and ends its session', async () => {
    const { email, username } = await fixture.member(plain.clientId)
    const user = userOf(plain, email)
    expect((await signIn(user)).step).toBe('DONE')
    expect(user.getUsername()).toBe(username)
    const session = user.getSignInUserSession()!
    const next = await new Promise<CognitoUserSession>((resolve, reject) => {
      user.refreshSession(session.getRefreshToken(), (error, refreshed) => (error ? reject(error) : resolve(refreshed)))
    })
    expect(next.getRefreshToken().getToken()).not.toBe(session.getRefreshToken().getToken())
    await new Promise<void>((resolve) => user.signOut(() => resolve()))
    const AccessToken = next.getAccessToken().getJwtToken()
    expect((await fixture.call('GetUser', { AccessToken })).body['message']).toBe('Access Token has been revoked')
    const plainly = userOf(plain, email)
    plainly.setAuthenticationFlowType('USER_PASSWORD_AUTH')
    expect((await signIn(plainly)).step).toBe('DONE')
    await expect(signIn(userOf(plain, email), 'Wrong-2030!')).rejects.toMatchObject({ code: 'NotAuthorizedException' })
  })

  it('responds to a new password, a custom challenge and an authenticator', async () => {
    const { username, userId, email } = await fixture.member(plain.clientId)
    const at = signInClient(fixture, plain.clientId, plain.poolId)
    const secret = await at.withAuthenticator(userId)
    await at.change(userId, { status: 'FORCE_CHANGE_PASSWORD' })
    const user = userOf(plain, username)
    const challenged = await signIn(user)
    expect(challenged).toMatchObject({ step: 'newPasswordRequired', value: { email } })
    const totp = await new Promise<Step>((resolve, reject) => {
      user.completeNewPasswordChallenge('Mended-2031!', { nickname: 'Mari' }, steps(resolve, reject))
    })
    expect(totp.step).toBe('totpRequired')
    const done = await new Promise<Step>((resolve, reject) => {
      user.sendMFACode(codeOf(secret), steps(resolve, reject), 'SOFTWARE_TOKEN_MFA')
    })
    expect(done.step).toBe('DONE')
    await at.change(userId, { mfa: [] })
    const custom = userOf(plain, username)
    custom.setAuthenticationFlowType('CUSTOM_AUTH')
    const sent = fixture.codesFor(email)
    const challenge = await new Promise<Step>((resolve, reject) => {
      custom.initiateAuth(new AuthenticationDetails({ Username: username }), steps(resolve, reject))
    })
    expect(challenge).toMatchObject({ step: 'customChallenge', value: { kind: 'EMAIL_CODE' } })
    const code = await fixture.codeFor(email, sent)
    const after = await new Promise<Step>((resolve, reject) => {
      custom.sendCustomChallengeAnswer(code, steps(resolve, reject))
    })
    expect(after.step).toBe('DONE')
  })

  it('sets up an authenticator during the sign-in', async () => {
    const { username } = await bare(strict.clientId)
    const user = userOf(strict, username)
    expect((await signIn(user)).step).toBe('mfaSetup')
    const secret = await new Promise<string>((resolve, reject) => {
      user.associateSoftwareToken({ associateSecretCode: resolve, onFailure: reject })
    })
    const session = await new Promise((resolve, reject) => {
      user.verifySoftwareToken(codeOf(secret), 'phone', { onSuccess: resolve, onFailure: reject })
    })
    expect(session).toMatchObject({})
    expect(user.getSignInUserSession()?.isValid()).toBe(true)
  })

  it('is a device that is proven at the next sign-in', async () => {
    const { username, userId } = await fixture.member(tracking.clientId)
    const user = userOf(tracking, username)
    expect((await signIn(user)).step).toBe('DONE')
    await signInClient(fixture, tracking.clientId).withAuthenticator(userId)
    expect((await signIn(userOf(tracking, username))).step).toBe('DONE')
    const devices = await new Promise<{ Devices: unknown[] }>((resolve, reject) => {
      user.listDevices(10, null, { onSuccess: resolve as never, onFailure: reject })
    })
    expect(devices.Devices).toHaveLength(1)
    await new Promise((resolve, reject) => user.forgetDevice({ onSuccess: resolve, onFailure: reject }))
    expect((await signIn(userOf(tracking, username))).step).toBe('totpRequired')
  })
})

describe('the AWS SDK', () => {
  it('signs in with a choice of first factors, including a passkey', async () => {
    const { username, userId } = await fixture.member(plain.clientId)
    const authenticator = makeAuthenticator()
    await fixture.service.context.db.insert(passkeys).values({
      id: authenticator.id,
      userId,
      name: 'Phone',
      relyingPartyId: 'localhost',
      publicKey: authenticator.publicKey,
      counter: 0,
      transports: [],
      createdAt: fixture.service.context.clock.now(),
    })
    const ClientId = plain.clientId
    const challenged = await fixture.sdk.send(
      new InitiateAuthCommand({ ClientId, AuthFlow: 'USER_AUTH', AuthParameters: { USERNAME: username } }),
    )
    expect(challenged).toMatchObject({
      ChallengeName: 'SELECT_CHALLENGE',
      AvailableChallenges: expect.arrayContaining(['WEB_AUTHN']),
    })
    const answer = (
      ChallengeName: 'SELECT_CHALLENGE' | 'WEB_AUTHN',
      Session = '',
      responses: Record<string, string> = {},
    ) =>
      fixture.sdk.send(
        new RespondToAuthChallengeCommand({
          ClientId,
          ChallengeName,
          Session,
          ChallengeResponses: { USERNAME: username, ...responses },
        }),
      )
    const webAuthn = await answer('SELECT_CHALLENGE', challenged.Session, { ANSWER: 'WEB_AUTHN' })
    const options = JSON.parse(webAuthn.ChallengeParameters?.['CREDENTIAL_REQUEST_OPTIONS'] ?? '')
    const CREDENTIAL = authenticator.answer(options, 'http://localhost:3000')
    const done = await answer('WEB_AUTHN', webAuthn.Session, { CREDENTIAL })
    expect(done.AuthenticationResult).toMatchObject({ TokenType: 'Bearer' })
    await expect(answer('WEB_AUTHN', webAuthn.Session, { CREDENTIAL })).rejects.toMatchObject({
      name: 'NotAuthorizedException',
    })
  })
})
