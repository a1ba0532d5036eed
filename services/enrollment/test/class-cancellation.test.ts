import { randomUUIDv7 } from 'node:crypto'
import {
  changeQuoteSchema,
  changeSchema,
  moveEnded,
  moveOptionsSchema,
  movePaid,
  moveRefused,
  placesCancelled,
  placesMoved,
  type Change,
} from '@robokids/contracts/changes'
import {
  choiceSchema,
  classCancellationSchema,
  classCancelled,
  type Choice,
  type ClassCancellation,
} from '@robokids/contracts/class-cancellation'
import { registrationExpired, registrationRejected, type Registration } from '@robokids/contracts/enrollment'
import { errorBodySchema } from '@robokids/contracts/errors'
import { waitlistEnded } from '@robokids/contracts/waitlist'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { nextCancellationWork, settleCancellations } from '../src/cancellations/settle-cancellations.ts'
import { isoTime } from '../src/iso-time.ts'
import { changes, choices, classSessions } from '../src/schema.ts'
import {
  adminHeaders,
  codeOf,
  requestFor,
  startEnrollment,
  type EnrollmentFixture,
  type RequestBody,
} from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())
afterEach(() => fixture.resetClock())

const unitAmounts = { basic: 40_000, intermediate: 50_000, advanced: 60_000, custom: 100_000, membership: 700 }

type Session = Awaited<ReturnType<EnrollmentFixture['session']>>

/** A paid registration; with a sibling, who joined free by a promotion. */
async function enroll(session: Session, differences: Partial<RequestBody> = {}): Promise<Registration> {
  const ownerId = randomUUIDv7()
  const names = { childName: 'Ivo', siblings: [] }
  const { registrationId } = await fixture.hold(session, {
    ownerId,
    email: `${ownerId}@example.com`,
    ...names,
    ...differences,
  })
  await fixture.pay(registrationId, randomUUIDv7(), { amount: 40_000, unitAmount: 40_000, paidSeats: 1 })
  return fixture.waitForStatus(registrationId, 'confirmed')
}
const withNoa = { siblings: [{ childName: 'Noa', childAge: 8 }] }

const pathOf = ({ id }: Session) => `/admin/class-sessions/${id}/cancellation`

async function look(session: Session): Promise<ClassCancellation> {
  const answer = await fixture.call('GET', pathOf(session), undefined, adminHeaders)
  return classCancellationSchema.parse(answer.body)
}

const request = async (session: Session, body: object = {}) => {
  const { families } = await look(session)
  const all = { id: randomUUIDv7(), families: families.length, ...body }
  return fixture.call('POST', pathOf(session), all, adminHeaders)
}

async function cancel(session: Session, body: object = {}): Promise<ClassCancellation> {
  const answer = await request(session, body)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  await eventually(async () => (await look(session)).unpaid === 0 && (await isSettled()))
  return classCancellationSchema.parse(answer.body)
}

const isSettled = async () => {
  const next = await nextCancellationWork(fixture.service.context)
  return next === null || Temporal.Instant.compare(next, fixture.service.context.clock.now()) > 0
}

async function choiceOf({ registrationId }: Registration): Promise<Choice> {
  const [event] = await fixture.waitForEvents(classCancelled, registrationId)
  const answer = await fixture.call('GET', `/choices/${event?.choice?.choiceId}`)
  return choiceSchema.parse(answer.body)
}

type By = { choiceId: string } | { ownerId: string }

/** Looks at what a change would do and confirms it. */
async function change(
  { registrationId }: Pick<Registration, 'registrationId'>,
  what: 'cancellation' | 'move',
  body: By & { placeIds: string[]; to?: string },
): Promise<Change> {
  const path = `/registrations/${registrationId}/${what}`
  const quoted = await fixture.call('POST', `${path}/quote`, { unitAmounts, ...body })
  if (quoted.status !== 200) throw new Error(JSON.stringify(quoted.body))
  const { quoteId } = changeQuoteSchema.parse(quoted.body)
  const answer = await fixture.call('POST', path, { unitAmounts, id: randomUUIDv7(), quoteId, ...body })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return changeSchema.parse(answer.body)
}

const placeIdsOf = ({ places }: Choice, ...names: string[]) =>
  places.filter(({ childName }) => names.length === 0 || names.includes(childName)).map(({ placeId }) => placeId)

const payMove = async ({ changeId, terms: { registrationId, due } }: Change) => {
  const payment = { paymentId: randomUUIDv7(), amount: due, currency: 'usd' as const, receiptNumber: 'RK-000043' }
  const paidAt = isoTime(Temporal.Now.instant())
  await fixture.redeliver(newEvent(movePaid, registrationId, { changeId, registrationId, ...payment, paidAt }))
}

