import { randomUUIDv7 } from 'node:crypto'
import { familyClassesSchema } from '@robokids/contracts/dashboard'
import { registrationSchema, waiverSchema, type Registration } from '@robokids/contracts/enrollment'
import { userConfirmed, userUpdated } from '@robokids/contracts/identity'
import { eventually } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminHeaders, codeOf, startEnrollment, requestFor, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())

const newAddress = () => `maren.${randomUUIDv7()}@example.com`

const accountFacts = (userId: string, email: string) => ({
  poolId: 'local',
  userId,
  username: `user_${userId}`,
  email,
  emailVerified: true,
  verifiedEmail: email,
  enabled: true,
  givenName: 'Maren',
})

async function account(email = newAddress()): Promise<string> {
  const userId = randomUUIDv7()
  await fixture.deliver(userConfirmed, userId, accountFacts(userId, email))
  return userId
}

async function register(email: string, ownerId: string | null = null): Promise<Registration> {
  const body = { ...requestFor(await fixture.session(), { email }), ownerId }
  return registrationSchema.parse((await fixture.call('POST', '/registrations', body)).body)
}

const classesOf = async (userId: string) =>
  familyClassesSchema.parse((await fixture.call('GET', `/accounts/${userId}/classes`)).body)
const idsOf = async (userId: string) =>
  (await classesOf(userId)).registrations.map(({ registrationId }) => registrationId)

describe('the classes of an account', () => {
  it('are those made before it by any spelling of its address, and those made while it was signed in (C007)', async () => {
    const email = newAddress()
    const [upper, spaced, tagged] = [email.toUpperCase(), ` ${email}`, email.replace('@', '+robots@')]
    const before = [await register(upper), await register(spaced)]
    await register(tagged)
    const userId = await account(email)
    const ada = newAddress()
    const elsewhere = await register(ada, userId)
    const known = [elsewhere, ...before.toReversed()].map(({ registrationId }) => registrationId)
    expect(await idsOf(userId)).toEqual(known)
    // The address of that one becomes an account of its own.
    expect(await idsOf(await account(ada))).toEqual([])
    expect(await idsOf(userId)).toEqual(known)
  })

  it('stay with the account when its address changes hands (C002)', async () => {
    const [first, second] = [newAddress(), newAddress()]
    const maren = await account(first)
    const owned = [await register(first, maren), await register(first)].map(({ registrationId }) => registrationId)
    const changed = { ...accountFacts(maren, second), changed: ['email'], previousEmail: first }
    await fixture.deliver(userUpdated, maren, changed)
    const ada = await account(first)
    expect(await idsOf(maren)).toEqual(owned.toReversed())
    expect(await idsOf(ada)).toEqual([])
  })

  it('say when each begins, and how its kit travels', async () => {
    const email = newAddress()
    const userId = await account(email)
    const session = await fixture.session()
    const registration = await fixture.enroll(session, { email })
    await fixture.sign(registration)
    const path = `/kits/${registration.registrationId}/ship`
    await fixture.call('POST', path, { carrier: 'UPS', trackingNumber: '1Z999AA1' }, adminHeaders)
    const { registrations } = await classesOf(userId)
    expect(registrations).toMatchObject([
      {
        startsAt: session.startsAt.toString({ fractionalSecondDigits: 3 }),
        durationMinutes: 75,
        kit: { status: 'shipped', carrier: 'UPS', trackingNumber: '1Z999AA1' },
      },
    ])
    expect(Temporal.Instant.from(registrations[0]?.kit?.shippedAt ?? '').epochMilliseconds).toBeGreaterThan(0)
  })

  it('are none for an account that nothing is known of', async () => {
    expect(await classesOf(randomUUIDv7())).toEqual({
      registrations: [],
      memberClasses: [],
      memberCredits: [],
      waitlist: [],
    })
  })
})

describe('held seats', () => {
  it('are released by the account that owns them, once and unpaid only', async () => {
    const email = newAddress()
    const [owner, other] = [await account(email), await account()]
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session, { email })
    const release = (userId: string, id = registrationId) =>
      fixture.call('POST', `/accounts/${userId}/registrations/${id}/release`)
    expect((await release(other)).status).toBe(404)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
    for (const answer of [await release(owner), await release(owner)]) {
      expect([answer.status, answer.body]).toMatchObject([200, { status: 'expired' }])
    }
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
    const paid = await fixture.enroll(session, { email })
    expect(codeOf(await release(owner, paid.registrationId))).toBe('registration_closed')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })
})

describe('a signed waiver', () => {
  it('is returned to the account that owns it, and to no other', async () => {
    const email = newAddress()
    const [owner, other] = [await account(email), await account()]
    const { waiverId } = waiverSchema.parse(
      (await fixture.sign(await fixture.enroll(await fixture.session(), { email }))).body,
    )
    const statusFor = async (userId: string) =>
      (await fetch(`${fixture.service.url}/accounts/${userId}/waivers/${waiverId}.pdf`)).status
    await eventually(async () => (await statusFor(owner)) === 200)
    expect(await statusFor(other)).toBe(404)
  })
})
