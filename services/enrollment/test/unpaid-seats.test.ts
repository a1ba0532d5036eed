import { randomUUID, randomUUIDv7 } from 'node:crypto'
import type { HoldSeats, Registration } from '@robokids/contracts/enrollment'
import { userConfirmed } from '@robokids/contracts/identity'
import { eventually } from '@robokids/test/bed'
import { and, eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { memberHolds, registrations } from '../src/schema.ts'
import { spawnEnrollment, type EnrollmentProcess } from './processes.ts'
import { codeOf, startEnrollment, requestFor, type Answer, type EnrollmentFixture } from './fixture.ts'

const perNetwork = 16
const perFamily = 12

let fixture: EnrollmentFixture
/** A second process of the service, if running. It uses the real clock. */
let second: EnrollmentProcess | undefined
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterEach(() => fixture.resetClock())
afterAll(() => fixture.bed.stop())

function withSecondProcess(): void {
  beforeAll(async () => {
    second = await spawnEnrollment({ DATABASE_URL: fixture.service.databaseUrl, NATS_URL: fixture.bed.nats.url })
  })
  afterAll(async () => {
    await second?.stop()
    second = undefined
  })
}

let networks = 0
const newNetwork = () => `2001:db8:${(networks += 1).toString(16)}::/48`
const newEmail = () => `${randomUUIDv7()}@example.com`
/** A family's email and browser. */
const newFamily = () => ({ email: newEmail(), browserId: randomUUID() })
const urls = () => [fixture.service.url, second?.url ?? fixture.service.url]
const children = (count: number) => ({
  childName: 'Ivo 0',
  siblings: Array.from({ length: count - 1 }, (_, n) => ({ childName: `Ivo ${n + 1}`, childAge: 9 })),
})

function register(
  session: Awaited<ReturnType<EnrollmentFixture['session']>>,
  differences: Partial<HoldSeats>,
  nth = 0,
): Promise<Answer> {
  const { network, ...others } = differences
  const body = { ...newFamily(), unlessRegistered: true, ...others }
  return fixture.register({ ...requestFor(session, body), ...(network ? { network } : {}) }, urls()[nth % 2])
}

const requestMemberSeat = (
  session: { date: string },
  body: { email: string; browserId?: string; network?: string; attemptId?: string },
  nth = 0,
) => fixture.call('POST', '/member-seats', { classDate: session.date, ...body }, {}, urls()[nth % 2])

async function seatsOfNetwork(network: string): Promise<number> {
  const [found] = await fixture.db
    .select({ seats: sql<number>`coalesce(sum(${registrations.seats}), 0)::int` })
    .from(registrations)
    .where(and(eq(registrations.network, network), eq(registrations.status, 'held')))
  return (found?.seats ?? 0) + (await fixture.db.$count(memberHolds, eq(memberHolds.network, network)))
}

async function seatsOfBrowser(browserId: string): Promise<number> {
  const [found] = await fixture.db
    .select({ seats: sql<number>`coalesce(sum(${registrations.seats}), 0)::int` })
    .from(registrations)
    .where(and(eq(registrations.browserId, browserId), eq(registrations.status, 'held')))
  return found?.seats ?? 0
}

const season = async () => ({
  classes: await Promise.all(Array.from({ length: 16 }, () => fixture.session())),
  members: await Promise.all(Array.from({ length: 4 }, () => fixture.session({ classType: 'membership' }))),
})
const heldOf = async (sessions: { id: string }[]) => {
  const counts = await Promise.all(sessions.map(({ id }) => fixture.counts(id)))
  return counts.reduce((sum, { held }) => sum + held, 0)
}

describe('a season of 160 seats and 40 for members, requested by somebody who does not pay', () => {
  withSecondProcess()
  it('stays mostly free if all requests come from one network, concurrently, through two processes', async () => {
    const { classes, members } = await season()
    const network = newNetwork()
    const answers = await Promise.all([
      ...classes.map((session, nth) => register(session, { network, ...children(10) }, nth)),
      ...Array.from({ length: 40 }, (_, nth) =>
        requestMemberSeat(members[nth % 4] ?? { date: '' }, { ...newFamily(), network }, nth),
      ),
    ])
    expect(await heldOf([...classes, ...members])).toBeLessThanOrEqual(perNetwork)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThanOrEqual(40)
    for (const answer of refused) {
      expect([answer.status, codeOf(answer)]).toEqual([429, 'too_many_unpaid'])
      expect((answer.body as { message: string }).message).toMatch(
        /try again in (5|10) minutes, or use another network/,
      )
    }
  })

  it('stays mostly free if all requests come from one browser, from different networks', async () => {
    const { classes } = await season()
    const { browserId } = newFamily()
    const answers = await Promise.all(
      classes.map((session, nth) => register(session, { browserId, network: newNetwork(), ...children(10) }, nth)),
    )
    expect(await heldOf(classes)).toBeLessThanOrEqual(perFamily)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = answers.find(({ status }) => status !== 200)
    expect(refused).toMatchObject({
      status: 429,
      body: {
        message:
          '10 seats are held for your family but not paid yet. Please pay for the seats you want to keep, or try again in 10 minutes, once unpaid seats have been released.',
      },
    })
  })
})

describe('a family', () => {
  it('can hold seats for four children in two classes, and in a third once one is paid', async () => {
    const [one, two, three] = [await fixture.session(), await fixture.session(), await fixture.session()]
    const family = { ...newFamily(), network: newNetwork(), ...children(4) }
    const first = await register(one, family)
    expect(first.status).toBe(200)
    expect((await register(two, family)).status).toBe(200)
    await fixture.pay((first.body as Registration).registrationId)
    await fixture.waitForStatus((first.body as Registration).registrationId, 'confirmed')
    expect((await register(three, family)).status).toBe(200)
  })

  it('at its limit can repeat, correct and move a registration, and continue to pay', async () => {
    const sessions = await Promise.all(Array.from({ length: 4 }, () => fixture.session()))
    const [one, two, three, four] = sessions as [
      (typeof sessions)[0],
      (typeof sessions)[0],
      (typeof sessions)[0],
      (typeof sessions)[0],
    ]
    const family = { ...newFamily(), network: newNetwork() }
    const { network, browserId } = family
    const request = { ...requestFor(one, { ...family, unlessRegistered: true, ...children(8) }), network }
    const first = await fixture.register(request)
    expect(first.status).toBe(200)
    expect((await register(two, { ...family, ...children(4) })).status).toBe(200)
    expect(codeOf(await register(three, family))).toBe('too_many_unpaid')

    expect((await fixture.register(request)).body).toEqual(first.body)
    const { registrationId } = first.body as Registration
    const path = `/registrations/${registrationId}`
    expect((await fixture.call('POST', `${path}/hold`, { network, browserId })).status).toBe(200)
    expect((await fixture.call('POST', `${path}/open`)).status).toBe(200)
    const corrected = await register(one, { ...family, ...children(8), city: 'Fremont', replaces: registrationId })
    expect(corrected.status).toBe(200)
    const other = { ...family, ...children(8), replaces: (corrected.body as Registration).registrationId }
    const checked = { ...requestFor(four, other), network }
    expect((await fixture.call('POST', '/registrations/judge', checked)).status).toBe(200)
    expect((await register(four, other)).status).toBe(200)
  })

  it('beyond its limit is rejected before the payment page of the replaced registration is closed', async () => {
    const [one, two] = [await fixture.session(), await fixture.session()]
    const family = { ...newFamily(), network: newNetwork() }
    const held = await register(one, { ...family, ...children(4) })
    await register(two, { ...family, ...children(6) })
    const more = { ...family, ...children(8), replaces: (held.body as Registration).registrationId }
    const checked = await fixture.call('POST', '/registrations/judge', {
      ...requestFor(one, more),
      network: family.network,
    })
    expect(codeOf(checked)).toBe('too_many_unpaid')
  })

  it('can renew an expired hold only within its limit', async () => {
    const [one, two] = [await fixture.session(), await fixture.session()]
    const family = { ...newFamily(), network: newNetwork() }
    const { network, browserId } = family
    const first = (await register(one, { ...family, ...children(10) })).body as Registration
    fixture.service.context.clock.advance({ minutes: 11 })
    fixture.service.wakeAll()
    await fixture.waitForStatus(first.registrationId, 'expired')
    fixture.resetClock()
    const other = (await register(two, { ...family, ...children(10) })).body as Registration
    const again = () => fixture.call('POST', `/registrations/${first.registrationId}/hold`, { network, browserId })
    expect(codeOf(await again())).toBe('too_many_unpaid')
    await fixture.pay(other.registrationId)
    await fixture.waitForStatus(other.registrationId, 'confirmed')
    expect((await again()).body).toMatchObject({ status: 'held', pageOpened: false })
  })

  it('is not blocked by what strangers hold with its email, signed in or not', async () => {
    const [one, two] = [await fixture.session({ capacity: 40 }), await fixture.session({ classType: 'membership' })]
    const { email, browserId } = newFamily()
    const ownerId = randomUUID()
    const named = { poolId: 'pool', username: ownerId, givenName: null }
    const account = { userId: ownerId, email, emailVerified: true, verifiedEmail: email, enabled: true }
    await fixture.deliver(userConfirmed, ownerId, { ...account, ...named })
    for (let nth = 0; nth < 2; nth += 1) {
      const theirs = await register(one, { email, network: newNetwork(), ...children(6) })
      expect(theirs.body).toMatchObject({ status: 'held', ownerId })
    }
    const network = newNetwork()
    expect((await register(one, { email, browserId, network })).status).toBe(200)
    expect((await register(one, { email, ownerId, network, childName: 'Noa' })).status).toBe(200)
    expect((await requestMemberSeat(two, { email, browserId, network })).status).toBe(200)
  })

  it('is not limited through a BFF of the previous version, which sends no network', async () => {
    const family = newFamily()
    for (const session of [await fixture.session(), await fixture.session()])
      expect((await register(session, { ...family, ...children(10) })).body).toMatchObject({ pageOpened: true })
  })
})

describe('a hold', () => {
  it('ends after ten minutes if no payment page was opened, and releases all seats', async () => {
    const { classes, members } = await season()
    const network = newNetwork()
    await Promise.all(classes.slice(0, 3).map((session) => register(session, { network, ...children(4) })))
    const [date] = members
    const member = { ...newFamily(), network }
    await requestMemberSeat(date ?? { date: '' }, member)
    await requestMemberSeat(date ?? { date: '' }, { ...member, attemptId: randomUUIDv7() })
    expect(await heldOf([...classes, ...members])).toBe(13)
    fixture.service.context.clock.advance({ minutes: 10, seconds: 1 })
    await eventually(async () => (await heldOf([...classes, ...members])) === 0, 60_000)
  })

  const minutesLeft = ({ heldUntil }: Registration) =>
    Math.round(
      fixture.service.context.clock
        .now()
        .until(heldUntil ?? '')
        .total('minutes'),
    )
  const open = (id: string, url?: string) => fixture.call('POST', `/registrations/${id}/open`, undefined, {}, url)

  it('lasts ten minutes until its payment page is opened, and then for the page’s lifetime', async () => {
    const held = (await register(await fixture.session(), { network: newNetwork() })).body as Registration
    expect(held.pageOpened).toBe(false)
    expect(minutesLeft(held)).toBe(10)
    fixture.service.context.clock.advance({ minutes: 9 })
    const opened = (await open(held.registrationId)).body as Registration
    expect(opened).toMatchObject({ status: 'held', pageOpened: true })
    expect(minutesLeft(opened)).toBe(36)
    // Opening it again, or renewing from another tab, never shortens it.
    fixture.service.context.clock.advance({ minutes: 2 })
    expect(minutesLeft((await open(held.registrationId)).body as Registration)).toBe(36)
    const network = newNetwork()
    const again = await fixture.call('POST', `/registrations/${held.registrationId}/hold`, { network })
    expect(again.body).toMatchObject({ pageOpened: true })
    expect(minutesLeft(again.body as Registration)).toBe(36)
  })

  it('lasts a little longer than its payment page, however often that is opened', async () => {
    const held = (await register(await fixture.session(), { network: newNetwork() })).body as Registration
    const { clock } = fixture.service.context
    const page = {
      attemptId: randomUUIDv7(),
      createdAt: Temporal.Now.instant().toString(),
      expiresAt: clock.now().add({ minutes: 31 }).round({ smallestUnit: 'second', roundingMode: 'floor' }).toString(),
    }
    const opened = async () => {
      const answer = await fixture.call('POST', `/registrations/${held.registrationId}/open`, page)
      expect(answer.body).toMatchObject({ status: 'held', pageOpened: true })
      return (answer.body as Registration).heldUntil
    }
    clock.advance({ minutes: 9 })
    const until = await opened()
    expect(
      Temporal.Instant.from(page.expiresAt)
        .until(until ?? '')
        .total('minutes'),
    ).toBe(5)
    clock.advance({ minutes: 20 })
    expect(await opened()).toBe(until)
  })

  it('is renewed only if it would end before the page can be opened, and ends with the page that is opened then', async () => {
    const session = await fixture.session()
    const network = newNetwork()
    const { clock } = fixture.service.context
    const request = requestFor(session, { ...newFamily(), network })
    const held = await fixture.call('POST', '/registrations', request)
    const { registrationId } = held.body as Registration
    expect(held.body).toMatchObject({ isNew: true })
    expect((await fixture.call('POST', '/registrations', request)).body).toMatchObject({ registrationId, isNew: false })
    const attempt = { attemptId: randomUUIDv7(), createdAt: Temporal.Now.instant().toString() }
    const renew = async () =>
      (await fixture.call('POST', `/registrations/${registrationId}/hold`, { network })).body as Registration
    clock.advance({ minutes: 4 })
    expect(minutesLeft(await renew())).toBe(6)
    clock.advance({ minutes: 2 })
    expect(minutesLeft(await renew())).toBe(10)
    const page = { ...attempt, expiresAt: clock.now().add({ minutes: 25 }).toString() }
    const opened = await fixture.call('POST', `/registrations/${registrationId}/open`, page)
    expect(minutesLeft(opened.body as Registration)).toBe(30)
    // The page was created for the previous hold, but is the current one now.
    await fixture.checkoutExpired(registrationId, attempt.attemptId)
    await fixture.waitForStatus(registrationId, 'expired')
  })

  it('that expired cannot be opened, and its seat can be taken by another family', async () => {
    const session = await fixture.session({ capacity: 1 })
    const held = (await register(session, { network: newNetwork() })).body as Registration
    fixture.service.context.clock.advance({ minutes: 11 })
    fixture.service.wakeAll()
    await fixture.waitForStatus(held.registrationId, 'expired')
    const other = (await register(session, { network: newNetwork() })).body as Registration
    const refused = await open(held.registrationId)
    expect([refused.status, codeOf(refused)]).toEqual([409, 'registration_closed'])
    expect(await fixture.read(other.registrationId)).toMatchObject({ status: 'held' })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1, sold: 0 })
  })

  it('is either kept or released if its page is opened at the last second', async () => {
    const session = await fixture.session({ capacity: 8 })
    const held = await Promise.all(
      Array.from({ length: 8 }, async () => (await register(session, { network: newNetwork() })).body as Registration),
    )
    fixture.service.context.clock.advance({ minutes: 10, seconds: 1 })
    const answers = await Promise.all(held.map(({ registrationId }) => open(registrationId, fixture.service.url)))
    // Unopened holds have expired by now, and opened ones stay.
    fixture.service.wakeAll()
    await eventually(async () => {
      const states = await Promise.all(held.map(({ registrationId }) => fixture.read(registrationId)))
      return states.every(({ status }, nth) => status === (answers[nth]?.status === 200 ? 'held' : 'expired'))
    }, 60_000)
    const kept = answers.filter(({ status }) => status === 200).length
    expect(await fixture.counts(session.id)).toMatchObject({ held: kept, sold: 0 })
  })

  it('whose page is opened outlasts an older page, in any order of events', { timeout: 120_000 }, async () => {
    const [older, newer] = [Temporal.Now.instant(), Temporal.Now.instant().add({ milliseconds: 5 })]
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(['first', 'end', 'second', 'open'] as const, { minLength: 4 }),
        async (order) => {
          const session = await fixture.session()
          const { registrationId } = (await register(session, { network: newNetwork() })).body as Registration
          const [first, second] = [randomUUIDv7(), randomUUIDv7()]
          const page = { attemptId: second, createdAt: newer.toString() }
          let opened = 0
          const happen = {
            first: () => fixture.checkoutCreated(registrationId, older, first),
            end: () => fixture.checkoutExpired(registrationId, first),
            second: () => fixture.checkoutCreated(registrationId, newer, second),
            async open() {
              opened = (await fixture.call('POST', `/registrations/${registrationId}/open`, page)).status
            },
          }
          for (const what of order) await happen[what]()
          // If the end arrived first, no page could be opened.
          expect([200, 409]).toContain(opened)
          const status = opened === 200 ? 'held' : 'expired'
          expect(await fixture.read(registrationId)).toMatchObject({ status })
          expect(await fixture.counts(session.id)).toMatchObject({ held: opened === 200 ? 1 : 0 })
          await fixture.checkoutExpired(registrationId, second)
          expect(await fixture.read(registrationId)).toMatchObject({ status: 'expired' })
        },
      ),
      { numRuns: 24 },
    )
  })

  it('of a member is as short, and is extended once the payment page is opened', async () => {
    const session = await fixture.session({ classType: 'membership' })
    const [email, network, attemptId] = [newEmail(), newNetwork(), randomUUIDv7()]
    await requestMemberSeat(session, { email, network })
    const bound = await requestMemberSeat(session, { email, network, attemptId })
    const left = (answer: Answer) => minutesLeft(answer.body as Registration)
    expect(left(bound)).toBe(10)
    const opened = await fixture.call('POST', `/member-seats/${attemptId}/open`)
    expect([opened.status, left(opened)]).toEqual([200, 36])
    expect(left(await requestMemberSeat(session, { email, network, attemptId }))).toBe(36)
    const unknown = await fixture.call('POST', `/member-seats/${randomUUIDv7()}/open`)
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'membership_not_found'])
  })
})

