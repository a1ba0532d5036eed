import {
  AdminAddUserToGroupCommand,
  AdminConfirmSignUpCommand,
  AdminCreateUserCommand,
  AdminDeleteUserCommand,
  AdminDisableUserCommand,
  AdminEnableUserCommand,
  AdminGetUserCommand,
  AdminListGroupsForUserCommand,
  AdminRemoveUserFromGroupCommand,
  AdminResetUserPasswordCommand,
  AdminSetUserMFAPreferenceCommand,
  AdminSetUserPasswordCommand,
  AdminUpdateUserAttributesCommand,
  AdminUserGlobalSignOutCommand,
  CreateGroupCommand,
  ListUsersCommand,
  ListUsersInGroupCommand,
  type AdminCreateUserCommandInput,
} from '@aws-sdk/client-cognito-identity-provider'
import { codeIssued, userDeleted, userUpdated } from '@robokids/contracts/identity'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { users } from '../../src/schema.ts'
import { newTotpSecret, sealTotpSecret } from '../../src/factors/totp.ts'
import { startIdentity, password, type IdentityFixture, type Json } from '../fixture.ts'

let fixture: IdentityFixture
let UserPoolId: string
let clientId: string
beforeAll(async () => {
  fixture = await startIdentity({ EVEN_ANSWER_MS: '5' })
  const made = await fixture.pool()
  UserPoolId = made.poolId
  clientId = made.clientId
})
afterAll(() => fixture.stop())

const signIn = (name: string, secret = password) =>
  fixture.call('InitiateAuth', {
    ClientId: clientId,
    AuthFlow: 'USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: name, PASSWORD: secret },
  })
const tokenOf = async (name: string, secret = password): Promise<string> =>
  (await signIn(name, secret)).body['AuthenticationResult'].AccessToken as string
const get = (Username: string) => fixture.sdk.send(new AdminGetUserCommand({ UserPoolId, Username }))
const claimsOf = (token: string): Record<string, Json> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
let made = 0
const newcomer = () => `newcomer-${++made}-${Date.now()}`
async function invite(more: Partial<AdminCreateUserCommandInput> = {}) {
  const Username = more.Username ?? newcomer()
  const email = `${Username}@example.com`
  const { User } = await fixture.sdk.send(
    new AdminCreateUserCommand({
      UserPoolId,
      Username,
      UserAttributes: [
        { Name: 'email', Value: email },
        { Name: 'email_verified', Value: 'true' },
      ],
      ...more,
    }),
  )
  return { Username, email, User }
}
const unknown = { name: 'UserNotFoundException', message: 'User does not exist.' }

