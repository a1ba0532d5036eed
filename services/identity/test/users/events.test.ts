import { randomUUID } from 'node:crypto'
import {
  AdminDisableUserCommand,
  AdminEnableUserCommand,
  AdminUpdateUserAttributesCommand,
} from '@aws-sdk/client-cognito-identity-provider'
import { signInLocked, userConfirmed, userDeleted, userUpdated, type Account } from '@robokids/contracts/identity'
import { eventually } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { identity } from '../../src/app.ts'
import { users } from '../../src/schema.ts'
import { startIdentity, password, publicClient, settings, standardPool, type IdentityFixture } from '../fixture.ts'
import { signInClient, tokensOf } from '../sign-in-client.ts'

let fixture: IdentityFixture
let at: ReturnType<typeof signInClient>
let secondUrl: string
beforeAll(async () => {
  fixture = await startIdentity({ EVEN_ANSWER_MS: '5' })
  at = signInClient(fixture)
  const second = await fixture.bed.start(identity, { ...settings, DATABASE_URL: fixture.service.databaseUrl })
  secondUrl = second.url
})
afterAll(() => fixture.stop())

const update = (AccessToken: string | undefined, attributes: Record<string, string>) =>
  fixture.call('UpdateUserAttributes', {
    AccessToken,
    UserAttributes: Object.entries(attributes).map(([Name, Value]) => ({ Name, Value })),
  })
const named = (Username: string) => ({ UserPoolId: standardPool, Username })

/** The events about an account so far, oldest first. */
function eventsOf(userId: string) {
  const events = [userConfirmed, userUpdated, userDeleted].flatMap((definition) =>
    fixture.bed.bus.all<Account>(definition, (data) => data.userId === userId),
  )
  return events.toSorted((one, other) => (one.time < other.time ? -1 : 1))
}
const updated = (userId: string, change: string) =>
  fixture.bed.bus.seen(userUpdated, (data) => data.userId === userId && data.changed.includes(change))

async function member() {
  const person = await fixture.member()
  const { AccessToken = '' } = tokensOf(await at.byPassword(person.username))
  return { ...person, AccessToken }
}
/** A user with a pending change of email. */
async function changing() {
  const person = await member()
  const next = `next-${person.email}`
  expect((await update(person.AccessToken, { email: next })).status).toBe(200)
  return { ...person, next }
}

describe('an event about an account with a pending change of email', () => {
  it('contains the verified email, whatever the event', async () => {
    const { userId, username, email, next, AccessToken } = await changing()
    const pending = { email: next, emailVerified: false, verifiedEmail: email, enabled: true }
    expect((await updated(userId, 'email')).data).toMatchObject(pending)
    const change = { AccessToken, PreviousPassword: password, ProposedPassword: 'Another-2031?' }
    expect((await fixture.call('ChangePassword', change)).status).toBe(200)
    expect((await updated(userId, 'password')).data).toMatchObject(pending)

    for (let failures = 0; failures < 6; failures++) await at.byPassword(username)
    const locked = await fixture.bed.bus.seen(signInLocked, (data) => data.userId === userId)
    expect(locked.data).toMatchObject({ ...pending, reason: 'too_many_attempts' })

    expect((await fixture.call('DeleteUser', { AccessToken })).status).toBe(200)
    const deleted = await fixture.bed.bus.seen(userDeleted, (data) => data.userId === userId)
    expect(deleted.data).toMatchObject(pending)
  })

  it('contains the new one once it is verified, by which the account is then found', async () => {
    const { userId, email, next, AccessToken } = await changing()
    const user = async () => (await fixture.call('GetUser', { AccessToken })).body['VerifiedEmail'] as unknown
    expect(await user()).toBe(email)
    const Code = await fixture.codeFor(next)
    expect((await fixture.call('VerifyUserAttribute', { AccessToken, AttributeName: 'email', Code })).status).toBe(200)
    const event = await fixture.bed.bus.seen(userUpdated, (data) => data.userId === userId && data.emailVerified)
    expect(event.data).toMatchObject({ changed: ['email_verified'], email: next, verifiedEmail: next })
    expect(await user()).toBe(next)
  })

  it('contains none once the email is removed', async () => {
    const { userId, email, AccessToken } = await member()
    await fixture.call('DeleteUserAttributes', { AccessToken, UserAttributeNames: ['email'] })
    expect((await updated(userId, 'email')).data).toMatchObject({
      email: null,
      verifiedEmail: null,
      previousEmail: email,
    })
    expect((await fixture.call('GetUser', { AccessToken })).body['VerifiedEmail']).toBeUndefined()
  })

  it('reports that the account was disabled, and the pending change does not survive re-enabling', async () => {
    const { userId, username, email, next } = await changing()
    const Code = await fixture.codeFor(next)
    await fixture.sdk.send(new AdminDisableUserCommand(named(username)))
    expect((await updated(userId, 'enabled')).data).toMatchObject({
      enabled: false,
      email: next,
      verifiedEmail: email,
    })
    await fixture.sdk.send(new AdminDisableUserCommand(named(username)))
    await fixture.sdk.send(new AdminEnableUserCommand(named(username)))
    const states = () =>
      eventsOf(userId).filter(({ data }) => (data as { changed?: string[] }).changed?.includes('enabled'))
    await eventually(() => states().length === 2)
    expect(states().map(({ data }) => data.enabled)).toEqual([false, true])

    const { AccessToken } = tokensOf(await at.byPassword(username))
    const verify = await fixture.call('VerifyUserAttribute', { AccessToken, AttributeName: 'email', Code })
    expect(verify.body['__type']).toBe('ExpiredCodeException')
    expect((await fixture.call('GetUser', { AccessToken })).body['VerifiedEmail']).toBe(email)
  })
})

