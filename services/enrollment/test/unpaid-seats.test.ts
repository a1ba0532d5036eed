import { randomUUID, randomUUIDv7 } from 'node:crypto'
import type { HoldSeats, Registration } from '@robokids/contracts/enrollment'
import { userConfirmed } from '@robokids/contracts/identity'
import { eventually } from '@robokids/test/bed'
import { and, eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { memberHolds, registrations } from '../src/schema.ts'
import { spawnEnrollment, type EnrollmentProcess } from './processes.ts'
import { codeOf, openSchool, requestFor, type Answer, type School } from './school.ts'

const perNetwork = 16
const perFamily = 12

let school: School
/** Another process of the service, while there is one. Its clock is the real one. */
let second: EnrollmentProcess | undefined
beforeAll(async () => {
  school = await openSchool()
})
afterEach(() => school.resetClock())
afterAll(() => school.bed.stop())

function besideAnotherProcess(): void {
  beforeAll(async () => {
    second = await spawnEnrollment({ DATABASE_URL: school.service.databaseUrl, NATS_URL: school.bed.nats.url })
  })
  afterAll(async () => {
    await second?.stop()
    second = undefined
  })
}

let networks = 0
const newNetwork = () => `2001:db8:${(networks += 1).toString(16)}::/48`
const newEmail = () => `${randomUUIDv7()}@example.com`
/** Somebody's address, and the browser that they ask in. */
const newFamily = () => ({ email: newEmail(), browserId: randomUUID() })
const doors = () => [school.service.url, second?.url ?? school.service.url]
const children = (count: number) => ({
  childName: 'Ivo 0',
  siblings: Array.from({ length: count - 1 }, (_, n) => ({ childName: `Ivo ${n + 1}`, childAge: 9 })),
})

function register(
  session: Awaited<ReturnType<School['session']>>,
  differences: Partial<HoldSeats>,
  nth = 0,
): Promise<Answer> {
  const { network, ...others } = differences
  const body = { ...newFamily(), unlessRegistered: true, ...others }
  return school.register({ ...requestFor(session, body), ...(network ? { network } : {}) }, doors()[nth % 2])
}

const askForMember = (
  session: { date: string },
  body: { email: string; browserId?: string; network?: string; attemptId?: string },
  nth = 0,
) => school.call('POST', '/member-seats', { classDate: session.date, ...body }, {}, doors()[nth % 2])

async function seatsOfNetwork(network: string): Promise<number> {
  const [found] = await school.db
    .select({ seats: sql<number>`coalesce(sum(${registrations.seats}), 0)::int` })
    .from(registrations)
    .where(and(eq(registrations.network, network), eq(registrations.status, 'held')))
  return (found?.seats ?? 0) + (await school.db.$count(memberHolds, eq(memberHolds.network, network)))
}

async function seatsOfBrowser(browserId: string): Promise<number> {
  const [found] = await school.db
    .select({ seats: sql<number>`coalesce(sum(${registrations.seats}), 0)::int` })
    .from(registrations)
    .where(and(eq(registrations.browserId, browserId), eq(registrations.status, 'held')))
  return found?.seats ?? 0
}

const season = async () => ({
  classes: await Promise.all(Array.from({ length: 16 }, () => school.session())),
  members: await Promise.all(Array.from({ length: 4 }, () => school.session({ classType: 'membership' }))),
})
const heldOf = async (sessions: { id: string }[]) => {
  const counts = await Promise.all(sessions.map(({ id }) => school.counts(id)))
  return counts.reduce((sum, { held }) => sum + held, 0)
}

describe('a season of 160 seats and 40 for members, asked for by one who does not pay', () => {
  besideAnotherProcess()
  it('stays free for the most part where all comes from one network, at once, through two processes', async () => {
    const { classes, members } = await season()
    const network = newNetwork()
    const answers = await Promise.all([
      ...classes.map((session, nth) => register(session, { network, ...children(10) }, nth)),
      ...Array.from({ length: 40 }, (_, nth) =>
        askForMember(members[nth % 4] ?? { date: '' }, { ...newFamily(), network }, nth),
      ),
    ])
    expect(await heldOf([...classes, ...members])).toBeLessThanOrEqual(perNetwork)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThanOrEqual(40)
    for (const answer of refused) {
      expect([answer.status, codeOf(answer)]).toEqual([429, 'too_many_unpaid'])
      expect((answer.body as { message: string }).message).toMatch(
        /try again in (5|10) minutes, or from another network/,
      )
    }
  })

  it('stays free for the most part where all comes from one browser, from as many networks', async () => {
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
          '10 seats are held for your family already and not paid yet. Please pay for what you want to keep, or try again in 10 minutes: what is not paid is let go.',
      },
    })
  })
})

