import { randomUUIDv7 } from 'node:crypto'
import type { MembershipPlan } from '@robokids/contracts/auth'
import {
  membershipCheckoutSchema,
  membershipSchema,
  subscriptionActivated,
  subscriptionRenewed,
  switchQuoteSchema,
} from '@robokids/contracts/billing'
import { memberCreditChanged } from '@robokids/contracts/member-classes'
import { outbox } from '@robokids/runtime/outbox'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { asc, eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { giveCredits } from '../../src/membership/give-credits.ts'
import { membershipCredits, membershipInvoices, memberships } from '../../src/schema.ts'
import { idOf } from '../../src/stripe/client.ts'
import { adminHeaders, BillingFixture, neverAborts, type SimEvent } from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture
beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
})
afterEach(async () => {
  await fixture.webhooks({})
  fixture.service.context.clock.set(Temporal.Now.instant())
})
afterAll(() => fixture.close())

const db = () => fixture.service.context.db

async function checkout(plan: MembershipPlan) {
  const body = { email: `maren.${randomUUIDv7()}@example.com`, plan, classDate: '2027-01-08' }
  return membershipCheckoutSchema.parse((await fixture.call('POST', '/membership-checkouts', body)).body)
}

async function join(plan: MembershipPlan): Promise<string> {
  const made = await checkout(plan)
  await fixture.pay(made)
  await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === made.attemptId)
  return made.attemptId
}

async function membershipOf(id: string) {
  const [row] = await db().select().from(memberships).where(eq(memberships.attemptId, id))
  if (!row) throw new Error('There is no such membership.')
  return row
}

async function view(id: string) {
  const { email, userId } = await membershipOf(id)
  const { body } = await fixture.call('POST', '/memberships/find', { userId: userId ?? randomUUIDv7(), email })
  return membershipSchema.parse((body as { membership: unknown }).membership)
}

/** The events of a membership's credits, published or pending, in their order. */
async function events(id: string) {
  const rows = await db()
    .select({ envelope: outbox.envelope })
    .from(outbox)
    .where(sql`${outbox.type} = ${memberCreditChanged.type} and ${outbox.envelope} ->> 'subject' = ${id}`)
    .orderBy(asc(outbox.position))
  return rows.map(({ envelope }) => memberCreditChanged.schema.parse(envelope).data)
}

const brief = async (id: string) =>
  (await events(id)).map(({ isFirst, withdrawn, version }) =>
    [isFirst ? 'first' : 'later', withdrawn ?? 'given', version].join(' '),
  )

const ledger = (id: string) =>
  db()
    .select()
    .from(membershipCredits)
    .where(eq(membershipCredits.membershipId, id))
    .orderBy(asc(membershipCredits.month))

async function renew(id: string): Promise<void> {
  const before = bed.bus.all(subscriptionRenewed, ({ attemptId }) => attemptId === id).length
  await fixture.renewal((await membershipOf(id)).stripeSubscriptionId)
  await eventually(() => bed.bus.all(subscriptionRenewed, ({ attemptId }) => attemptId === id).length > before, 60_000)
}

const runJob = () => giveCredits(fixture.service.context, neverAborts)

const refund = async (id: string, amount?: number) => {
  const { payments } = await view(id)
  const body = { receiptNumber: payments[0]?.receiptNumber, refundId: randomUUIDv7(), ...(amount ? { amount } : {}) }
  const answer = await fixture.call('POST', '/refunds', body, adminHeaders)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
}

async function dispute(id: string): Promise<string> {
  const { rows } = await db().execute<{ intent: string }>(
    sql`select stripe_payment_intent_id as intent from payments where membership_id = ${id}`,
  )
  const { latest_charge } = await fixture.stripe.paymentIntents.retrieve(rows[0]?.intent ?? '')
  await fixture.sim('POST', `/charges/${idOf(latest_charge)}/dispute`)
  const [opened] = (await fixture.stripe.disputes.list({ charge: idOf(latest_charge) ?? '' })).data
  return opened?.id ?? ''
}

