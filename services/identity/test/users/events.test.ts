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
import { openFrontDesk, password, publicClient, settings, standardPool, type FrontDesk } from '../front-desk.ts'
import { signInsAt, tokensOf } from '../sign-ins.ts'

let desk: FrontDesk
let at: ReturnType<typeof signInsAt>
let secondUrl: string
beforeAll(async () => {
  desk = await openFrontDesk({ EVEN_ANSWER_MS: '5' })
  at = signInsAt(desk)
  const second = await desk.bed.start(identity, { ...settings, DATABASE_URL: desk.service.databaseUrl })
  secondUrl = second.url
})
afterAll(() => desk.stop())

const update = (AccessToken: string | undefined, attributes: Record<string, string>) =>
  desk.call('UpdateUserAttributes', {
    AccessToken,
    UserAttributes: Object.entries(attributes).map(([Name, Value]) => ({ Name, Value })),
  })
const named = (Username: string) => ({ UserPoolId: standardPool, Username })

/** The events about an account so far, the oldest first. */
function eventsOf(userId: string) {
  const events = [userConfirmed, userUpdated, userDeleted].flatMap((definition) =>
    desk.bed.bus.all<Account>(definition, (data) => data.userId === userId),
  )
  return events.toSorted((one, other) => (one.time < other.time ? -1 : 1))
}
const updated = (userId: string, change: string) =>
  desk.bed.bus.seen(userUpdated, (data) => data.userId === userId && data.changed.includes(change))

async function member() {
  const person = await desk.member()
  const { AccessToken = '' } = tokensOf(await at.byPassword(person.username))
  return { ...person, AccessToken }
}
/** Somebody who has begun to change the address, and has not given the code. */
async function changing() {
  const person = await member()
  const next = `next-${person.email}`
  expect((await update(person.AccessToken, { email: next })).status).toBe(200)
  return { ...person, next }
}

describe('an event about an account whose new address waits for its code', () => {
  it('names the verified address, whatever the event is', async () => {
    const { userId, username, email, next, AccessToken } = await changing()
    const pending = { email: next, emailVerified: false, verifiedEmail: email, enabled: true }
    expect((await updated(userId, 'email')).data).toMatchObject(pending)
    const change = { AccessToken, PreviousPassword: password, ProposedPassword: 'Another-2031?' }
    expect((await desk.call('ChangePassword', change)).status).toBe(200)
    expect((await updated(userId, 'password')).data).toMatchObject(pending)

    for (let failures = 0; failures < 6; failures++) await at.byPassword(username)
    const locked = await desk.bed.bus.seen(signInLocked, (data) => data.userId === userId)
    expect(locked.data).toMatchObject({ ...pending, reason: 'too_many_attempts' })

    expect((await desk.call('DeleteUser', { AccessToken })).status).toBe(200)
    const deleted = await desk.bed.bus.seen(userDeleted, (data) => data.userId === userId)
    expect(deleted.data).toMatchObject(pending)
  })

  it('names the new one once it is verified, and it is what the account is found by from then on', async () => {
    const { userId, email, next, AccessToken } = await changing()
    const user = async () => (await desk.call('GetUser', { AccessToken })).body['VerifiedEmail'] as unknown
    expect(await user()).toBe(email)
    const Code = await desk.codeFor(next)
    expect((await desk.call('VerifyUserAttribute', { AccessToken, AttributeName: 'email', Code })).status).toBe(200)
    const event = await desk.bed.bus.seen(userUpdated, (data) => data.userId === userId && data.emailVerified)
    expect(event.data).toMatchObject({ changed: ['email_verified'], email: next, verifiedEmail: next })
    expect(await user()).toBe(next)
  })

  it('names none once the address is taken away', async () => {
    const { userId, email, AccessToken } = await member()
    await desk.call('DeleteUserAttributes', { AccessToken, UserAttributeNames: ['email'] })
    expect((await updated(userId, 'email')).data).toMatchObject({
      email: null,
      verifiedEmail: null,
      previousEmail: email,
    })
    expect((await desk.call('GetUser', { AccessToken })).body['VerifiedEmail']).toBeUndefined()
  })

  it('says that the account was disabled, and nobody goes on with the change once it is enabled again', async () => {
    const { userId, username, email, next } = await changing()
    const Code = await desk.codeFor(next)
    await desk.sdk.send(new AdminDisableUserCommand(named(username)))
    expect((await updated(userId, 'enabled')).data).toMatchObject({
      enabled: false,
      email: next,
      verifiedEmail: email,
    })
    await desk.sdk.send(new AdminDisableUserCommand(named(username)))
    await desk.sdk.send(new AdminEnableUserCommand(named(username)))
    const states = () =>
      eventsOf(userId).filter(({ data }) => (data as { changed?: string[] }).changed?.includes('enabled'))
    await eventually(() => states().length === 2)
    expect(states().map(({ data }) => data.enabled)).toEqual([false, true])

    const { AccessToken } = tokensOf(await at.byPassword(username))
    const verify = await desk.call('VerifyUserAttribute', { AccessToken, AttributeName: 'email', Code })
    expect(verify.body['__type']).toBe('ExpiredCodeException')
    expect((await desk.call('GetUser', { AccessToken })).body['VerifiedEmail']).toBe(email)
  })
})

describe('an event about an account', () => {
  it('is published of who loses an address to another account', async () => {
    const { userId, username, email } = await desk.member()
    const { username: taker, userId: takerId } = await desk.signUp(publicClient, { email: email.toUpperCase() })
    const ConfirmationCode = await desk.codeFor(email.toUpperCase())
    const confirmed = await desk.call('ConfirmSignUp', {
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
    const event = await desk.bed.bus.seen(userConfirmed, (data) => data.userId === takerId)
    expect(event.data.verifiedEmail).toBe(email.toUpperCase())
  })

  it('is of a later time each, and the latest is what is so, where many changes race in two processes', async () => {
    const { userId, username, email, AccessToken } = await member()
    const atSecond = (operation: string, input: unknown) =>
      fetch(secondUrl, {
        method: 'POST',
        headers: { 'x-amz-target': `AWSCognitoIdentityProviderService.${operation}` },
        body: JSON.stringify(input),
      })
    const { db } = desk.service.context
    // The account's newest event is of another process, whose clock is ahead.
    const ahead = Temporal.Now.instant().add({ seconds: 90 })
    await db.update(users).set({ lastEventAt: ahead }).where(eq(users.id, userId))
    const count = 12
    await Promise.all(
      Array.from({ length: count }, async (_, nth) => {
        const attributes = nth % 3 === 0 ? { email: `${nth}-${email}` } : { given_name: `Maren ${randomUUID()}` }
        const UserAttributes = Object.entries(attributes).map(([Name, Value]) => ({ Name, Value }))
        if (nth % 3 === 1)
          await desk.sdk.send(new AdminUpdateUserAttributesCommand({ ...named(username), UserAttributes }))
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
