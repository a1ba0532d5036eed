import { randomUUIDv7 } from 'node:crypto'
import {
  membershipCheckoutSchema,
  membershipRefunded,
  paymentDisputed,
  reconciliationSchema,
  subscriptionActivated,
  subscriptionCancelled,
  subscriptionEnded,
  subscriptionRenewed,
  subscriptionSwitched,
  switchQuoteSchema,
  type Membership,
} from '@robokids/contracts/billing'
import { memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { reconcile } from '../../src/webhooks/reconcile.ts'
import { idOf } from '../../src/stripe/client.ts'
import {
  adminHeaders,
  deliveryOrders,
  cards,
  codeOf,
  messageOf,
  neverAborts,
  type SimEvent,
  BillingFixture,
} from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture
beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
})
afterEach(async () => {
  await fixture.sim('DELETE', '/faults')
  await fixture.webhooks({})
})
afterAll(() => fixture.close())

interface Member {
  email: string
  userId: string
  id: string
}

async function eventsSoFar(): Promise<SimEvent[]> {
  return ((await fixture.sim('GET', '/events')) as { events: SimEvent[] }).events
}

async function open(plan: 'monthly' | 'yearly' = 'monthly') {
  const member = { email: `maren.${randomUUIDv7()}@example.com`, userId: randomUUIDv7() }
  const answer = await fixture.call('POST', '/membership-checkouts', {
    email: member.email,
    plan,
    classDate: '2027-01-08',
  })
  const made = membershipCheckoutSchema.parse(answer.body)
  return { made, member: { ...member, id: made.attemptId } }
}

async function subscriptionOf({ id }: Member) {
  const all = await fixture.stripe.subscriptions.list({ status: 'all', limit: 100 }).autoPagingToArray({ limit: 1_000 })
  const found = all.find(({ metadata }) => metadata['attemptId'] === id)
  if (!found) throw new Error('There is no such subscription.')
  return found
}

const renewal = async (member: Member) => fixture.renewal((await subscriptionOf(member)).id)

/** The payment intent of the latest invoice. */
async function intentOf(member: Member): Promise<string> {
  const { latest_invoice: invoice } = await subscriptionOf(member)
  const { payments } = await fixture.stripe.invoices.retrieve(idOf(invoice) ?? '', { expand: ['payments'] })
  return idOf(payments?.data[0]?.payment.payment_intent) ?? ''
}

async function useCard(member: Member, token: string): Promise<void> {
  const { id, customer } = await subscriptionOf(member)
  const method = await fixture.stripe.paymentMethods.attach(token, { customer: idOf(customer) ?? '' })
  await fixture.stripe.subscriptions.update(id, { default_payment_method: method.id })
}

async function find(member: Member): Promise<Membership | null> {
  const answer = await fixture.call('POST', '/memberships/find', { userId: member.userId, email: member.email })
  return (answer.body as { membership: Membership | null }).membership
}

async function settled(): Promise<void> {
  const { db } = fixture.service.context
  await eventually(async () => {
    const {
      rows: [waiting],
    } = await db.execute<{ count: string }>(sql`
      select (select count(*) from outbox where published_at is null)
        + (select count(*) from memberships where end_request is not null)
        + (select count(*) from refunds where status = 'pending') as count`)
    return Number(waiting?.count) === 0
  }, 20_000)
}

async function books() {
  const answer = await fixture.call('POST', '/admin/reconcile', undefined, adminHeaders)
  return reconciliationSchema.parse(answer.body)
}

/** The recorded state and published events of a membership, without ids and times that differ between runs. */
async function stateOf(member: Member) {
  const of = ({ attemptId }: { attemptId: string }) => attemptId === member.id
  const membership = await find(member)
  return {
    status: membership?.status,
    plan: membership?.plan,
    nextPlan: membership?.nextPlan ?? null,
    ends: membership?.endsAt != null,
    unpaid: membership?.unpaid?.attempts ?? 0,
    card: membership?.card?.last4,
    payments: membership?.payments.map(({ amount, reason, refunded }) => [amount, reason, refunded]).toReversed(),
    disputed: membership?.payments.some(({ disputed }) => disputed),
    receipts: membership?.payments.every(({ receiptNumber }) => receiptNumber !== ''),
    activated: bed.bus.all(subscriptionActivated, of).length,
    renewed: bed.bus.all(subscriptionRenewed, of).length,
    ended: bed.bus.all(subscriptionEnded, of).length,
    refunded: bed.bus.all(membershipRefunded, of).length,
  }
}