describe('an event about an account', () => {
  it('is published for an account that loses its email to another one', async () => {
    const { userId, username, email } = await fixture.member()
    const { username: taker, userId: takerId } = await fixture.signUp(publicClient, { email: email.toUpperCase() })
    const ConfirmationCode = await fixture.codeFor(email.toUpperCase())
    const confirmed = await fixture.call('ConfirmSignUp', {
      ClientId: publicClient,
      Username: taker,
      ConfirmationCode,
      ForceAliasCreation: true,
    })
    expect(confirmed.status).toBe(200)
    expect((await updated(userId, 'email_verified')).data).toMatchObject({
      username,
      emailVerified: false,
      verifiedEmail: null,
      previousEmail: email,
    })
    const event = await fixture.bed.bus.seen(userConfirmed, (data) => data.userId === takerId)
    expect(event.data.verifiedEmail).toBe(email.toUpperCase())
  })

  it('has increasing times, and the latest is the current state, when changes race in two processes', async () => {
    const { userId, username, email, AccessToken } = await member()
    const atSecond = (operation: string, input: unknown) =>
      fetch(secondUrl, {
        method: 'POST',
        headers: { 'x-amz-target': `AWSCognitoIdentityProviderService.${operation}` },
        body: JSON.stringify(input),
      })
    const { db } = fixture.service.context
    // The account's newest event came from another process, whose clock is ahead.
    const ahead = Temporal.Now.instant().add({ seconds: 90 })
    await db.update(users).set({ lastEventAt: ahead }).where(eq(users.id, userId))
    const count = 12
    await Promise.all(
      Array.from({ length: count }, async (_, nth) => {
        const attributes = nth % 3 === 0 ? { email: `${nth}-${email}` } : { given_name: `Maren ${randomUUID()}` }
        const UserAttributes = Object.entries(attributes).map(([Name, Value]) => ({ Name, Value }))
        if (nth % 3 === 1)
          await fixture.sdk.send(new AdminUpdateUserAttributesCommand({ ...named(username), UserAttributes }))
        else if (nth % 3 === 2) await atSecond('UpdateUserAttributes', { AccessToken, UserAttributes })
        else await update(AccessToken, attributes)
      }),
    )
    await eventually(() => eventsOf(userId).length === count + 1)
    const events = eventsOf(userId)
    expect(new Set(events.map(({ time }) => time)).size).toBe(events.length)
    expect(events[1]?.time && Temporal.Instant.compare(events[1].time, ahead)).toBeGreaterThan(0)
    const [user] = await db.select().from(users).where(eq(users.id, userId))
    expect(events.at(-1)?.data).toMatchObject({
      email: user?.attributes['email'],
      givenName: user?.attributes['given_name'],
      verifiedEmail: email,
    })
  })
})