describe('a family', () => {
  it('of four children has them in two classes, and in a third once it has paid for one', async () => {
    const [one, two, three] = [await school.session(), await school.session(), await school.session()]
    const family = { ...newFamily(), network: newNetwork(), ...children(4) }
    const first = await register(one, family)
    expect(first.status).toBe(200)
    expect((await register(two, family)).status).toBe(200)
    await school.pay((first.body as Registration).registrationId)
    await school.untilStatus((first.body as Registration).registrationId, 'confirmed')
    expect((await register(three, family)).status).toBe(200)
  })

  it('at its limit sends the same again, corrects it, chooses another class, and goes on with what it holds', async () => {
    const sessions = await Promise.all(Array.from({ length: 4 }, () => school.session()))
    const [one, two, three, four] = sessions as [
      (typeof sessions)[0],
      (typeof sessions)[0],
      (typeof sessions)[0],
      (typeof sessions)[0],
    ]
    const family = { ...newFamily(), network: newNetwork() }
    const { network, browserId } = family
    const request = { ...requestFor(one, { ...family, unlessRegistered: true, ...children(8) }), network }
    const first = await school.register(request)
    expect(first.status).toBe(200)
    expect((await register(two, { ...family, ...children(4) })).status).toBe(200)
    expect(codeOf(await register(three, family))).toBe('too_many_unpaid')

    expect((await school.register(request)).body).toEqual(first.body)
    const { registrationId } = first.body as Registration
    const path = `/registrations/${registrationId}`
    expect((await school.call('POST', `${path}/hold`, { network, browserId })).status).toBe(200)
    expect((await school.call('POST', `${path}/open`)).status).toBe(200)
    const corrected = await register(one, { ...family, ...children(8), city: 'Fremont', replaces: registrationId })
    expect(corrected.status).toBe(200)
    const other = { ...family, ...children(8), replaces: (corrected.body as Registration).registrationId }
    const judged = { ...requestFor(four, other), network }
    expect((await school.call('POST', '/registrations/judge', judged)).status).toBe(200)
    expect((await register(four, other)).status).toBe(200)
  })

  it('is told so before the payment page of what it changes is closed', async () => {
    const [one, two] = [await school.session(), await school.session()]
    const family = { ...newFamily(), network: newNetwork() }
    const held = await register(one, { ...family, ...children(4) })
    await register(two, { ...family, ...children(6) })
    const more = { ...family, ...children(8), replaces: (held.body as Registration).registrationId }
    const judged = await school.call('POST', '/registrations/judge', {
      ...requestFor(one, more),
      network: family.network,
    })
    expect(codeOf(judged)).toBe('too_many_unpaid')
  })

  it('takes again what ran out, as far as nothing else of it waits for its payment', async () => {
    const [one, two] = [await school.session(), await school.session()]
    const family = { ...newFamily(), network: newNetwork() }
    const { network, browserId } = family
    const first = (await register(one, { ...family, ...children(10) })).body as Registration
    school.service.context.clock.advance({ minutes: 11 })
    await school.untilStatus(first.registrationId, 'expired')
    school.resetClock()
    const other = (await register(two, { ...family, ...children(10) })).body as Registration
    const again = () => school.call('POST', `/registrations/${first.registrationId}/hold`, { network, browserId })
    expect(codeOf(await again())).toBe('too_many_unpaid')
    await school.pay(other.registrationId)
    await school.untilStatus(other.registrationId, 'confirmed')
    expect((await again()).body).toMatchObject({ status: 'held', pageOpened: false })
  })

  it('is not kept out by what strangers hold with its address, signed in or not', async () => {
    const [one, two] = [await school.session({ capacity: 40 }), await school.session({ classType: 'membership' })]
    const { email, browserId } = newFamily()
    const ownerId = randomUUID()
    const named = { poolId: 'pool', username: ownerId, givenName: null }
    const account = { userId: ownerId, email, emailVerified: true, verifiedEmail: email, enabled: true }
    await school.hear(userConfirmed, ownerId, { ...account, ...named })
    for (let nth = 0; nth < 2; nth += 1) {
      const theirs = await register(one, { email, network: newNetwork(), ...children(6) })
      expect(theirs.body).toMatchObject({ status: 'held', ownerId })
    }
    const network = newNetwork()
    expect((await register(one, { email, browserId, network })).status).toBe(200)
    expect((await register(one, { email, ownerId, network, childName: 'Noa' })).status).toBe(200)
    expect((await askForMember(two, { email, browserId, network })).status).toBe(200)
  })

  it('is not limited by a BFF of the version before, which tells no network', async () => {
    const family = newFamily()
    for (const session of [await school.session(), await school.session()])
      expect((await register(session, { ...family, ...children(10) })).body).toMatchObject({ pageOpened: true })
  })
})