const begun = {
  status: 'active',
  plan: 'monthly',
  nextPlan: null,
  ends: false,
  unpaid: 0,
  card: '4242',
  payments: [[700, 'first', 0]],
  disputed: false,
  receipts: true,
  activated: 1,
  renewed: 0,
  ended: 0,
  refunded: 0,
}

/** Flows of a membership at Stripe, and their outcomes. */
const flows: Record<string, { run(member: Member): Promise<void>; end: Record<string, unknown> }> = {
  begins: { async run() {}, end: begun },
  'is renewed twice': {
    async run(member) {
      await renewal(member)
      await renewal(member)
    },
    end: {
      ...begun,
      payments: [
        [700, 'first', 0],
        [700, 'renewal', 0],
        [700, 'renewal', 0],
      ],
      renewed: 2,
    },
  },
  'is past due': {
    async run(member) {
      await useCard(member, 'pm_card_chargeCustomerFail')
      await renewal(member)
    },
    end: { ...begun, status: 'past_due', unpaid: 1, card: '0341' },
  },
  'is past due, then paid by another card': {
    async run(member) {
      await useCard(member, 'pm_card_chargeCustomerFail')
      await renewal(member)
      await useCard(member, 'pm_card_visa')
      fixture.simulator.advanceClock(4 * 24 * 3600)
    },
    end: {
      ...begun,
      payments: [
        [700, 'first', 0],
        [700, 'renewal', 0],
      ],
      renewed: 1,
    },
  },
  'ends unpaid': {
    async run(member) {
      await useCard(member, 'pm_card_chargeCustomerFail')
      await renewal(member)
      fixture.simulator.advanceClock(20 * 24 * 3600)
    },
    end: { ...begun, status: 'ended', ends: true, card: '0341', ended: 1 },
  },
  'is cancelled, resumed and cancelled': {
    async run(member) {
      const { id } = await subscriptionOf(member)
      await fixture.stripe.subscriptions.update(id, { cancel_at_period_end: true })
      await fixture.stripe.subscriptions.update(id, { cancel_at_period_end: false })
      await fixture.stripe.subscriptions.update(id, { cancel_at: fixture.simulator.now() + 3 * 24 * 3600 })
    },
    end: { ...begun, ends: true },
  },
  'is cancelled and over': {
    async run(member) {
      const { id } = await subscriptionOf(member)
      await fixture.stripe.subscriptions.update(id, { cancel_at_period_end: true })
      await renewal(member)
    },
    end: { ...begun, status: 'ended', ends: true, ended: 1 },
  },
  'goes yearly': {
    async run(member) {
      const { id, items } = await subscriptionOf(member)
      const [item] = items.data
      await fixture.stripe.subscriptions.update(id, {
        items: [
          {
            id: item?.id ?? '',
            price_data: {
              currency: 'usd',
              product: idOf(item?.price.product) ?? '',
              recurring: { interval: 'year' },
              unit_amount: 6_000,
            },
          },
        ],
        proration_behavior: 'always_invoice',
      })
    },
    end: {
      ...begun,
      plan: 'yearly',
      payments: [
        [700, 'first', 0],
        [5_300, 'switch', 0],
      ],
      renewed: 1,
    },
  },
  'is refunded in part': {
    async run(member) {
      await fixture.stripe.refunds.create({ payment_intent: await intentOf(member), amount: 200 })
    },
    end: { ...begun, payments: [[700, 'first', 200]], refunded: 1 },
  },
  'is disputed and lost': {
    async run(member) {
      const { latest_charge: charge } = await fixture.stripe.paymentIntents.retrieve(await intentOf(member))
      await fixture.sim('POST', `/charges/${idOf(charge)}/dispute`)
      const [dispute] = (await fixture.stripe.disputes.list({ charge: idOf(charge) ?? '' })).data
      await fixture.sim('POST', `/disputes/${dispute?.id}/close`, { outcome: 'lost' })
    },
    end: { ...begun, disputed: true },
  },
}