const passDeadline = async (session: Session) => {
  const { chooseUntil } = await look(session)
  fixture.service.context.clock.set(Temporal.Instant.from(chooseUntil ?? '').add({ seconds: 1 }))
  await settleCancellations(fixture.service.context, new AbortController().signal)
}

const stateOf = async (session: Session) =>
  Object.fromEntries(
    (await look(session)).families.map(({ registrationId, state, back }) => [registrationId, [state, back]]),
  )

describe('The school’s cancellation of a class', () => {
  it('names each family with its money before and changes nothing then; other families than were seen are refused', async () => {
    const session = await fixture.session()
    const two = await enroll(session, withNoa)
    const one = await enroll(session)
    await fixture.refund(one, one.payment?.paymentId ?? '', 10_000, { whole: false })
    await fixture.hold(session)
    const seen = await look(session)
    expect(seen).toMatchObject({ status: 'open', cancelledAt: null, back: 70_000, unpaid: 1, waiting: 0 })
    expect(await stateOf(session)).toEqual({
      [two.registrationId]: ['to_cancel', 40_000],
      [one.registrationId]: ['to_cancel', 30_000],
    })
    const refused = await request(session, { families: 1 })
    expect([refused.status, codeOf(refused)]).toEqual([409, 'quote_outdated'])
    expect(errorBodySchema.parse(refused.body).message).toBe('2 families now. Look again.')
    expect(await look(session)).toEqual(seen)
    expect((await fixture.call('GET', pathOf(session))).status).toBe(401)
  })

  it('sells nothing any more, ends holds, open moves and the line, and gives each paid family one choice', async () => {
    const session = await fixture.session({ capacity: 6 })
    const paid = await enroll(session, withNoa)
    const held = await fixture.hold(session)
    const comer = await enroll(await fixture.session({ classType: 'intermediate' }))
    const seat = comer.places?.[0]?.placeId ?? ''
    const moving = await change(comer, 'move', { ownerId: comer.ownerId ?? '', placeIds: [seat], to: session.id })
    expect(moving.status).toBe('done')
    const late = await fixture.hold(session)
    await fixture.hold(session)
    const entryId = randomUUIDv7()
    const waiting = { ...requestFor(session), id: entryId, email: 'ada.lind@example.com', browserId: randomUUIDv7() }
    expect((await fixture.call('POST', '/waitlist', waiting)).status).toBe(200)

    const cancellation = await cancel(session)
    expect(cancellation).toMatchObject({ status: 'cancelled', waiting: 0, back: 80_000 })
    const again = await request(session)
    expect([again.status, classCancellationSchema.parse(again.body).cancelledAt]).toEqual([
      200,
      cancellation.cancelledAt,
    ])
    const [ended] = await fixture.publishedEvents(waitlistEnded, entryId)
    expect(ended?.outcome).toBe('class_cancelled')
    for (const one of [held, late]) {
      expect(await fixture.publishedEvents(registrationExpired, one.registrationId)).toHaveLength(1)
      expect(await fixture.publishedEvents(classCancelled, one.registrationId)).toMatchObject([{ choice: null }])
    }
    await fixture.pay(late.registrationId)
    await fixture.waitForStatus(late.registrationId, 'rejected')
    expect(await fixture.publishedEvents(registrationRejected, late.registrationId)).toHaveLength(1)
    const refused = await fixture.register(requestFor(session))
    expect(codeOf(refused)).toBe('class_not_offered')
    expect(await fixture.publishedEvents(classCancelled, paid.registrationId)).toMatchObject([
      { children: [{ childName: 'Ivo' }, { childName: 'Noa' }], choice: { back: 40_000 }, scheduleVersion: 1 },
    ])
    expect(await fixture.publishedEvents(classCancelled, comer.registrationId)).toMatchObject([
      { levelTitle: 'Level 1 Foundations', choice: { back: 40_000 } },
    ])
    const read = await fixture.read(paid.registrationId)
    expect(read.places?.map(({ classCancelled: cancelled }) => cancelled?.back)).toEqual([40_000, 40_000])
    const counts = await fixture.counts(session.id)
    expect([counts.held, counts.sold]).toEqual([0, 3])
  })

  it('ends a move into the class that is being paid: what is paid for it goes back, and the child keeps its class', async () => {
    const session = await fixture.session({ classType: 'intermediate' })
    const home = await fixture.session()
    const family = await enroll(home)
    const placeIds = [family.places?.[0]?.placeId ?? '']
    const moving = await change(family, 'move', { ownerId: family.ownerId ?? '', placeIds, to: session.id })
    expect(moving.status).toBe('held')
    await cancel(session)
    expect(await fixture.publishedEvents(moveEnded, family.registrationId)).toHaveLength(1)
    await payMove(moving)
    await eventually(async () => (await fixture.publishedEvents(moveRefused, family.registrationId)).length === 1)
    expect((await fixture.read(family.registrationId)).places).toMatchObject([{ classSessionId: home.id }])
    const counts = await fixture.counts(session.id)
    expect([counts.held, counts.sold]).toEqual([0, 0])
  })

  it('lets each child of a family move or take the money by the link, changed until the deadline, and all of the money goes back', async () => {
    const [session, other, dearer] = [
      await fixture.session(),
      await fixture.session(),
      await fixture.session({ classType: 'intermediate' }),
    ]
    const family = await enroll(session, withNoa)
    await cancel(session)
    const choice = await choiceOf(family)
    expect(choice).toMatchObject({ isOpen: true, back: 40_000, from: { classSessionId: session.id } })
    const { choiceId } = choice
    const options = await fixture.call('POST', `/registrations/${family.registrationId}/move/options`, {
      choiceId,
      unitAmounts,
      placeIds: placeIdsOf(choice),
    })
    expect(moveOptionsSchema.parse(options.body)).toMatchObject({ refusal: null, until: choice.chooseUntil })

    await change(family, 'move', { choiceId, placeIds: placeIdsOf(choice, 'Noa'), to: other.id })
    expect((await choiceOf(family)).places).toMatchObject([{ moves: 0 }, { classSessionId: other.id, moves: 0 }])
    const pending = await change(family, 'move', { choiceId, placeIds: placeIdsOf(choice, 'Ivo'), to: dearer.id })
    expect(pending).toMatchObject({ status: 'held', terms: { due: 10_000, school: { choiceId, by: 'family' } } })
    await payMove(pending)
    await eventually(async () => (await choiceOf(family)).places[0]?.classSessionId === dearer.id)

    const back = await change(family, 'cancellation', { choiceId, placeIds: placeIdsOf(choice, 'Ivo') })
    expect(back.terms).toMatchObject({ back: 50_000, rule: { percent: 100 } })
    await change(family, 'cancellation', { choiceId, placeIds: placeIdsOf(choice, 'Noa') })
    await fixture.waitForStatus(family.registrationId, 'cancelled')
    expect((await choiceOf(family)).isOpen).toBe(false)
    await passDeadline(session)
    const told = await fixture.publishedEvents(placesCancelled, family.registrationId)
    expect(told.map(({ terms }) => terms.back).toSorted((a, b) => a - b)).toEqual([0, 50_000])
    for (const one of [session, other, dearer]) expect((await fixture.counts(one.id)).sold).toBe(0)
  })

  it('does not let another family’s link or account, nor a link after the deadline, change anything', async () => {
    const session = await fixture.session()
    const [maren, ada] = [await enroll(session), await enroll(session)]
    await cancel(session)
    const [of, others] = [await choiceOf(maren), await choiceOf(ada)]
    const ask = async (by: object, registrationId = maren.registrationId) => {
      const body = { ...by, placeIds: placeIdsOf(of), unitAmounts }
      return fixture.call('POST', `/registrations/${registrationId}/cancellation/quote`, body)
    }
    for (const by of [{ choiceId: others.choiceId }, { choiceId: randomUUIDv7() }, { ownerId: ada.ownerId }, {}])
      expect((await ask(by)).status).toBe(404)
    expect((await ask({ choiceId: others.choiceId }, ada.registrationId)).status).toBe(404)
    expect((await fixture.call('GET', `/choices/${randomUUIDv7()}`)).status).toBe(404)
    expect((await ask({ ownerId: maren.ownerId })).status).toBe(200)
    fixture.service.context.clock.set(Temporal.Instant.from(of.chooseUntil))
    expect(codeOf(await ask({ choiceId: of.choiceId }))).toBe('change_not_allowed')
  })

  it('refunds what nobody has chosen after the deadline, also what waits for a payment or for the bank', async () => {
    const [session, dearer] = [await fixture.session(), await fixture.session({ classType: 'intermediate' })]
    const [quiet, paying] = [await enroll(session, withNoa), await enroll(session)]
    await cancel(session, { days: 1 })
    const { choiceId, places, chooseUntil } = await choiceOf(paying)
    fixture.service.context.clock.set(Temporal.Instant.from(chooseUntil).subtract({ minutes: 1 }))
    const placeIds = places.map(({ placeId }) => placeId)
    await change(paying, 'move', { choiceId, placeIds, to: dearer.id })
    await passDeadline(session)
    expect(await stateOf(session)).toEqual({
      [quiet.registrationId]: ['refund_under_way', 40_000],
      [paying.registrationId]: ['choosing', 40_000],
    })
    const [event] = await fixture.publishedEvents(placesCancelled, quiet.registrationId)
    expect(event?.terms).toMatchObject({ back: 40_000, school: { by: 'deadline' } })
    fixture.service.context.clock.set(Temporal.Instant.from(chooseUntil).add({ hours: 1 }))
    await fixture.db.update(changes).set({ status: 'expired', heldUntil: null }).where(eq(changes.status, 'held'))
    await settleCancellations(fixture.service.context, new AbortController().signal)
    expect((await stateOf(session))[paying.registrationId]).toEqual(['refund_under_way', 40_000])
    const [first] = await fixture.publishedEvents(placesCancelled, quiet.registrationId)
    await fixture.refund(quiet, quiet.payment?.paymentId ?? '', 40_000, {
      changeId: first?.changeId ?? '',
      whole: false,
    })
    expect((await stateOf(session))[quiet.registrationId]).toEqual(['refunded', 40_000])
  })

  it(
    'reaches each of a hundred families once, by two processes that are killed at random points',
    { timeout: 240_000 },
    async () => {
      const session = await fixture.session({ capacity: 1_000 })
      const one = await enroll(session, withNoa)
      const copies = 100
      await fixture.db.execute(sql`
      with copy as (
        insert into registrations select (jsonb_populate_record(r, jsonb_build_object(
          'id', gen_random_uuid(), 'payment_id', gen_random_uuid(), 'replaces', null))).*
        from registrations r, generate_series(1, ${copies}) where r.id = ${one.registrationId}
        returning id
      )
      insert into places select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'registration_id', copy.id))).*
      from copy, places p where p.registration_id = ${one.registrationId}`)
      await fixture.db
        .update(classSessions)
        .set({ sold: 2 * (copies + 1) })
        .where(eq(classSessions.id, session.id))

      const { context } = fixture.service
      let kills = 0
      /** A process that dies in a transaction, or right after one. */
      const mortal = () => {
        const db = new Proxy(context.db, {
          get(target, name) {
            if (name !== 'transaction') return Reflect.get(target, name, target) as unknown
            return async (work: Parameters<typeof context.db.transaction>[0]) => {
              const dies = Math.random()
              const result = await target.transaction(async (tx) => {
                const done = await work(tx)
                if (dies < 0.03) throw new Error('killed')
                return done
              })
              if (dies > 0.97) throw new Error('killed')
              return result
            }
          },
        })
        return { ...context, db }
      }
      const runUntilSettled = async () => {
        while (!(await isSettled())) {
          await settleCancellations(mortal(), new AbortController().signal).catch((error: unknown) => {
            if (!(error instanceof Error) || error.message !== 'killed') throw error
            kills += 1
          })
        }
      }
      await request(session)
      await Promise.all([runUntilSettled(), runUntilSettled()])
      const made = await fixture.db.select().from(choices).where(eq(choices.classSessionId, session.id))
      expect(new Set(made.map(({ registrationId }) => registrationId)).size).toBe(copies + 1)
      expect(made).toHaveLength(copies + 1)

      const { chooseUntil } = await look(session)
      context.clock.set(Temporal.Instant.from(chooseUntil ?? '').add({ seconds: 1 }))
      await Promise.all([runUntilSettled(), runUntilSettled()])
      const told = async (type: string) => {
        const { rows } = await fixture.db.execute<{ families: number; events: number }>(sql`
        select count(distinct envelope ->> 'subject')::int as families, count(*)::int as events from outbox
        where type = ${type} and envelope ->> 'subject' in (
          select registration_id::text from choices where class_session_id = ${session.id})`)
        return rows[0]
      }
      const once = { families: copies + 1, events: copies + 1 }
      expect([await told('class.cancelled'), await told('places.cancelled')]).toEqual([once, once])
      expect((await look(session)).back).toBe(40_000 * (copies + 1))
      expect((await fixture.counts(session.id)).sold).toBe(0)
      expect(kills).toBeGreaterThan(0)
      expect(await fixture.publishedEvents(placesMoved, one.registrationId)).toEqual([])
    },
  )
})
