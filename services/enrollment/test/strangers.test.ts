import { randomUUID, randomUUIDv7 } from 'node:crypto'
import {
  registrationAskedAgain,
  registrationExpired,
  registrationRejected,
  type Registration,
} from '@robokids/contracts/enrollment'
import { userConfirmed } from '@robokids/contracts/identity'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registrations, waivers } from '../src/schema.ts'
import {
  adminHeaders,
  browserId,
  codeOf,
  startEnrollment,
  requestFor,
  type Answer,
  type EnrollmentFixture,
} from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())

type Session = Awaited<ReturnType<EnrollmentFixture['session']>>

const newFamily = () => ({ email: `${randomUUIDv7()}@example.com`, unlessRegistered: true })
type Family = ReturnType<typeof newFamily>

const stranger = () => ({ browserId: randomUUID() })

/** Creates an account with a verified email. */
async function account(email: string): Promise<string> {
  const userId = randomUUID()
  const verified = { emailVerified: true, verifiedEmail: email, enabled: true }
  const named = { poolId: 'pool', username: userId, givenName: null }
  await fixture.deliver(userConfirmed, userId, { userId, email, ...named, ...verified })
  return userId
}

/** A response without the values that differ per registration. */
function shapeOf({ status, body }: Answer): unknown {
  const shape = Object.entries(body as Registration).map(([name, value]) => [
    name,
    value === null ? null : typeof value,
  ])
  return [status, Object.fromEntries(shape), (body as Registration).status]
}

const seatAgain = (session: Session, family: Family, differences = {}) =>
  fixture.register(requestFor(session, { ...family, id: randomUUIDv7(), city: 'Elsewhere', ...differences }))