describe('AdminCreateUser', () => {
  it('sends a temporary password, which must be changed at the first sign-in', async () => {
    const { Username, email, User } = await invite()
    expect(User).toMatchObject({ Username, Enabled: true, UserStatus: 'FORCE_CHANGE_PASSWORD' })
    expect(User?.Attributes?.[0]).toMatchObject({ Name: 'sub' })
    expect(User?.UserCreateDate).toBeInstanceOf(Date)
    const temporary = await fixture.codeFor(email)
    const { data } = await fixture.bed.bus.seen(codeIssued, (code) => code.destination === email)
    expect(data).toMatchObject({ purpose: 'invitation', medium: 'EMAIL', username: Username })
    const days = Temporal.Instant.from(data.expiresAt).since(fixture.service.context.clock.now()).total('hours') / 24
    expect(days).toBeCloseTo(7, 1)
    const challenged = await signIn(email, temporary)
    expect(challenged.body).toMatchObject({ ChallengeName: 'NEW_PASSWORD_REQUIRED' })
    const answered = await fixture.call('RespondToAuthChallenge', {
      ClientId: clientId,
      ChallengeName: 'NEW_PASSWORD_REQUIRED',
      Session: challenged.body['Session'],
      ChallengeResponses: { USERNAME: Username, NEW_PASSWORD: password },
    })
    expect(answered.body).toMatchObject({ AuthenticationResult: {} })
    expect(await get(Username)).toMatchObject({ UserStatus: 'CONFIRMED' })
  })

  it('rejects usernames by which another account is found', async () => {
    const { User } = await invite()
    const sub = User?.Attributes?.[0]?.Value ?? ''
    for (const Username of ['staff@example.com', sub]) {
      await expect(invite({ Username })).rejects.toMatchObject({ name: 'InvalidParameterException' })
    }
    // A sub finds the account with that sub, even if another one has it as its username.
    const { username, userId } = await fixture.member(clientId)
    await fixture.service.context.db.update(users).set({ username: sub }).where(eq(users.id, userId))
    expect(await get(sub)).toMatchObject({ Username: User?.Username })
    await fixture.service.context.db.update(users).set({ username }).where(eq(users.id, userId))
  })

  it('sends no message if suppressed', async () => {
    const { Username, email } = await invite({ MessageAction: 'SUPPRESS', TemporaryPassword: 'Secret-2030!' })
    expect((await signIn(Username, 'Secret-2030!')).body).toMatchObject({ ChallengeName: 'NEW_PASSWORD_REQUIRED' })
    await invite()
    expect(fixture.codesFor(email)).toBe(0)
  })

  it('can resend with a new password, which invalidates the old one', async () => {
    const { Username, email } = await invite()
    const first = await fixture.codeFor(email)
    await invite({ Username, MessageAction: 'RESEND' })
    const second = await fixture.codeFor(email, 1)
    expect((await signIn(Username, first)).body).toMatchObject({ __type: 'NotAuthorizedException' })
    expect((await signIn(Username, second)).body).toMatchObject({ ChallengeName: 'NEW_PASSWORD_REQUIRED' })
    const { username } = await fixture.member(clientId)
    await expect(invite({ Username: username, MessageAction: 'RESEND' })).rejects.toMatchObject({
      name: 'UnsupportedUserStateException',
    })
    await expect(invite({ Username: 'nobody', MessageAction: 'RESEND' })).rejects.toMatchObject(unknown)
  })

  it('sends it by text message if requested', async () => {
    const number = `+1666${String(Date.now()).slice(-7)}`
    await invite({
      UserAttributes: [{ Name: 'phone_number', Value: number }],
      DesiredDeliveryMediums: ['SMS'],
    })
    expect(await fixture.codeFor(number)).toHaveLength(16)
    await expect(
      invite({ UserAttributes: [{ Name: 'phone_number', Value: number }], DesiredDeliveryMediums: ['EMAIL'] }),
    ).rejects.toMatchObject({ name: 'InvalidParameterException' })
  })

  it('rejects a username or email that is taken, and a password that breaks the policy', async () => {
    const { Username, email } = await invite()
    await expect(invite({ Username })).rejects.toMatchObject({
      name: 'UsernameExistsException',
      message: 'User already exists',
    })
    const UserAttributes = [
      { Name: 'email', Value: email.toUpperCase() },
      { Name: 'email_verified', Value: 'true' },
    ]
    await expect(invite({ UserAttributes })).rejects.toMatchObject({ name: 'AliasExistsException' })
    const { Username: taker } = await invite({ UserAttributes, ForceAliasCreation: true })
    expect(await get(email)).toMatchObject({ Username: taker })
    await expect(invite({ TemporaryPassword: 'short' })).rejects.toMatchObject({ name: 'InvalidPasswordException' })
  })
})

describe('AdminSetUserPassword', () => {
  it('sets a permanent password, and ends the sign-ins', async () => {
    const { username } = await fixture.member(clientId)
    const AccessToken = await tokenOf(username)
    const set = new AdminSetUserPasswordCommand({
      UserPoolId,
      Username: username,
      Password: 'Given-2030!',
      Permanent: true,
    })
    await fixture.sdk.send(set)
    expect((await signIn(username, 'Given-2030!')).body).toMatchObject({ AuthenticationResult: {} })
    expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({ status: 400 })
  })

  it('sets one that must be changed at the next sign-in', async () => {
    const { username } = await fixture.member(clientId)
    await fixture.sdk.send(new AdminSetUserPasswordCommand({ UserPoolId, Username: username, Password: 'Given-2030!' }))
    expect((await signIn(username, 'Given-2030!')).body).toMatchObject({ ChallengeName: 'NEW_PASSWORD_REQUIRED' })
  })
})

