import { randomUUIDv7 } from 'node:crypto'
import { checkoutSchema, paymentRefunded, type Checkout } from '@robokids/contracts/billing'
import {
  moveCheckoutEnded,
  moveEnded,
  movePaid,
  moveRefused,
  placesCancelled,
  placesMoved,
  type Change,
  type ChangeTerms,
} from '@robokids/contracts/changes'
import { registrationCancelled, type RegistrationFacts } from '@robokids/contracts/enrollment'
import type { EventDefinition } from '@robokids/contracts/event'
import { inbox } from '@robokids/runtime/inbox'
import { outbox } from '@robokids/runtime/outbox'
import { eventually, testBed } from '@robokids/test/bed'
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refunds } from '../../src/schema.ts'
import { adminHeaders, BillingFixture, cards, codeOf, heldMove, purchase, registerMove } from '../fixture.ts'

let fixture: BillingFixture
beforeAll(async () => {
  fixture = await BillingFixture.start(await testBed())
})
afterAll(() => fixture.close())

const open = (changeId: string) => fixture.call('POST', '/move-checkouts', { changeId })

async function openPage(change: Change): Promise<Checkout> {
  const answer = await open(change.changeId)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return checkoutSchema.parse(answer.body)
}

async function payDifference(change: Change, card?: string): Promise<Checkout> {
  await fixture.pay(await openPage(change), card)
  return checkoutSchema.parse((await fixture.refresh(`/checkouts/${change.changeId}`)).body)
}

/** The events of a type about a registration, in any state of publishing. */
async function events<Data>(definition: EventDefinition<string, Data>, registrationId: string): Promise<Data[]> {
  const rows = await fixture.service.context.db
    .select({ envelope: outbox.envelope })
    .from(outbox)
    .where(and(eq(outbox.type, definition.type), sql`${outbox.envelope} ->> 'subject' = ${registrationId}`))
  return rows.map((row) => definition.schema.parse(row.envelope).data)
}

/** Publishes an event of enrollment, twice under its id, and waits until it is handled. */
async function deliver<Data>(
  definition: EventDefinition<string, Data>,
  subject: string,
  data: NoInfer<Data>,
): Promise<void> {
  const event = await fixture.bed.bus.publish(definition, subject, data)
  await fixture.bed.bus.republish(event)
  await eventually(() => fixture.service.context.db.$count(inbox, eq(inbox.eventId, event.id)))
}

const changed = (registration: RegistrationFacts, terms: ChangeTerms, paymentIds: string[]) => ({
  ...registration,
  changeId: randomUUIDv7(),
  terms,
  number: 1,
  classes: [],
  paymentIds,
})

const refundsOf = async (paymentId: string) =>
  (await fixture.service.context.db.select().from(refunds).where(eq(refunds.paymentId, paymentId))).map(
    ({ amount, status }) => ({ amount, status }),
  )

const settled = (paymentId: string, amounts: number[]) =>
  eventually(async () => {
    expect(await refundsOf(paymentId)).toEqual(amounts.map((amount) => ({ amount, status: 'succeeded' })))
    return true
  })