describe('a membership', () => {
  it('reaches the same state under duplicated, reordered and lost webhooks', { timeout: 240_000 }, async () => {
    await fixture.webhooks({ dropped: true })
    const runs = fc.sample(deliveryOrders, { numRuns: 2 * Object.keys(flows).length })
    for (const [index, arrival] of runs.entries()) {
      const names = Object.keys(flows)
      const name = names[index % names.length] ?? ''
      const flow = flows[name]
      if (!flow) continue
      const before = (await eventsSoFar()).length
      // On any day of a month, since months differ in length.
      const [hours = 0] = fc.sample(fc.nat(27 * 24), 1)
      fixture.simulator.advanceClock(hours * 3600)
      const today = new Date(fixture.simulator.now() * 1000).toISOString()
      const { made, member } = await open()
      await fixture.pay(made)
      await flow.run(member)
      const published = (await eventsSoFar()).slice(before)
      const statuses = await fixture.deliverInOrder(published, arrival)
      expect(statuses).toEqual(statuses.map(() => 200))
      // Reconciliation finds what was lost.
      if (arrival.lost > 0) await reconcile(fixture.service.context, neverAborts)
      await settled()
      // Published events reach this process a moment later.
      await eventually(async () => {
        expect([name, today, await stateOf(member)]).toEqual([name, today, flow.end])
        return true
      })
      const right = { difference: 0, disagreements: [], unexplained: [] }
      expect([name, today, await books()]).toMatchObject([name, today, right])
    }
  })

  it('is recorded completely without any webhook', async () => {
    const apart = await BillingFixture.startIsolated({ env: { RECONCILE_EVERY_MS: '100' } })
    try {
      await apart.webhooks({ dropped: true })
      const answer = await apart.call('POST', '/membership-checkouts', {
        email: 'maren.holt@example.com',
        plan: 'monthly',
        classDate: '2027-01-08',
      })
      await apart.pay(membershipCheckoutSchema.parse(answer.body))
      await apart.bed.bus.seen(subscriptionActivated)
      const [subscription] = (await apart.stripe.subscriptions.list()).data
      const id = subscription?.id ?? ''
      await apart.renewal(id)
      await apart.bed.bus.seen(subscriptionRenewed, () => true, 20_000)
      await apart.stripe.subscriptions.update(id, { cancel_at_period_end: true })
      await apart.bed.bus.seen(subscriptionCancelled, () => true, 20_000)
      await apart.renewal(id)
      await apart.bed.bus.seen(subscriptionEnded, () => true, 20_000)
      const reconciled = await apart.call('POST', '/admin/reconcile', undefined, adminHeaders)
      expect(reconciled.body).toMatchObject({ difference: 0, unexplained: [], ledger: { transactions: 2 } })
    } finally {
      await apart.close()
    }
  })

  it('is recorded when the webhook of its refund or dispute arrives first', async () => {
    await fixture.webhooks({ dropped: true })
    const { made, member } = await open()
    await fixture.pay(made)
    const payment_intent = await intentOf(member)
    const refund = await fixture.stripe.refunds.create({ payment_intent, amount: 200 })
    expect((await fixture.deliver(fixture.event('refund.created', refund.id))).status).toBe(200)
    await bed.bus.seen(membershipRefunded, ({ attemptId }) => attemptId === member.id)
    expect(await stateOf(member)).toMatchObject({ status: 'active', payments: [[700, 'first', 200]], refunded: 1 })

    const { made: other, member: disputing } = await open()
    await fixture.pay(other)
    const { latest_charge: charge } = await fixture.stripe.paymentIntents.retrieve(await intentOf(disputing))
    await fixture.sim('POST', `/charges/${idOf(charge)}/dispute`)
    const [dispute] = (await fixture.stripe.disputes.list({ charge: idOf(charge) ?? '' })).data
    expect((await fixture.deliver(fixture.event('charge.dispute.created', dispute?.id ?? ''))).status).toBe(200)
    const { data } = await bed.bus.seen(paymentDisputed, ({ disputeId }) => disputeId === dispute?.id)
    expect(data).toMatchObject({ membershipId: disputing.id, email: disputing.email })
    expect(await stateOf(disputing)).toMatchObject({ status: 'active', disputed: true })
  })

  it('is fetched again if it changed meanwhile: a stale response changes nothing', async () => {
    const { made, member } = await open()
    await fixture.pay(made)
    await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === member.id)
    const { id } = await subscriptionOf(member)
    const event = () => fixture.event('customer.subscription.updated', id)
    // Twenty concurrent fetches, while it is cancelled and resumed.
    const fetches = Array.from({ length: 10 }, () => fixture.deliver(event()))
    const changes = ['cancel', 'resume', 'cancel'].map((change) =>
      fixture.call('POST', `/memberships/${member.id}/${change}`),
    )
    const answers = await Promise.all([
      ...fetches,
      ...changes,
      ...Array.from({ length: 10 }, () => fixture.deliver(event())),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    await fixture.simulator.deliveriesIdle()
    const { cancel_at: cancelAt } = await fixture.stripe.subscriptions.retrieve(id)
    expect((await find(member))?.endsAt !== null).toBe(cancelAt !== null)
  })

  it('is refunded by its id while it has one payment, and by the receipt where it has more', async () => {
    const { made, member } = await open()
    await fixture.pay(made)
    await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === member.id)
    const refund = (body: object) => fixture.call('POST', '/refunds', body, adminHeaders)
    const byId = { registrationId: member.id, refundId: randomUUIDv7(), amount: 100 }
    const first = await refund(byId)
    expect(first).toMatchObject({ status: 200, body: { amount: 100 } })
    await renewal(member)
    await bed.bus.seen(subscriptionRenewed, ({ attemptId }) => attemptId === member.id)
    const receipts = (await find(member))?.payments.map(({ receiptNumber }) => receiptNumber).toReversed() ?? []
    expect(receipts).toHaveLength(2)
    // A refund requested when it had one payment is repeated with the same response.
    expect(await refund(byId)).toMatchObject({ status: 200, body: { refundId: byId.refundId } })
    const unclear = await refund({ registrationId: member.id, refundId: randomUUIDv7() })
    expect([unclear.status, codeOf(unclear)]).toEqual([409, 'refund_not_possible'])
    expect(messageOf(unclear)).toMatch(
      new RegExp(`Name one by its receipt: ${receipts[0]} \\(\\$7.00 on [-0-9]+\\), ${receipts[1]} \\(\\$7.00 on`),
    )
    expect(await refund({ receiptNumber: receipts[1], refundId: randomUUIDv7() })).toMatchObject({ status: 200 })
    expect((await find(member))?.payments.map(({ refunded }) => refunded).toReversed()).toEqual([100, 700])
  })

  it('without a seat ends immediately and is refunded in full once', async () => {
    const { made, member } = await open()
    await fixture.pay(made)
    const { data } = await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === member.id)
    const facts = { ...data, reason: 'class_full' as const }
    const event = await bed.bus.publish(memberRejected, member.id, facts)
    await bed.bus.republish(event)
    await bed.bus.publish(memberRejected, member.id, facts)
    await bed.bus.seen(membershipRefunded, ({ attemptId }) => attemptId === member.id)
    await settled()
    expect(await stateOf(member)).toMatchObject({ status: 'ended', payments: [[700, 'first', 700]], refunded: 1 })
    expect((await subscriptionOf(member)).status).toBe('canceled')
    expect(await books()).toMatchObject({ difference: 0, unexplained: [] })
  })

  it('is not accessible to another account, and changes its plan exactly as quoted', async () => {
    const { made, member } = await open()
    await fixture.pay(made)
    const { data } = await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === member.id)
    await bed.bus.publish(memberSeated, member.id, {
      ...data,
      classSessionId: randomUUIDv7(),
      startTime: '16:00',
      durationMinutes: 75,
      timeZone: 'America/Los_Angeles',
      receiptNumber: null,
      renewsAt: null,
    })
    expect(await find(member)).not.toBeNull()
    // Another account that has the address later, after the first one has changed its own.
    expect(await find({ ...member, userId: randomUUIDv7() })).toBeNull()

    const quote = switchQuoteSchema.parse(
      (await fixture.call('POST', `/memberships/${member.id}/quote`, { plan: 'yearly' })).body,
    )
    const body = { plan: 'yearly', dueNow: quote.dueNow, reckonedAt: quote.reckonedAt }
    const post = (one: object) => fixture.call('POST', `/memberships/${member.id}/switch`, one)
    const cheaper = await post({ ...body, dueNow: quote.dueNow - 1 })
    expect([cheaper.status, codeOf(cheaper)]).toEqual([409, 'quote_outdated'])
    const answers = await Promise.all([post(body), post(body), post(body)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    await settled()
    expect(await find(member)).toMatchObject({ plan: 'yearly', amount: 6_000 })
    expect((await find(member))?.payments.map(({ amount }) => amount)).toEqual([quote.dueNow, 700])
    expect(bed.bus.all(subscriptionSwitched, ({ attemptId }) => attemptId === member.id)).toHaveLength(1)
    expect(await books()).toMatchObject({ difference: 0, unexplained: [] })
  })
})