describe('the credits of a membership', () => {
  it('are one a payment, whatever the order and the number of its webhooks, and none by the calendar (C057)', async () => {
    await fixture.webhooks({ dropped: true })
    const made = await checkout('monthly')
    await fixture.pay(made)
    const all = (await fixture.sim('GET', '/events')) as { events: SimEvent[] }
    const types = ['checkout.session.completed', 'invoice.paid', 'customer.subscription.updated']
    const own = all.events.filter(({ type }) => types.includes(type)).slice(-types.length)
    for (const order of [own, own.toReversed()])
      for (const event of [...order, ...order]) await fixture.deliver({ ...event, id: `evt_${randomUUIDv7()}` })
    await fixture.refresh(`/membership-checkouts/${made.attemptId}`)
    const id = made.attemptId
    await eventually(async () => (await events(id)).length > 0)
    await runJob()
    fixture.service.context.clock.advance({ hours: 24 * 25 })
    await runJob()
    expect(await brief(id)).toEqual(['first given 1'])
    await fixture.webhooks({})
    await renew(id)
    expect(await brief(id)).toEqual(['first given 1', 'later given 1'])
    const invoices = await db().select().from(membershipInvoices).where(eq(membershipInvoices.membershipId, id))
    const lines = await ledger(id)
    expect(lines.map(({ invoiceId }) => invoiceId).toSorted()).toEqual(
      invoices.map(({ invoiceId }) => invoiceId).toSorted(),
    )
  })

  it('of a yearly one are one each month, when the month begins, with the next date known in advance', async () => {
    const id = await join('yearly')
    expect(await brief(id)).toEqual(['first given 1'])
    const months = await ledger(id)
    expect(months).toHaveLength(12)
    for (const { dueAt } of months.slice(1, 4)) {
      expect((await view(id)).nextClassAt).toBe(dueAt.toString())
      fixture.service.context.clock.set(dueAt.subtract({ seconds: 1 }))
      await runJob()
      const before = (await events(id)).length
      fixture.service.context.clock.set(dueAt)
      await Promise.all([runJob(), runJob()])
      expect((await events(id)).length).toBe(before + 1)
    }
    expect((await brief(id)).slice(1)).toEqual(Array.from({ length: 3 }, () => 'later given 1'))
  })

  it('come with the next payment of a monthly one, and with none once it is canceled', async () => {
    const id = await join('monthly')
    const { nextClassAt, nextCharge } = await view(id)
    expect(nextClassAt).toBe(nextCharge?.at)
    expect((await fixture.call('POST', `/memberships/${id}/cancel`)).status).toBe(200)
    expect((await view(id)).nextClassAt).toBeNull()
  })

  it('go with their payment once it is disputed, and come back when the dispute is won', async () => {
    const id = await join('monthly')
    const disputeId = await dispute(id)
    await eventually(async () => (await events(id)).length === 2)
    await fixture.sim('POST', `/disputes/${disputeId}/close`, { outcome: 'won' })
    await eventually(async () => (await events(id)).length === 3)
    expect(await brief(id)).toEqual(['first given 1', 'first disputed 2', 'first given 3'])
  })

  it('go with a full refund, all months of a year with it, and do not change with a part', async () => {
    const id = await join('yearly')
    const [, second] = await ledger(id)
    if (!second) throw new Error('There is no second month.')
    fixture.service.context.clock.set(second.dueAt)
    await runJob()
    await refund(id, 1_000)
    expect(await brief(id)).toEqual(['first given 1', 'later given 1'])
    await refund(id)
    expect((await brief(id)).slice(2).toSorted()).toEqual(['first refunded 2', 'later refunded 2'])
    // What is given later is given as taken back.
    const [, , third] = await ledger(id)
    fixture.service.context.clock.set(third?.dueAt ?? second.dueAt)
    await runJob()
    expect((await brief(id)).slice(4)).toEqual(['later refunded 1'])
  })

  it('are eleven more after a change to yearly, whose first month is the running one', async () => {
    const id = await join('monthly')
    const quoted = await fixture.call('POST', `/memberships/${id}/quote`, { plan: 'yearly' })
    const { plan, dueNow, reckonedAt, agreement } = switchQuoteSchema.parse(quoted.body)
    const body = { plan, dueNow, reckonedAt, agreed: agreement?.terms }
    expect((await fixture.call('POST', `/memberships/${id}/switch`, body)).status).toBe(200)
    expect(await brief(id)).toEqual(['first given 1'])
    expect(await ledger(id)).toHaveLength(12)
    const { nextClassAt, nextCharge } = await view(id)
    expect(Temporal.Instant.compare(nextClassAt ?? '', nextCharge?.at ?? '')).toBe(-1)
  })

  it('are made up for where a process of the previous version has recorded the payment', async () => {
    const id = await join('yearly')
    await db().delete(membershipCredits).where(eq(membershipCredits.membershipId, id))
    await db().update(membershipInvoices).set({ periodStart: null }).where(eq(membershipInvoices.membershipId, id))
    await runJob()
    await runJob()
    expect(await brief(id)).toEqual(['first given 1', 'first given 1'])
    expect(await ledger(id)).toHaveLength(12)
  })

  it('of one that begins on the 31st come on January 31, February 28, March 31 and April 30, each with its payment (C058)', async () => {
    const start = Temporal.Instant.from('2027-01-31T17:00:00Z')
    fixture.simulator.advanceClock(Math.floor(start.epochMilliseconds / 1000) - fixture.simulator.now())
    const id = await join('monthly')
    for (let month = 0; month < 3; month += 1) await renew(id)
    const months = await ledger(id)
    expect(months.map(({ month }) => month)).toEqual(['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30'])
    expect(new Set(months.map(({ paymentId }) => paymentId)).size).toBe(4)
    expect(await brief(id)).toEqual(['first given 1', ...Array.from({ length: 3 }, () => 'later given 1')])
  })
})