describe('a hold', () => {
  it('ends after ten minutes where no payment page was opened: all seats are free again', async () => {
    const { classes, members } = await season()
    const network = newNetwork()
    await Promise.all(classes.slice(0, 3).map((session) => register(session, { network, ...children(4) })))
    const [date] = members
    const member = { ...newFamily(), network }
    await askForMember(date ?? { date: '' }, member)
    await askForMember(date ?? { date: '' }, { ...member, attemptId: randomUUIDv7() })
    expect(await heldOf([...classes, ...members])).toBe(13)
    school.service.context.clock.advance({ minutes: 10, seconds: 1 })
    await eventually(async () => (await heldOf([...classes, ...members])) === 0, 60_000)
  })

  const minutesLeft = ({ heldUntil }: Registration) =>
    Math.round(
      school.service.context.clock
        .now()
        .until(heldUntil ?? '')
        .total('minutes'),
    )
  const open = (id: string, url?: string) => school.call('POST', `/registrations/${id}/open`, undefined, {}, url)

  it('lasts ten minutes until its payment page is opened, and then for as long as that can be paid', async () => {
    const held = (await register(await school.session(), { network: newNetwork() })).body as Registration
    expect(held.pageOpened).toBe(false)
    expect(minutesLeft(held)).toBe(10)
    school.service.context.clock.advance({ minutes: 9 })
    const opened = (await open(held.registrationId)).body as Registration
    expect(opened).toMatchObject({ status: 'held', pageOpened: true })
    expect(minutesLeft(opened)).toBe(36)
    // Opened once more, held again from another tab: never shorter.
    school.service.context.clock.advance({ minutes: 2 })
    expect(minutesLeft((await open(held.registrationId)).body as Registration)).toBe(36)
    const network = newNetwork()
    const again = await school.call('POST', `/registrations/${held.registrationId}/hold`, { network })
    expect(again.body).toMatchObject({ pageOpened: true })
    expect(minutesLeft(again.body as Registration)).toBe(36)
  })

  it('lasts until its payment page can be paid no more and a little longer, however often that is opened', async () => {
    const held = (await register(await school.session(), { network: newNetwork() })).body as Registration
    const { clock } = school.service.context
    const page = {
      attemptId: randomUUIDv7(),
      createdAt: Temporal.Now.instant().toString(),
      expiresAt: clock.now().add({ minutes: 31 }).round({ smallestUnit: 'second', roundingMode: 'floor' }).toString(),
    }
    const opened = async () => {
      const answer = await school.call('POST', `/registrations/${held.registrationId}/open`, page)
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

  it('is prolonged for a family that goes on to pay only where it would end on the way, and ends with the page that is opened then', async () => {
    const session = await school.session()
    const network = newNetwork()
    const { clock } = school.service.context
    const request = requestFor(session, { ...newFamily(), network })
    const held = await school.call('POST', '/registrations', request)
    const { registrationId } = held.body as Registration
    expect(held.body).toMatchObject({ isNew: true })
    expect((await school.call('POST', '/registrations', request)).body).toMatchObject({ registrationId, isNew: false })
    const attempt = { attemptId: randomUUIDv7(), createdAt: Temporal.Now.instant().toString() }
    const goOn = async () =>
      (await school.call('POST', `/registrations/${registrationId}/hold`, { network })).body as Registration
    clock.advance({ minutes: 4 })
    expect(minutesLeft(await goOn())).toBe(6)
    clock.advance({ minutes: 2 })
    expect(minutesLeft(await goOn())).toBe(10)
    const page = { ...attempt, expiresAt: clock.now().add({ minutes: 25 }).toString() }
    const opened = await school.call('POST', `/registrations/${registrationId}/open`, page)
    expect(minutesLeft(opened.body as Registration)).toBe(30)
    // Its page was made for the hold before, and is the one that is paid all the same.
    await school.checkoutExpired(registrationId, attempt.attemptId)
    await school.untilStatus(registrationId, 'expired')
  })

  it('that ran out is not opened, and its seat is another family’s', async () => {
    const session = await school.session({ capacity: 1 })
    const held = (await register(session, { network: newNetwork() })).body as Registration
    school.service.context.clock.advance({ minutes: 11 })
    await school.untilStatus(held.registrationId, 'expired')
    const other = (await register(session, { network: newNetwork() })).body as Registration
    const refused = await open(held.registrationId)
    expect([refused.status, codeOf(refused)]).toEqual([409, 'registration_closed'])
    expect(await school.read(other.registrationId)).toMatchObject({ status: 'held' })
    expect(await school.counts(session.id)).toMatchObject({ held: 1, sold: 0 })
  })

  it('is kept or let go, and never both, where its page is opened at the last second', async () => {
    const session = await school.session({ capacity: 8 })
    const held = await Promise.all(
      Array.from({ length: 8 }, async () => (await register(session, { network: newNetwork() })).body as Registration),
    )
    school.service.context.clock.advance({ minutes: 10, seconds: 1 })
    const answers = await Promise.all(held.map(({ registrationId }) => open(registrationId, school.service.url)))
    // What was not opened is gone by now, and what was opened stays.
    await eventually(async () => {
      const states = await Promise.all(held.map(({ registrationId }) => school.read(registrationId)))
      return states.every(({ status }, nth) => status === (answers[nth]?.status === 200 ? 'held' : 'expired'))
    }, 60_000)
    const kept = answers.filter(({ status }) => status === 200).length
    expect(await school.counts(session.id)).toMatchObject({ held: kept, sold: 0 })
  })

  it(
    'whose page is opened outlasts an older page, in whatever order its end is heard of',
    { timeout: 120_000 },
    async () => {
      const [older, newer] = [Temporal.Now.instant(), Temporal.Now.instant().add({ milliseconds: 5 })]
      await fc.assert(
        fc.asyncProperty(
          fc.shuffledSubarray(['first', 'end', 'second', 'open'] as const, { minLength: 4 }),
          async (order) => {
            const session = await school.session()
            const { registrationId } = (await register(session, { network: newNetwork() })).body as Registration
            const [first, second] = [randomUUIDv7(), randomUUIDv7()]
            const page = { attemptId: second, createdAt: newer.toString() }
            let opened = 0
            const happen = {
              first: () => school.checkoutCreated(registrationId, older, first),
              end: () => school.checkoutExpired(registrationId, first),
              second: () => school.checkoutCreated(registrationId, newer, second),
              async open() {
                opened = (await school.call('POST', `/registrations/${registrationId}/open`, page)).status
              },
            }
            for (const what of order) await happen[what]()
            // Where the end was heard of first, no page was opened.
            expect([200, 409]).toContain(opened)
            const status = opened === 200 ? 'held' : 'expired'
            expect(await school.read(registrationId)).toMatchObject({ status })
            expect(await school.counts(session.id)).toMatchObject({ held: opened === 200 ? 1 : 0 })
            await school.checkoutExpired(registrationId, second)
            expect(await school.read(registrationId)).toMatchObject({ status: 'expired' })
          },
        ),
        { numRuns: 24 },
      )
    },
  )

  it('of a member is as short, and is kept once the payment page is opened', async () => {
    const session = await school.session({ classType: 'membership' })
    const [email, network, attemptId] = [newEmail(), newNetwork(), randomUUIDv7()]
    await askForMember(session, { email, network })
    const bound = await askForMember(session, { email, network, attemptId })
    const left = (answer: Answer) => minutesLeft(answer.body as Registration)
    expect(left(bound)).toBe(10)
    const opened = await school.call('POST', `/member-seats/${attemptId}/open`)
    expect([opened.status, left(opened)]).toEqual([200, 36])
    expect(left(await askForMember(session, { email, network, attemptId }))).toBe(36)
    const unknown = await school.call('POST', `/member-seats/${randomUUIDv7()}/open`)
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'membership_not_found'])
  })
})

describe('a member’s seat', () => {
  it('is held until its payment page can be paid no more and a little longer, however often that is opened', async () => {
    const session = await school.session({ classType: 'membership' })
    const [email, network, attemptId] = [newEmail(), newNetwork(), randomUUIDv7()]
    await askForMember(session, { email, network, attemptId })
    const { clock } = school.service.context
    const expiresAt = clock.now().add({ minutes: 31 }).round({ smallestUnit: 'second', roundingMode: 'floor' })
    const opened = async () => {
      const body = { expiresAt: expiresAt.toString() }
      const answer = await school.call('POST', `/member-seats/${attemptId}/open`, body)
      return expiresAt.until((answer.body as { heldUntil: string }).heldUntil).total('minutes')
    }
    expect(await opened()).toBe(5)
    clock.advance({ minutes: 9 })
    expect(await opened()).toBe(5)
  })
})

describe('whoever asks at the same time', () => {
  besideAnotherProcess()

  it(
    'never has more unpaid seats than a family and a network may have, however the requests meet',
    { timeout: 120_000 },
    async () => {
      const request = fc.record({
        family: fc.nat(2),
        network: fc.nat(1),
        kind: fc.constantFrom('register', 'register', 'register', 'member', 'resume', 'pay', 'end'),
        seats: fc.integer({ min: 1, max: 10 }),
        session: fc.nat(2),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: 6, maxLength: 24 }), async (requests) => {
          const sessions = await Promise.all(Array.from({ length: 3 }, () => school.session({ capacity: 60 })))
          const members = await school.session({ classType: 'membership', capacity: 60 })
          const families = [newFamily(), newFamily(), newFamily()]
          const blocks = [newNetwork(), newNetwork()]
          const made: { registrationId: string; browserId: string }[] = []
          await Promise.all(
            requests.map(async ({ family, network: block, kind, seats, session: which }, nth) => {
              const { email, browserId } = families[family] ?? newFamily()
              const network = blocks[block] ?? ''
              const session = sessions[which]
              const { registrationId: known, browserId: maker } = made[nth % Math.max(1, made.length)] ?? {}
              const url = doors()[nth % 2]
              if (kind === 'member') return askForMember(members, { ...newFamily(), network }, nth)
              if (kind === 'resume' && known)
                return school.call('POST', `/registrations/${known}/hold`, { network, browserId: maker }, {}, url)
              if (kind === 'end' && known)
                return school.call(
                  'POST',
                  `/registrations/${known}/expire`,
                  undefined,
                  { 'x-admin-secret': 'local-admin' },
                  url,
                )
              if (kind === 'pay' && known) return school.pay(known)
              if (!session) return undefined
              const unlessRegistered = nth % 2 === 0
              const asked = { email, browserId, network, ...children(seats), unlessRegistered }
              const answer = await register(session, asked, nth)
              if (answer.status === 200) made.push({ ...(answer.body as Registration), browserId })
              expect([200, 409, 429]).toContain(answer.status)
              return undefined
            }),
          )
          for (const network of blocks) expect(await seatsOfNetwork(network)).toBeLessThanOrEqual(perNetwork)
          for (const { browserId } of families) expect(await seatsOfBrowser(browserId)).toBeLessThanOrEqual(perFamily)
          for (const { id } of sessions) {
            const { held } = await school.counts(id)
            const [row] = await school.db
              .select({ seats: sql<number>`coalesce(sum(${registrations.seats}), 0)::int` })
              .from(registrations)
              .where(and(eq(registrations.classSessionId, id), eq(registrations.status, 'held')))
            expect(held).toBe(row?.seats)
          }
        }),
        { numRuns: 12, seed: 7 },
      )
    },
  )
})