describe('a member’s seat', () => {
  it('is held a little longer than its payment page, however often that is opened', async () => {
    const session = await fixture.session({ classType: 'membership' })
    const [email, network, attemptId] = [newEmail(), newNetwork(), randomUUIDv7()]
    await requestMemberSeat(session, { email, network, attemptId })
    const { clock } = fixture.service.context
    const expiresAt = clock.now().add({ minutes: 31 }).round({ smallestUnit: 'second', roundingMode: 'floor' })
    const opened = async () => {
      const body = { expiresAt: expiresAt.toString() }
      const answer = await fixture.call('POST', `/member-seats/${attemptId}/open`, body)
      return expiresAt.until((answer.body as { heldUntil: string }).heldUntil).total('minutes')
    }
    expect(await opened()).toBe(5)
    clock.advance({ minutes: 9 })
    expect(await opened()).toBe(5)
  })
})

describe('concurrent requests', () => {
  withSecondProcess()

  it('never exceed the limits of unpaid seats per family and network', { timeout: 120_000 }, async () => {
    const request = fc.record({
      family: fc.nat(2),
      network: fc.nat(1),
      kind: fc.constantFrom('register', 'register', 'register', 'member', 'resume', 'pay', 'end'),
      seats: fc.integer({ min: 1, max: 10 }),
      session: fc.nat(2),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 6, maxLength: 24 }), async (requests) => {
        const sessions = await Promise.all(Array.from({ length: 3 }, () => fixture.session({ capacity: 60 })))
        const members = await fixture.session({ classType: 'membership', capacity: 60 })
        const families = [newFamily(), newFamily(), newFamily()]
        const blocks = [newNetwork(), newNetwork()]
        const made: { registrationId: string; browserId: string }[] = []
        await Promise.all(
          requests.map(async ({ family, network: block, kind, seats, session: which }, nth) => {
            const { email, browserId } = families[family] ?? newFamily()
            const network = blocks[block] ?? ''
            const session = sessions[which]
            const { registrationId: known, browserId: maker } = made[nth % Math.max(1, made.length)] ?? {}
            const url = urls()[nth % 2]
            if (kind === 'member') return requestMemberSeat(members, { ...newFamily(), network }, nth)
            if (kind === 'resume' && known)
              return fixture.call('POST', `/registrations/${known}/hold`, { network, browserId: maker }, {}, url)
            if (kind === 'end' && known)
              return fixture.call(
                'POST',
                `/registrations/${known}/expire`,
                undefined,
                { 'x-admin-secret': 'local-admin' },
                url,
              )
            if (kind === 'pay' && known) return fixture.pay(known)
            if (!session) return undefined
            const unlessRegistered = nth % 2 === 0
            const requested = { email, browserId, network, ...children(seats), unlessRegistered }
            const answer = await register(session, requested, nth)
            if (answer.status === 200) made.push({ ...(answer.body as Registration), browserId })
            expect([200, 409, 429]).toContain(answer.status)
            return undefined
          }),
        )
        for (const network of blocks) expect(await seatsOfNetwork(network)).toBeLessThanOrEqual(perNetwork)
        for (const { browserId } of families) expect(await seatsOfBrowser(browserId)).toBeLessThanOrEqual(perFamily)
        for (const { id } of sessions) {
          const { held } = await fixture.counts(id)
          const [row] = await fixture.db
            .select({ seats: sql<number>`coalesce(sum(${registrations.seats}), 0)::int` })
            .from(registrations)
            .where(and(eq(registrations.classSessionId, id), eq(registrations.status, 'held')))
          expect(held).toBe(row?.seats)
        }
      }),
      { numRuns: 12, seed: 7 },
    )
  })
})