describe('AdminGetUser', () => {
  it('finds by username, sub and verified email, only in its own pool', async () => {
    const { username, email, userId } = await fixture.member(clientId)
    for (const name of [username, userId, email.toUpperCase()]) {
      const user = await get(name)
      expect(user).toMatchObject({ Username: username, Enabled: true, UserStatus: 'CONFIRMED' })
      expect(user.UserAttributes).toContainEqual({ Name: 'email_verified', Value: 'true' })
    }
    const stranger = await fixture.member()
    await expect(get(stranger.username)).rejects.toMatchObject(unknown)
    await expect(get(stranger.userId)).rejects.toMatchObject(unknown)
    const unverified = await fixture.signUp(clientId)
    await expect(get(unverified.email)).rejects.toMatchObject(unknown)
  })
})

describe('AdminConfirmSignUp', () => {
  it('confirms an account once, and does not verify its email', async () => {
    const { username } = await fixture.signUp(clientId)
    const confirm = () => fixture.sdk.send(new AdminConfirmSignUpCommand({ UserPoolId, Username: username }))
    await confirm()
    const user = await get(username)
    expect(user.UserStatus).toBe('CONFIRMED')
    expect(user.UserAttributes).toContainEqual({ Name: 'email_verified', Value: 'false' })
    expect((await signIn(username)).body).toMatchObject({ AuthenticationResult: {} })
    await expect(confirm()).rejects.toMatchObject({
      name: 'NotAuthorizedException',
      message: 'User cannot be confirmed. Current status is CONFIRMED',
    })
  })
})

describe('AdminResetUserPassword', () => {
  it('requires a new password with a code', async () => {
    const { username, email } = await fixture.member(clientId)
    const AccessToken = await tokenOf(username)
    await fixture.sdk.send(new AdminResetUserPasswordCommand({ UserPoolId, Username: username }))
    expect(await signIn(username)).toMatchObject({ body: { __type: 'PasswordResetRequiredException' } })
    expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({ status: 400 })
    const reset = await fixture.call('ConfirmForgotPassword', {
      ClientId: clientId,
      Username: username,
      ConfirmationCode: await fixture.codeFor(email, 1),
      Password: 'Chosen-2030!',
    })
    expect(reset.status).toBe(200)
    expect((await signIn(username, 'Chosen-2030!')).body).toMatchObject({ AuthenticationResult: {} })
  })

  it('rejects an unconfirmed account', async () => {
    const { username } = await fixture.signUp(clientId)
    await expect(
      fixture.sdk.send(new AdminResetUserPasswordCommand({ UserPoolId, Username: username })),
    ).rejects.toMatchObject({
      name: 'NotAuthorizedException',
      message: 'User password cannot be reset in the current state.',
    })
  })
})

describe('AdminDisableUser and AdminEnableUser', () => {
  it('lock and unlock an account', async () => {
    const { username, userId } = await fixture.member(clientId)
    const AccessToken = await tokenOf(username)
    await fixture.sdk.send(new AdminDisableUserCommand({ UserPoolId, Username: username }))
    expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({ body: { __type: 'NotAuthorizedException' } })
    expect(await signIn(username)).toMatchObject({ body: { message: 'User is disabled.' } })
    expect((await signIn(username, 'Wrong-2030!')).body['message']).toBe('Incorrect username or password.')
    expect(await get(username)).toMatchObject({ Enabled: false })
    await fixture.sdk.send(new AdminEnableUserCommand({ UserPoolId, Username: username }))
    expect((await signIn(username)).body).toMatchObject({ AuthenticationResult: {} })
    expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({ status: 400 })
    await fixture.bed.bus.seen(userUpdated, (data) => data.userId === userId && data.changed.includes('enabled'))
  })
})

describe('AdminUserGlobalSignOut', () => {
  it('ends every sign-in', async () => {
    const { username } = await fixture.member(clientId)
    const tokens = [await tokenOf(username), await tokenOf(username)]
    await fixture.sdk.send(new AdminUserGlobalSignOutCommand({ UserPoolId, Username: username }))
    for (const AccessToken of tokens) {
      expect(await fixture.call('GetUser', { AccessToken })).toMatchObject({
        body: { message: 'Access Token has been revoked' },
      })
    }
  })
})