describe('a dispute', () => {
  it('is recorded, published once per change, listed, and entered in the ledger', async () => {
    const before = (await books()).accounts['disputes'] ?? 0
    const { made, member } = await open()
    await fixture.pay(made, '4000000000000259')
    await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === member.id)
    const opened = await bed.bus.seen(paymentDisputed, ({ membershipId }) => membershipId === member.id, 20_000)
    expect(opened.data).toMatchObject({ amount: 700, status: 'needs_response', email: member.email })
    expect((await find(member))?.payments).toMatchObject([{ disputed: true }])
    const { disputeId } = opened.data
    for (const type of ['created', 'updated', 'created']) {
      expect((await fixture.deliver(fixture.event(`charge.dispute.${type}`, disputeId))).status).toBe(200)
    }
    await settled()
    expect(bed.bus.all(paymentDisputed, (data) => data.disputeId === disputeId)).toHaveLength(1)
    const listed = await fixture.call('GET', '/disputes', undefined, adminHeaders)
    expect(listed.body).toMatchObject({
      disputes: expect.arrayContaining([expect.objectContaining({ disputeId, membershipId: member.id })]),
    })
    const reconciled = await books()
    expect(reconciled).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
    expect(reconciled.accounts['disputes']).toBe(before + 700)
  })
})

