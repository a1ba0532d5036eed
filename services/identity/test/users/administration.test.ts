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
import { openFrontDesk, password, type FrontDesk, type Json } from '../front-desk.ts'

let desk: FrontDesk
let UserPoolId: string
let clientId: string
beforeAll(async () => {
  desk = await openFrontDesk({ EVEN_ANSWER_MS: '5' })
  const made = await desk.pool()
  UserPoolId = made.poolId
  clientId = made.clientId
})
afterAll(() => desk.stop())

const signIn = (name: string, secret = password) =>
  desk.call('InitiateAuth', {
    ClientId: clientId,
    AuthFlow: 'USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: name, PASSWORD: secret },
  })
const tokenOf = async (name: string, secret = password): Promise<string> =>
  (await signIn(name, secret)).body['AuthenticationResult'].AccessToken as string
const get = (Username: string) => desk.sdk.send(new AdminGetUserCommand({ UserPoolId, Username }))
const claimsOf = (token: string): Record<string, Json> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
let made = 0
const newcomer = () => `newcomer-${++made}-${Date.now()}`
async function invite(more: Partial<AdminCreateUserCommandInput> = {}) {
  const Username = more.Username ?? newcomer()
  const email = `${Username}@example.com`
  const { User } = await desk.sdk.send(
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
  it('sends a temporary password, which is changed at the first sign-in', async () => {
    const { Username, email, User } = await invite()
    expect(User).toMatchObject({ Username, Enabled: true, UserStatus: 'FORCE_CHANGE_PASSWORD' })
    expect(User?.Attributes?.[0]).toMatchObject({ Name: 'sub' })
    expect(User?.UserCreateDate).toBeInstanceOf(Date)
    const temporary = await desk.codeFor(email)
    const { data } = await desk.bed.bus.seen(codeIssued, (code) => code.destination === email)
    expect(data).toMatchObject({ purpose: 'invitation', medium: 'EMAIL', username: Username })
    const days = Temporal.Instant.from(data.expiresAt).since(desk.service.context.clock.now()).total('hours') / 24
    expect(days).toBeCloseTo(7, 1)
    const asked = await signIn(email, temporary)
    expect(asked.body).toMatchObject({ ChallengeName: 'NEW_PASSWORD_REQUIRED' })
    const answered = await desk.call('RespondToAuthChallenge', {
      ClientId: clientId,
      ChallengeName: 'NEW_PASSWORD_REQUIRED',
      Session: asked.body['Session'],
      ChallengeResponses: { USERNAME: Username, NEW_PASSWORD: password },
    })
    expect(answered.body).toMatchObject({ AuthenticationResult: {} })
    expect(await get(Username)).toMatchObject({ UserStatus: 'CONFIRMED' })
  })

  it('takes no name that another account could be found by', async () => {
    const { User } = await invite()
    const sub = User?.Attributes?.[0]?.Value ?? ''
    for (const Username of ['staff@example.com', sub]) {
      await expect(invite({ Username })).rejects.toMatchObject({ name: 'InvalidParameterException' })
    }
    // By a sub the account that has it is meant, even if another calls itself so.
    const { username, userId } = await desk.member(clientId)
    await desk.service.context.db.update(users).set({ username: sub }).where(eq(users.id, userId))
    expect(await get(sub)).toMatchObject({ Username: User?.Username })
    await desk.service.context.db.update(users).set({ username }).where(eq(users.id, userId))
  })

  it('says nothing where it is told to', async () => {
    const { Username, email } = await invite({ MessageAction: 'SUPPRESS', TemporaryPassword: 'Secret-2030!' })
    expect((await signIn(Username, 'Secret-2030!')).body).toMatchObject({ ChallengeName: 'NEW_PASSWORD_REQUIRED' })
    await invite()
    expect(desk.codesFor(email)).toBe(0)
  })

  it('sends another password again, and the one before it is worth nothing', async () => {
    const { Username, email } = await invite()
    const first = await desk.codeFor(email)
    await invite({ Username, MessageAction: 'RESEND' })
    const second = await desk.codeFor(email, 1)
    expect((await signIn(Username, first)).body).toMatchObject({ __type: 'NotAuthorizedException' })
    expect((await signIn(Username, second)).body).toMatchObject({ ChallengeName: 'NEW_PASSWORD_REQUIRED' })
    const { username } = await desk.member(clientId)
    await expect(invite({ Username: username, MessageAction: 'RESEND' })).rejects.toMatchObject({
      name: 'UnsupportedUserStateException',
    })
    await expect(invite({ Username: 'nobody', MessageAction: 'RESEND' })).rejects.toMatchObject(unknown)
  })

  it('sends it by text message where that is wished', async () => {
    const number = `+1666${String(Date.now()).slice(-7)}`
    await invite({
      UserAttributes: [{ Name: 'phone_number', Value: number }],
      DesiredDeliveryMediums: ['SMS'],
    })
    expect(await desk.codeFor(number)).toHaveLength(16)
    await expect(
      invite({ UserAttributes: [{ Name: 'phone_number', Value: number }], DesiredDeliveryMediums: ['EMAIL'] }),
    ).rejects.toMatchObject({ name: 'InvalidParameterException' })
  })

  it('refuses a name or an address that is taken, and a password by the policy', async () => {
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
  it('sets a password for good, and ends the sign-ins', async () => {
    const { username } = await desk.member(clientId)
    const AccessToken = await tokenOf(username)
    const set = new AdminSetUserPasswordCommand({
      UserPoolId,
      Username: username,
      Password: 'Given-2030!',
      Permanent: true,
    })
    await desk.sdk.send(set)
    expect((await signIn(username, 'Given-2030!')).body).toMatchObject({ AuthenticationResult: {} })
    expect(await desk.call('GetUser', { AccessToken })).toMatchObject({ status: 400 })
  })

  it('sets one that is changed at the next sign-in', async () => {
    const { username } = await desk.member(clientId)
    await desk.sdk.send(new AdminSetUserPasswordCommand({ UserPoolId, Username: username, Password: 'Given-2030!' }))
    expect((await signIn(username, 'Given-2030!')).body).toMatchObject({ ChallengeName: 'NEW_PASSWORD_REQUIRED' })
  })
})

describe('AdminGetUser', () => {
  it('finds by name, sub and verified address, in its own pool alone', async () => {
    const { username, email, userId } = await desk.member(clientId)
    for (const name of [username, userId, email.toUpperCase()]) {
      const user = await get(name)
      expect(user).toMatchObject({ Username: username, Enabled: true, UserStatus: 'CONFIRMED' })
      expect(user.UserAttributes).toContainEqual({ Name: 'email_verified', Value: 'true' })
    }
    const stranger = await desk.member()
    await expect(get(stranger.username)).rejects.toMatchObject(unknown)
    await expect(get(stranger.userId)).rejects.toMatchObject(unknown)
    const unverified = await desk.signUp(clientId)
    await expect(get(unverified.email)).rejects.toMatchObject(unknown)
  })
})

describe('AdminConfirmSignUp', () => {
  it('confirms an account once, and does not verify its address', async () => {
    const { username } = await desk.signUp(clientId)
    const confirm = () => desk.sdk.send(new AdminConfirmSignUpCommand({ UserPoolId, Username: username }))
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
  it('asks for another password by a code', async () => {
    const { username, email } = await desk.member(clientId)
    const AccessToken = await tokenOf(username)
    await desk.sdk.send(new AdminResetUserPasswordCommand({ UserPoolId, Username: username }))
    expect(await signIn(username)).toMatchObject({ body: { __type: 'PasswordResetRequiredException' } })
    expect(await desk.call('GetUser', { AccessToken })).toMatchObject({ status: 400 })
    const reset = await desk.call('ConfirmForgotPassword', {
      ClientId: clientId,
      Username: username,
      ConfirmationCode: await desk.codeFor(email, 1),
      Password: 'Chosen-2030!',
    })
    expect(reset.status).toBe(200)
    expect((await signIn(username, 'Chosen-2030!')).body).toMatchObject({ AuthenticationResult: {} })
  })

  it('refuses an account that was never confirmed', async () => {
    const { username } = await desk.signUp(clientId)
    await expect(
      desk.sdk.send(new AdminResetUserPasswordCommand({ UserPoolId, Username: username })),
    ).rejects.toMatchObject({
      name: 'NotAuthorizedException',
      message: 'User password cannot be reset in the current state.',
    })
  })
})

describe('AdminDisableUser and AdminEnableUser', () => {
  it('shut an account out, and let it in again', async () => {
    const { username, userId } = await desk.member(clientId)
    const AccessToken = await tokenOf(username)
    await desk.sdk.send(new AdminDisableUserCommand({ UserPoolId, Username: username }))
    expect(await desk.call('GetUser', { AccessToken })).toMatchObject({ body: { __type: 'NotAuthorizedException' } })
    expect(await signIn(username)).toMatchObject({ body: { message: 'User is disabled.' } })
    expect((await signIn(username, 'Wrong-2030!')).body['message']).toBe('Incorrect username or password.')
    expect(await get(username)).toMatchObject({ Enabled: false })
    await desk.sdk.send(new AdminEnableUserCommand({ UserPoolId, Username: username }))
    expect((await signIn(username)).body).toMatchObject({ AuthenticationResult: {} })
    expect(await desk.call('GetUser', { AccessToken })).toMatchObject({ status: 400 })
    await desk.bed.bus.seen(userUpdated, (data) => data.userId === userId && data.changed.includes('enabled'))
  })
})

describe('AdminUserGlobalSignOut', () => {
  it('ends every sign-in', async () => {
    const { username } = await desk.member(clientId)
    const tokens = [await tokenOf(username), await tokenOf(username)]
    await desk.sdk.send(new AdminUserGlobalSignOutCommand({ UserPoolId, Username: username }))
    for (const AccessToken of tokens) {
      expect(await desk.call('GetUser', { AccessToken })).toMatchObject({
        body: { message: 'Access Token has been revoked' },
      })
    }
  })
})

describe('AdminSetUserMFAPreference', () => {
  it('turns a lost authenticator off for good, and tells what is asked for from then on', async () => {
    const { username, userId } = await desk.member(clientId)
    const sealedTotpSecret = sealTotpSecret(newTotpSecret(), userId, desk.service.context.config)
    await desk.service.context.db
      .update(users)
      .set({ sealedTotpSecret, mfa: ['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'], preferredMfa: 'SOFTWARE_TOKEN_MFA' })
      .where(eq(users.id, userId))
    const set = (settings: object) =>
      desk.sdk.send(new AdminSetUserMFAPreferenceCommand({ UserPoolId, Username: username, ...settings }))
    await set({ SoftwareTokenMfaSettings: { Enabled: false } })
    await set({ SoftwareTokenMfaSettings: { Enabled: false } })
    const { UserMFASettingList, PreferredMfaSetting } = await get(username)
    expect([UserMFASettingList, PreferredMfaSetting]).toEqual([['EMAIL_OTP'], undefined])
    const isTold = ({ userId: id, changed }: { userId: string; changed: string[] }) =>
      id === userId && changed.includes('mfa')
    expect((await desk.bed.bus.seen(userUpdated, isTold)).data.secondFactors).toEqual(['EMAIL_OTP'])
    expect(desk.bed.bus.all(userUpdated, isTold)).toHaveLength(1)
    await expect(set({ SoftwareTokenMfaSettings: { Enabled: true } })).rejects.toMatchObject({
      message: expect.stringMatching(/not enabled for this user pool|not verified software token/),
    })
  })
})

describe('AdminUpdateUserAttributes', () => {
  const update = (Username: string, attributes: Record<string, string>) =>
    desk.sdk.send(
      new AdminUpdateUserAttributesCommand({
        UserPoolId,
        Username,
        UserAttributes: Object.entries(attributes).map(([Name, Value]) => ({ Name, Value })),
      }),
    )

  it('can say that an address is verified, which then signs in', async () => {
    const { username, email, userId } = await desk.member(clientId)
    const next = `next-${email}`
    await update(username, { email: next, email_verified: 'true' })
    expect((await signIn(next)).body).toMatchObject({ AuthenticationResult: {} })
    expect((await signIn(email)).body).toMatchObject({ __type: 'NotAuthorizedException' })
    const { data } = await desk.bed.bus.seen(
      userUpdated,
      (event) => event.userId === userId && event.changed.includes('email'),
    )
    expect(data).toMatchObject({ email: next, emailVerified: true, previousEmail: email })
    await update(username, { email_verified: 'false' })
    expect((await signIn(next)).body).toMatchObject({ __type: 'NotAuthorizedException' })
  })

  it("does not give an account another one's address", async () => {
    const [maren, bo] = [await desk.member(clientId), await desk.member(clientId)]
    await expect(update(maren.username, { email: bo.email, email_verified: 'true' })).rejects.toMatchObject({
      name: 'AliasExistsException',
    })
    expect((await get(maren.username)).UserAttributes).toContainEqual({ Name: 'email', Value: maren.email })
  })
})

describe('AdminDeleteUser', () => {
  it('deletes an account', async () => {
    const { username, userId } = await desk.member(clientId)
    await desk.sdk.send(new AdminDeleteUserCommand({ UserPoolId, Username: username }))
    await expect(get(username)).rejects.toMatchObject(unknown)
    await desk.bed.bus.seen(userDeleted, (data) => data.userId === userId)
  })
})

describe('groups', () => {
  it('have members, who carry them in their tokens', async () => {
    const GroupName = `group-${Date.now()}`
    const { Group } = await desk.sdk.send(new CreateGroupCommand({ UserPoolId, GroupName, Description: 'Some.' }))
    expect(Group).toMatchObject({ GroupName, UserPoolId, Description: 'Some.' })
    await expect(desk.sdk.send(new CreateGroupCommand({ UserPoolId, GroupName }))).rejects.toMatchObject({
      name: 'GroupExistsException',
    })
    const people = [await desk.member(clientId), await desk.member(clientId), await desk.member(clientId)]
    for (const { username: Username } of people) {
      await desk.sdk.send(new AdminAddUserToGroupCommand({ UserPoolId, GroupName, Username }))
      await desk.sdk.send(new AdminAddUserToGroupCommand({ UserPoolId, GroupName, Username }))
    }
    const [first] = people
    const Username = first?.username ?? ''
    const changes = () => desk.bed.bus.all(userUpdated, (data) => data.userId === first?.userId)
    expect(claimsOf(await tokenOf(Username))['cognito:groups']).toEqual([GroupName])
    const listed = await desk.sdk.send(new AdminListGroupsForUserCommand({ UserPoolId, Username }))
    expect(listed.Groups).toMatchObject([{ GroupName }])

    const names: (string | undefined)[] = []
    let NextToken: string | undefined
    do {
      const page = await desk.sdk.send(new ListUsersInGroupCommand({ UserPoolId, GroupName, Limit: 2, NextToken }))
      names.push(...(page.Users ?? []).map((user) => user.Username))
      NextToken = page.NextToken
    } while (NextToken)
    expect(new Set(names)).toEqual(new Set(people.map(({ username }) => username)))
    expect(names).toHaveLength(3)

    await desk.sdk.send(new AdminRemoveUserFromGroupCommand({ UserPoolId, GroupName, Username }))
    expect(claimsOf(await tokenOf(Username))).not.toHaveProperty('cognito:groups')
    await desk.bed.bus.seen(userUpdated, () => changes().length === 2)
    expect(changes().map(({ data }) => data.changed)).toEqual([['groups'], ['groups']])
    await expect(
      desk.sdk.send(new AdminAddUserToGroupCommand({ UserPoolId, GroupName: 'nothing', Username })),
    ).rejects.toMatchObject({ name: 'ResourceNotFoundException', message: 'Group not found.' })
  })
})

describe('ListUsers', () => {
  it('pages through a pool, and filters it', async () => {
    const { poolId, clientId: own } = await desk.pool()
    const people = [
      await desk.member(own, { given_name: 'O"Neil\\' }),
      await desk.member(own, { given_name: 'Bo%' }),
      await desk.signUp(own),
    ]
    const names: (string | undefined)[] = []
    let PaginationToken: string | undefined
    do {
      const page = await desk.sdk.send(new ListUsersCommand({ UserPoolId: poolId, Limit: 1, PaginationToken }))
      names.push(...(page.Users ?? []).map((user) => user.Username))
      PaginationToken = page.PaginationToken
    } while (PaginationToken)
    expect(new Set(names)).toEqual(new Set(people.map(({ username }) => username)))
    expect(names).toHaveLength(3)

    const [first, second, third] = people
    const find = async (Filter: string) => {
      const { Users = [] } = await desk.sdk.send(new ListUsersCommand({ UserPoolId: poolId, Filter }))
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
    const { Users } = await desk.sdk.send(
      new ListUsersCommand({ UserPoolId: poolId, Limit: 1, AttributesToGet: ['email'] }),
    )
    expect(Users?.[0]?.Attributes).toEqual([{ Name: 'email', Value: expect.stringContaining('@') }])
  })
})