describe('AdminSetUserMFAPreference', () => {
  it('disables a lost authenticator permanently, and returns the remaining factors', async () => {
    const { username, userId } = await fixture.member(clientId)
    const sealedTotpSecret = sealTotpSecret(newTotpSecret(), userId, fixture.service.context.config)
    await fixture.service.context.db
      .update(users)
      .set({ sealedTotpSecret, mfa: ['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'], preferredMfa: 'SOFTWARE_TOKEN_MFA' })
      .where(eq(users.id, userId))
    const set = (settings: object) =>
      fixture.sdk.send(new AdminSetUserMFAPreferenceCommand({ UserPoolId, Username: username, ...settings }))
    await set({ SoftwareTokenMfaSettings: { Enabled: false } })
    await set({ SoftwareTokenMfaSettings: { Enabled: false } })
    const { UserMFASettingList, PreferredMfaSetting } = await get(username)
    expect([UserMFASettingList, PreferredMfaSetting]).toEqual([['EMAIL_OTP'], undefined])
    const isTold = ({ userId: id, changed }: { userId: string; changed: string[] }) =>
      id === userId && changed.includes('mfa')
    expect((await fixture.bed.bus.seen(userUpdated, isTold)).data.secondFactors).toEqual(['EMAIL_OTP'])
    expect(fixture.bed.bus.all(userUpdated, isTold)).toHaveLength(1)
    await expect(set({ SoftwareTokenMfaSettings: { Enabled: true } })).rejects.toMatchObject({
      message: expect.stringMatching(/not enabled for this user pool|not verified software token/),
    })
  })
})

describe('AdminUpdateUserAttributes', () => {
  const update = (Username: string, attributes: Record<string, string>) =>
    fixture.sdk.send(
      new AdminUpdateUserAttributesCommand({
        UserPoolId,
        Username,
        UserAttributes: Object.entries(attributes).map(([Name, Value]) => ({ Name, Value })),
      }),
    )

  it('can mark an email as verified, which can then sign in', async () => {
    const { username, email, userId } = await fixture.member(clientId)
    const next = `next-${email}`
    await update(username, { email: next, email_verified: 'true' })
    expect((await signIn(next)).body).toMatchObject({ AuthenticationResult: {} })
    expect((await signIn(email)).body).toMatchObject({ __type: 'NotAuthorizedException' })
    const { data } = await fixture.bed.bus.seen(
      userUpdated,
      (event) => event.userId === userId && event.changed.includes('email'),
    )
    expect(data).toMatchObject({ email: next, emailVerified: true, previousEmail: email })
    await update(username, { email_verified: 'false' })
    expect((await signIn(next)).body).toMatchObject({ __type: 'NotAuthorizedException' })
  })

  it("rejects another account's email", async () => {
    const [maren, bo] = [await fixture.member(clientId), await fixture.member(clientId)]
    await expect(update(maren.username, { email: bo.email, email_verified: 'true' })).rejects.toMatchObject({
      name: 'AliasExistsException',
    })
    expect((await get(maren.username)).UserAttributes).toContainEqual({ Name: 'email', Value: maren.email })
  })
})

describe('AdminDeleteUser', () => {
  it('deletes an account', async () => {
    const { username, userId } = await fixture.member(clientId)
    await fixture.sdk.send(new AdminDeleteUserCommand({ UserPoolId, Username: username }))
    await expect(get(username)).rejects.toMatchObject(unknown)
    await fixture.bed.bus.seen(userDeleted, (data) => data.userId === userId)
  })
})