describe('the ledger', () => {
  it('rejects changes and unbalanced entries', async () => {
    await books()
    const { db } = fixture.service.context
    for (const statement of [
      sql`update ledger_entries set amount = 0`,
      sql`delete from ledger_entries`,
      sql`truncate ledger_entries`,
      sql`update ledger_transactions set type = 'x'`,
      sql`insert into ledger_transactions (id, type, currency, occurred_at, recorded_at) values ('txn_x', 'charge', 'usd', now(), now())`,
      sql`with one as (
            insert into ledger_transactions (id, type, currency, occurred_at, recorded_at)
            values ('txn_y', 'charge', 'usd', now(), now()) returning id
          ) insert into ledger_entries (transaction_id, account, amount) select id, 'sales', -1 from one`,
    ]) {
      const refusal = await db.execute(statement).then(
        () => undefined,
        (error: Error) => error.cause,
      )
      expect(String(refusal)).toMatch(/only ever added to|do not balance/)
    }
    expect(await books()).toMatchObject({ difference: 0 })
  })

  it('lists the amounts without an explanation', async () => {
    const before = await books()
    const stranger = await fixture.stripe.checkout.sessions.create({
      mode: 'payment',
      success_url: 'https://elsewhere.example',
      line_items: [
        { quantity: 1, price_data: { currency: 'usd', unit_amount: 500, product_data: { name: 'Something else' } } },
      ],
    })
    await fixture.pay({ checkoutUrl: stranger.url }, cards.good)
    const after = await books()
    expect(after.difference).toBe(0)
    expect(after.unexplained).toHaveLength(before.unexplained.length + 1)
    expect(after.unexplained.at(-1)).toContain('$5.00 came in and belongs to nothing known')
  })
})