describe('The difference of a move', () => {
  it('has one payment page, and is told to enrollment once when it is paid', async () => {
    const registration = purchase()
    const paid = await fixture.sell(registration)
    const change = heldMove(registration)
    const pages = await Promise.all([openPage(change), openPage(change), openPage(change)])
    expect(new Set(pages.map(({ attemptId }) => attemptId)).size).toBe(1)
    const [session, ...more] = await fixture.sessions(change.changeId)
    expect([session?.amount_total, more]).toEqual([10_000, []])
    const difference = await payDifference(change)
    expect(difference).toMatchObject({ status: 'paid', amount: 10_000, payment: { state: 'paid' } })
    const { registrationId } = registration
    const payment = difference.payment
    expect(await events(movePaid, registrationId)).toEqual([
      {
        changeId: change.changeId,
        registrationId,
        paymentId: payment?.paymentId,
        amount: 10_000,
        currency: 'usd',
        receiptNumber: payment?.receiptNumber,
        paidAt: payment?.paidAt,
      },
    ])
    // The registration's own payment stays what it was.
    expect(await fixture.read(registrationId)).toMatchObject({ attemptId: paid.attemptId, amount: 40_000, refunds: [] })
  })

  it('is not asked for at another price than today’s, for a move that has ended, or under the id of a registration', async () => {
    const registration = purchase()
    await fixture.sell(registration)
    expect(codeOf(await open(heldMove(registration, 49_000).changeId))).toBe('price_changed')
    const over = registerMove({ ...heldMove(registration), status: 'expired' })
    expect(codeOf(await open(over.changeId))).toBe('registration_closed')
    const same = registerMove({ ...heldMove(registration), changeId: registration.registrationId })
    expect(codeOf(await open(same.changeId))).toBe('id_reused')
    expect(codeOf(await open(randomUUIDv7()))).toBe('registration_not_found')
  })

  it('is no longer payable once the move has ended, which enrollment is told', async () => {
    const registration = purchase()
    await fixture.sell(registration)
    const { registrationId } = registration
    const change = heldMove(registration)
    await openPage(change)
    await deliver(moveEnded, registrationId, { changeId: change.changeId, registrationId })
    await eventually(async () => (await events(moveCheckoutEnded, registrationId)).length > 0)
    expect(await fixture.read(change.changeId)).toMatchObject({ status: 'expired', checkoutUrl: null })
    expect(await events(moveCheckoutEnded, registrationId)).toEqual([
      { changeId: change.changeId, registrationId, reason: 'expired' },
    ])
  })

  it('goes back whole and once if enrollment refuses the move, while the registration stays paid', async () => {
    const registration = purchase()
    await fixture.sell(registration)
    const change = heldMove(registration)
    const { payment } = await payDifference(change, cards.good)
    const { changeId, terms } = change
    const paymentId = payment?.paymentId ?? ''
    await deliver(moveRefused, registration.registrationId, { ...registration, changeId, terms, paymentId })
    await settled(paymentId, [10_000])
    expect(await fixture.read(registration.registrationId)).toMatchObject({ payment: { state: 'paid' } })
    const [told] = await events(paymentRefunded, registration.registrationId)
    expect(told).toMatchObject({ paymentId, amount: 10_000, changeId })
  })
})

describe('What was paid for a move', () => {
  it('goes back once when its registration ends because its own payment was refunded, and ends nothing when it alone is refunded', async () => {
    const registration = purchase()
    await fixture.sell(registration)
    const [kept, given] = [await payDifference(heldMove(registration)), await payDifference(heldMove(registration))]
    const movePaymentIds = [kept, given].map(({ payment }) => payment?.paymentId ?? '')
    const [keptId = '', givenId = ''] = movePaymentIds
    const { registrationId } = registration
    const gift = { receiptNumber: given.payment?.receiptNumber, refundId: randomUUIDv7() }
    expect((await fixture.call('POST', '/refunds', gift, adminHeaders)).status).toBe(200)
    const [told] = await events(paymentRefunded, registrationId)
    expect(told).toMatchObject({ paymentId: givenId, amount: 10_000, whole: false })

    await deliver(registrationCancelled, registrationId, { ...registration, reason: 'refunded', movePaymentIds })
    await settled(keptId, [10_000])
    expect(await refundsOf(givenId)).toHaveLength(1)
  })
})

describe('What goes back for a change', () => {
  it('is refunded once, from the last payment first, never more than is left, and ends nothing', async () => {
    const registration = purchase()
    const { payment } = await fixture.sell(registration)
    const change = heldMove(registration)
    const difference = await payDifference(change)
    const paymentIds = [difference.payment?.paymentId ?? '', payment?.paymentId ?? '']
    const [last = '', first = ''] = paymentIds
    const back = (amount: number) => changed(registration, { ...change.terms, due: 0, back: amount }, paymentIds)
    await deliver(placesMoved, registration.registrationId, back(15_000))
    await settled(last, [10_000])
    await settled(first, [5_000])
    expect(await fixture.read(registration.registrationId)).toMatchObject({
      payment: { state: 'paid', returnedAt: null },
    })

    const all = { ...back(50_000), isOver: false }
    await deliver(placesCancelled, registration.registrationId, all)
    await settled(first, [5_000, 35_000])
    expect(await refundsOf(last)).toHaveLength(1)
    // All of it is back, but for single children: the others keep their places.
    expect(await fixture.read(registration.registrationId)).toMatchObject({
      payment: { state: 'paid', returnedAt: null },
    })
    const told = await events(paymentRefunded, registration.registrationId)
    expect(told.map(({ whole }) => whole).filter(Boolean)).toEqual([])
  })

  it('of nothing is no refund', async () => {
    const registration = purchase()
    const { payment } = await fixture.sell(registration)
    const paymentId = payment?.paymentId ?? ''
    const nothing = changed(registration, { ...heldMove(registration).terms, due: 0, back: 0 }, [paymentId])
    await deliver(placesCancelled, registration.registrationId, { ...nothing, isOver: true })
    expect(await refundsOf(paymentId)).toEqual([])
  })
})