describe('a request for a seat that the child already has', () => {
  it.each([
    ['missing', () => Promise.resolve()],
    ['held', async (session: Session, family: Family): Promise<void> => void (await fixture.hold(session, family))],
    ['paid', async (session: Session, family: Family): Promise<void> => void (await fixture.enroll(session, family))],
  ] as const)('by a stranger gets the same response as any other if the child’s seat is %s', async (_, given) => {
    const session = await fixture.session()
    const [family, nobody] = [newFamily(), newFamily()]
    await given(session, family)
    const answer = await seatAgain(session, family, stranger())
    expect(answer.status).toBe(200)
    expect(shapeOf(answer)).toEqual(shapeOf(await seatAgain(session, nobody, stranger())))
    // Not even somebody who knows the whole content gets the existing one.
    const same = await fixture.register(requestFor(session, { ...family, id: randomUUIDv7(), ...stranger() }))
    expect(same.body).toMatchObject({ status: 'held', ownerId: null })
  })

  it.each([
    'in the browser that made it',
    'with the account that made it',
    'with the account that it belongs to',
  ] as const)('is rejected as already registered %s', async (how) => {
    const session = await fixture.session()
    const family = newFamily()
    const ownerId = await account(family.email)
    const asked = how === 'with the account that made it' ? { ownerId } : {}
    const { registrationId } = await fixture.enroll(session, { ...family, ...asked })
    const requester = how === 'in the browser that made it' ? {} : { ...stranger(), ownerId }
    expect(codeOf(await seatAgain(session, family, requester))).toBe('already_registered')
    const same = await fixture.register(requestFor(session, { ...family, id: randomUUIDv7(), ...requester }))
    expect(same.body).toMatchObject({ registrationId })
  })

  it('is not blocked by a stranger’s hold with the email of the requester’s account', async () => {
    const session = await fixture.session()
    const family = newFamily()
    const ownerId = await account(family.email)
    const theirs = await fixture.hold(session, { ...family, ...stranger() })
    const own = await seatAgain(session, family, { ownerId })
    expect(own.body).toMatchObject({ status: 'held', ownerId })
    expect((own.body as Registration).registrationId).not.toBe(theirs.registrationId)
    // Nor does it return the stranger's registration, whose reference the stranger knows.
    const same = await fixture.register(requestFor(session, { ...family, id: randomUUIDv7(), ownerId }))
    expect((same.body as Registration).registrationId).not.toBe(theirs.registrationId)
  })

  it('has its second payment rejected once, whichever of two browsers pays first', async () => {
    for (const first of [0, 1]) {
      const session = await fixture.session()
      const family = newFamily()
      const pages = [
        await fixture.hold(session, family),
        (await seatAgain(session, family, stranger())).body as Registration,
      ].map(({ registrationId }) => registrationId)
      const [kept = '', other = ''] = first === 0 ? pages : pages.toReversed()
      await fixture.pay(kept)
      await fixture.pay(other)
      expect((await fixture.read(kept)).status).toBe('confirmed')
      expect((await fixture.read(other)).status).toBe('rejected')
      expect(await fixture.publishedEvents(registrationRejected, other)).toMatchObject([{ duplicateOf: kept }])
      expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
    }
  })

  it('by a stranger is published for the family’s notification only once their registration is paid', async () => {
    const session = await fixture.session()
    const family = newFamily()
    const held = await fixture.hold(session, family)
    await seatAgain(session, family, stranger())
    await fixture.pay(held.registrationId)
    const { registrationId } = held
    expect(await fixture.publishedEvents(registrationAskedAgain, registrationId)).toEqual([])
    const again = (await seatAgain(session, family, stranger())).body as Registration
    expect(await fixture.publishedEvents(registrationAskedAgain, registrationId)).toMatchObject([
      { registrationId, email: family.email, askedFor: 'seat', isSigned: false },
    ])
    // Not published for the family's own requests, or for another child.
    await seatAgain(session, family)
    await seatAgain(session, family, { ...stranger(), childName: 'Noa' })
    await fixture.call('POST', `/registrations/${registrationId}/hold`, stranger())
    expect(await fixture.publishedEvents(registrationAskedAgain, registrationId)).toHaveLength(1)
    await fixture.call('POST', `/registrations/${again.registrationId}/hold`, stranger())
    expect(await fixture.publishedEvents(registrationAskedAgain, registrationId)).toHaveLength(2)
  })

  it('by a stranger discloses nothing when their expired hold is renewed', async () => {
    const session = await fixture.session()
    const [family, nobody] = [newFamily(), newFamily()]
    await fixture.enroll(session, family)
    const answers = await Promise.all(
      [family, nobody].map(async (one) => {
        const requester = stranger()
        const { registrationId } = (await seatAgain(session, one, requester)).body as Registration
        await fixture.call('POST', `/registrations/${registrationId}/expire`, {}, adminHeaders)
        return fixture.call('POST', `/registrations/${registrationId}/hold`, requester)
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const [one, other] = answers.map(shapeOf)
    expect(one).toEqual(other)
    // The requester who registered the child gets the specific error.
    const old = await fixture.hold(session, { ...newFamily(), email: family.email, childName: 'Noa' })
    await fixture.call('POST', `/registrations/${old.registrationId}/expire`, {}, adminHeaders)
    await fixture.enroll(session, { ...family, childName: 'Noa' })
    expect(codeOf(await fixture.call('POST', `/registrations/${old.registrationId}/hold`))).toBe('already_registered')
  })
})

describe('a registration that another one replaces', () => {
  const change = (session: Session, family: Family, replaces: string, requester: object) =>
    seatAgain(session, family, { replaces, ...requester })

  it.each([
    ['another browser', {}, () => stranger(), false],
    [
      'the browser that made it, with a corrected address',
      {},
      () => ({ email: `corrected.${randomUUID()}@example.com` }),
      true,
    ],
    ['the browser that made it', {}, () => ({}), true],
    ['another account, in another browser', {}, () => ({ ...stranger(), ownerId: randomUUID() }), false],
    ['the browser of an account, after signing out', { signedIn: true }, () => ({}), false],
    ['its account, in another browser', { signedIn: true }, (ownerId: string) => ({ ...stranger(), ownerId }), true],
  ] as const)('requested by %s', async (_, made, requester, isReplaced) => {
    const session = await fixture.session()
    const family = newFamily()
    const ownerId = await account(family.email)
    const old = await fixture.hold(session, { ...family, ...('signedIn' in made ? { ownerId } : {}) })
    const checked = await fixture.call('POST', '/registrations/judge', {
      ...requestFor(session, { ...family, id: randomUUIDv7(), city: 'Elsewhere', replaces: old.registrationId }),
      ...requester(ownerId),
    })
    const answer = await change(session, family, old.registrationId, requester(ownerId))
    expect((await fixture.read(old.registrationId)).status).toBe(isReplaced ? 'expired' : 'held')
    expect(await fixture.publishedEvents(registrationExpired, old.registrationId)).toHaveLength(isReplaced ? 1 : 0)
    if (checked.status === 200) {
      expect(checked.body).toEqual({ registrationId: null, replaces: isReplaced ? old.registrationId : null })
      expect(answer.status).toBe(200)
    } else expect([codeOf(checked), codeOf(answer)]).toEqual(['already_registered', 'already_registered'])
  })

  it('stays held if the other one is rejected for any reason', async () => {
    const session = await fixture.session({ capacity: 1 })
    const full = await fixture.session({ capacity: 1 })
    await fixture.hold(full)
    const family = newFamily()
    const old = await fixture.hold(session, family)
    const taken = await fixture.hold(await fixture.session())
    for (const differences of [{ startDate: full.date }, { startDate: '2031-06-06' }, { id: taken.registrationId }]) {
      const replacing = { ...differences, replaces: old.registrationId }
      for (const path of ['/registrations/judge', '/registrations']) {
        const body = requestFor(session, { ...family, id: randomUUIDv7(), city: 'Elsewhere', ...replacing })
        expect((await fixture.call('POST', path, body)).status).toBeGreaterThanOrEqual(400)
        expect((await fixture.read(old.registrationId)).status).toBe('held')
      }
    }
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
  })

  it('is not disclosed to a stranger who only knows its reference, even if it is paid', async () => {
    const session = await fixture.session()
    const family = newFamily()
    const { registrationId } = await fixture.enroll(session, family)
    expect(codeOf(await change(session, family, registrationId, {}))).toBe('already_paid')
    expect((await change(session, family, registrationId, stranger())).status).toBe(200)
    expect((await fixture.read(registrationId)).status).toBe('confirmed')
  })
})

describe('a waiver signed without the reference of its registration', () => {
  const byDetails = (one: Registration, differences = {}) =>
    fixture.sign(one, { registrationId: undefined, ...differences })

  it('is accepted from the browser that registered, or from its account', async () => {
    const inBrowser = await fixture.enroll(await fixture.session(), newFamily())
    expect((await byDetails(inBrowser)).status).toBe(200)
    const family = newFamily()
    const ofAccount = await fixture.enroll(await fixture.session(), family)
    expect((await byDetails(ofAccount, { ...stranger(), ownerId: await account(family.email) })).status).toBe(200)
  })

  it('is rejected from a stranger with the same response in every case, while the family is notified', async () => {
    const session = await fixture.session()
    const unsigned = await fixture.enroll(session, newFamily())
    const signed = await fixture.enroll(session, newFamily())
    await fixture.sign(signed)
    const held = await fixture.hold(session, newFamily())
    const unknown = { ...held, email: 'nobody@example.com' }
    const answers = await Promise.all(
      [unsigned, signed, held, unknown].map(async (one) => {
        const begun = performance.now()
        const { status, body } = await byDetails(one, stranger())
        // The response time does not disclose it either.
        expect(performance.now() - begun).toBeGreaterThan(95)
        return { status, body: { ...(body as object), requestId: '' } }
      }),
    )
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toMatchObject({ status: 404, body: { code: 'registration_not_found' } })
    const kept = await fixture.db.select().from(waivers).where(eq(waivers.registrationId, unsigned.registrationId))
    expect(kept).toEqual([])
    const eventsFor = ({ registrationId }: Registration) =>
      fixture.publishedEvents(registrationAskedAgain, registrationId)
    expect(await eventsFor(unsigned)).toMatchObject([{ askedFor: 'waiver', isSigned: false, email: unsigned.email }])
    expect(await eventsFor(signed)).toMatchObject([{ askedFor: 'waiver', isSigned: true }])
    expect(await eventsFor(held)).toEqual([])
    // With the reference from that mail, it can be signed in any browser.
    expect((await fixture.sign(unsigned, stranger())).status).toBe(200)
  })
})

describe('a browser', () => {
  it('is stored with its registrations, and is in no response', async () => {
    const { registrationId } = await fixture.hold(await fixture.session(), newFamily())
    const [row] = await fixture.db.select().from(registrations).where(eq(registrations.id, registrationId))
    expect(row?.browserId).toBe(browserId)
    expect(JSON.stringify(await fixture.read(registrationId))).not.toContain(browserId)
  })
})