describe('groups', () => {
  it('have members, whose tokens contain them', async () => {
    const GroupName = `group-${Date.now()}`
    const { Group } = await fixture.sdk.send(new CreateGroupCommand({ UserPoolId, GroupName, Description: 'Some.' }))
    expect(Group).toMatchObject({ GroupName, UserPoolId, Description: 'Some.' })
    await expect(fixture.sdk.send(new CreateGroupCommand({ UserPoolId, GroupName }))).rejects.toMatchObject({
      name: 'GroupExistsException',
    })
    const people = [await fixture.member(clientId), await fixture.member(clientId), await fixture.member(clientId)]
    for (const { username: Username } of people) {
      await fixture.sdk.send(new AdminAddUserToGroupCommand({ UserPoolId, GroupName, Username }))
      await fixture.sdk.send(new AdminAddUserToGroupCommand({ UserPoolId, GroupName, Username }))
    }
    const [first] = people
    const Username = first?.username ?? ''
    const changes = () => fixture.bed.bus.all(userUpdated, (data) => data.userId === first?.userId)
    expect(claimsOf(await tokenOf(Username))['cognito:groups']).toEqual([GroupName])
    const listed = await fixture.sdk.send(new AdminListGroupsForUserCommand({ UserPoolId, Username }))
    expect(listed.Groups).toMatchObject([{ GroupName }])

    const names: (string | undefined)[] = []
    let NextToken: string | undefined
    do {
      const page = await fixture.sdk.send(new ListUsersInGroupCommand({ UserPoolId, GroupName, Limit: 2, NextToken }))
      names.push(...(page.Users ?? []).map((user) => user.Username))
      NextToken = page.NextToken
    } while (NextToken)
    expect(new Set(names)).toEqual(new Set(people.map(({ username }) => username)))
    expect(names).toHaveLength(3)

    await fixture.sdk.send(new AdminRemoveUserFromGroupCommand({ UserPoolId, GroupName, Username }))
    expect(claimsOf(await tokenOf(Username))).not.toHaveProperty('cognito:groups')
    await fixture.bed.bus.seen(userUpdated, () => changes().length === 2)
    expect(changes().map(({ data }) => data.changed)).toEqual([['groups'], ['groups']])
    await expect(
      fixture.sdk.send(new AdminAddUserToGroupCommand({ UserPoolId, GroupName: 'nothing', Username })),
    ).rejects.toMatchObject({ name: 'ResourceNotFoundException', message: 'Group not found.' })
  })
})

describe('ListUsers', () => {
  it('pages through a pool, and filters it', async () => {
    const { poolId, clientId: own } = await fixture.pool()
    const people = [
      await fixture.member(own, { given_name: 'O"Neil\\' }),
      await fixture.member(own, { given_name: 'Bo%' }),
      await fixture.signUp(own),
    ]
    const names: (string | undefined)[] = []
    let PaginationToken: string | undefined
    do {
      const page = await fixture.sdk.send(new ListUsersCommand({ UserPoolId: poolId, Limit: 1, PaginationToken }))
      names.push(...(page.Users ?? []).map((user) => user.Username))
      PaginationToken = page.PaginationToken
    } while (PaginationToken)
    expect(new Set(names)).toEqual(new Set(people.map(({ username }) => username)))
    expect(names).toHaveLength(3)

    const [first, second, third] = people
    const find = async (Filter: string) => {
      const { Users = [] } = await fixture.sdk.send(new ListUsersCommand({ UserPoolId: poolId, Filter }))
      return Users.map(({ Username }) => Username)
    }
    expect(await find(`email = "${first?.email}"`)).toEqual([first?.username])
    expect(await find(`username ^= "${second?.username.slice(0, 20)}"`)).toEqual([second?.username])
    expect(await find(String.raw`given_name = "O\"Neil\\"`)).toEqual([first?.username])
    expect(await find('given_name ^= "Bo%"')).toEqual([second?.username])
    expect(await find('given_name ^= "%"')).toEqual([])
    expect(await find(`sub = "${third?.userId}"`)).toEqual([third?.username])
    expect(await find('cognito:user_status = "UNCONFIRMED"')).toEqual([third?.username])
    expect(await find('status = "Disabled"')).toEqual([])
    for (const Filter of ['nonsense = "a"', 'email', 'email = a', `email = "a" or "1" = "1"`, 'constructor = "a"']) {
      await expect(find(Filter)).rejects.toMatchObject({ name: 'InvalidParameterException' })
    }
    const { Users } = await fixture.sdk.send(
      new ListUsersCommand({ UserPoolId: poolId, Limit: 1, AttributesToGet: ['email'] }),
    )
    expect(Users?.[0]?.Attributes).toEqual([{ Name: 'email', Value: expect.stringContaining('@') }])
  })
})
