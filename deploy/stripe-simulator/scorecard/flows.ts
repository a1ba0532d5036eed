/** (c) Every flow has its events: the same types and counts, in any order. */
import assert from 'node:assert/strict'
import type { Stripe } from 'stripe'
import { latestApiVersion } from '../src/protocol/api-versions.ts'
import { idOf } from '../src/protocol/ids.ts'
import { clocked, paid, payPage, plan, purchase } from './records.ts'
import { control, eventually, type Check, type Target } from './target.ts'

/** Runs a flow, and compares the events of its objects. The flow returns their ids. */
async function yields(
  target: Target,
  expected: readonly string[],
  flow: () => Promise<readonly string[]>,
): Promise<Stripe.Event[]> {
  const { stripe } = target
  const [last] = (await stripe.events.list({ limit: 1 })).data
  const ids = new Set((await flow()).filter((id) => id !== ''))
  return eventually(
    async () => {
      const since = await stripe.events
        .list({ limit: 100, ...(last && { ending_before: last.id }) })
        .autoPagingToArray({ limit: 1000 })
      const events = related(since, ids)
      assert.deepEqual(events.map((event) => event.type).sort(), [...expected].sort())
      for (const event of events) {
        assert.equal(event.api_version, latestApiVersion)
        assert.equal(typeof event.pending_webhooks, 'number')
        assert.equal(event.livemode, false)
      }
      return events
    },
    target.hasControl ? 500 : 15_000,
  )
}

/** The events whose object references one of the ids, directly or indirectly: an invoice's payment only references the invoice. */
function related(events: readonly Stripe.Event[], ids: Set<string>): Stripe.Event[] {
  const texts = events.map((event) => JSON.stringify(event.data.object))
  const found = new Set<Stripe.Event>()
  for (let grown = true; grown;) {
    grown = false
    for (const [index, event] of events.entries()) {
      if (found.has(event) || ![...ids].some((id) => texts[index]?.includes(id))) continue
      found.add(event)
      // Products and prices belong to several customers.
      const { object, id } = event.data.object as { object: string; id?: string }
      if (object === 'invoice' && id !== undefined) ids.add(id)
      grown = true
    }
  }
  return events.filter((event) => found.has(event))
}

function previous(events: readonly Stripe.Event[], type: string): string[] {
  const event = events.find((one) => one.type === type)
  return Object.keys(event?.data.previous_attributes ?? {}).sort()
}

const flow = (name: string, run: Check['run'], needsControl?: true): Check => ({
  section: 'flows',
  name,
  run,
  ...(needsControl && { needsControl }),
})

const paidEvents = ['payment_intent.created', 'charge.succeeded', 'payment_intent.succeeded']
const declinedEvents = ['charge.failed', 'payment_intent.payment_failed']
const invoicePaidEvents = ['invoice_payment.paid', 'invoice.paid', 'invoice.payment_succeeded']
const startedEvents = [
  ...paidEvents,
  'customer.subscription.created',
  'invoice.created',
  'invoice.finalized',
  ...invoicePaidEvents,
]

/** The ids of a session and its customer cover all related objects. */
async function idsOf({ stripe }: Target, id: string): Promise<string[]> {
  const session = await stripe.checkout.sessions.retrieve(id)
  return [id, idOf(session.customer), idOf(session.payment_intent)]
}

export const flowChecks: readonly Check[] = [
  flow('one-off, paid through the API', async (target) => {
    await yields(target, paidEvents, async () => [(await paid(target)).id])
  }),
  flow('one-off, declined through the API', async (target) => {
    const { stripe } = target
    await yields(target, ['payment_intent.created', ...declinedEvents], async () => {
      const { id } = await stripe.paymentIntents.create({ amount: 500, currency: 'usd' })
      await stripe.paymentIntents
        .confirm(id, {
          payment_method: 'pm_card_visa_chargeDeclined',
          return_url: 'http://localhost:3000/',
        })
        .catch(() => null)
      return [id]
    })
  }),
  flow(
    'one-off, paid on the page',
    async (target) => {
      await yields(target, ['customer.created', ...paidEvents, 'checkout.session.completed'], async () => {
        const { id } = await target.stripe.checkout.sessions.create(purchase)
        await payPage(target, id, '4242424242424242')
        return idsOf(target, id)
      })
    },
    true,
  ),
  flow(
    'declined, then paid on the page',
    async (target) => {
      const expected = ['customer.created', ...declinedEvents, ...paidEvents, 'checkout.session.completed']
      await yields(target, expected, async () => {
        const { id } = await target.stripe.checkout.sessions.create(purchase)
        await payPage(target, id, '4000000000000002')
        assert.equal((await target.stripe.checkout.sessions.retrieve(id)).status, 'open')
        await payPage(target, id, '4242424242424242')
        const ids = await idsOf(target, id)
        assert.equal((await target.stripe.charges.list({ payment_intent: ids[2] ?? '' })).data.length, 2)
        return ids
      })
    },
    true,
  ),
  ...(['complete', 'fail'] as const).map((answer) =>
    flow(
      `3-D Secure, ${answer === 'complete' ? 'confirmed' : 'not confirmed'}`,
      async (target) => {
        const passed = ['charge.succeeded', 'payment_intent.succeeded', 'checkout.session.completed']
        const end = answer === 'complete' ? passed : ['payment_intent.payment_failed']
        const expected = ['customer.created', 'payment_intent.created', 'payment_intent.requires_action', ...end]
        await yields(target, expected, async () => {
          const { id } = await target.stripe.checkout.sessions.create(purchase)
          const { redirectUrl } = await payPage(target, id, '4000002500003155')
          const body = new URLSearchParams({ answer })
          await fetch(redirectUrl ?? '', { method: 'POST', redirect: 'manual', body })
          return idsOf(target, id)
        })
      },
      true,
    ),
  ),
  ...(['succeeded', 'failed'] as const).map((outcome) =>
    flow(
      `an asynchronous method that has ${outcome}`,
      async (target) => {
        const end =
          outcome === 'succeeded'
            ? ['charge.succeeded', 'payment_intent.succeeded', 'checkout.session.async_payment_succeeded']
            : [...declinedEvents, 'checkout.session.async_payment_failed']
        const begin = ['customer.created', 'payment_intent.created', 'charge.pending', 'payment_intent.processing']
        await yields(target, [...begin, 'checkout.session.completed', ...end], async () => {
          const { id } = await target.stripe.checkout.sessions.create(purchase)
          await control(target, `/checkout/${id}/complete-async`)
          const session = await target.stripe.checkout.sessions.retrieve(id)
          assert.deepEqual([session.status, session.payment_status], ['complete', 'unpaid'])
          await control(target, `/checkout/${id}/settle-async`, { outcome })
          return idsOf(target, id)
        })
      },
      true,
    ),
  ),
  flow('expired', async (target) => {
    await yields(target, ['checkout.session.expired'], async () => {
      const { id } = await target.stripe.checkout.sessions.create(purchase)
      await target.stripe.checkout.sessions.expire(id)
      return [id]
    })
  }),
  flow(
    'subscription start on the page',
    async (target) => {
      await yields(target, ['customer.created', ...startedEvents, 'checkout.session.completed'], async () => {
        const { id } = await target.stripe.checkout.sessions.create(plan)
        await payPage(target, id, '4242424242424242')
        return idsOf(target, id)
      })
    },
    true,
  ),
  flow(
    'subscription start, declined: nothing is left',
    async (target) => {
      const expected = ['customer.created', 'payment_intent.created', ...declinedEvents]
      await yields(target, expected, async () => {
        const { id } = await target.stripe.checkout.sessions.create(plan)
        await payPage(target, id, '4000000000000341')
        const [customer] = (await target.stripe.customers.list({ limit: 1 })).data
        const all = await target.stripe.subscriptions.list({ customer: customer?.id ?? '', status: 'all' })
        assert.equal(all.data.length, 0)
        return [id, customer?.id ?? '']
      })
    },
    true,
  ),
  flow('renewal', async (target) => {
    const { customer, days } = await clocked(target)
    const expected = [
      'invoice.upcoming',
      'invoice.created',
      'invoice.finalized',
      ...paidEvents,
      ...invoicePaidEvents,
      'customer.subscription.updated',
    ]
    const events = await yields(target, expected, async () => {
      await days(33)
      return [customer.id]
    })
    assert.deepEqual(previous(events, 'customer.subscription.updated'), ['items', 'latest_invoice'])
  }),
  flow('dunning, to the end', async (target) => {
    const { customer, days, subscription } = await clocked(target)
    await target.stripe.subscriptions.update(subscription.id, { default_payment_method: 'pm_card_chargeCustomerFail' })
    const renewal = ['invoice.upcoming', 'invoice.created', 'invoice.finalized', 'payment_intent.created']
    const failure = [...declinedEvents, 'invoice.payment_failed']
    const updates = ['customer.subscription.updated', 'customer.subscription.updated']
    const expected = [
      ...renewal,
      ...updates,
      ...Array.from({ length: 4 }, () => failure).flat(),
      'customer.subscription.deleted',
    ]
    await yields(target, expected, async () => {
      await days(50)
      return [customer.id]
    })
    const ended = await target.stripe.subscriptions.retrieve(subscription.id)
    assert.deepEqual([ended.status, ended.cancellation_details?.reason], ['canceled', 'payment_failed'])
  }),
  flow('cancel at the end of the period', async (target) => {
    const { customer, days, subscription } = await clocked(target)
    const events = await yields(
      target,
      ['customer.subscription.updated', 'customer.subscription.deleted'],
      async () => {
        await target.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
        await days(33)
        return [customer.id]
      },
    )
    assert(previous(events, 'customer.subscription.updated').includes('cancel_at_period_end'))
  }),
  flow('monthly to yearly', async (target) => {
    const { customer, days, itemId, subscription, yearly } = await clocked(target)
    await days(10)
    const expected = [
      'customer.subscription.updated',
      'invoice.created',
      'invoice.finalized',
      ...paidEvents,
      ...invoicePaidEvents,
    ]
    const events = await yields(target, expected, async () => {
      await target.stripe.subscriptions.update(subscription.id, { items: [{ id: itemId, price: yearly.id }] })
      return [customer.id]
    })
    assert(previous(events, 'customer.subscription.updated').includes('items'))
    const after = await target.stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] })
    const invoice = after.latest_invoice as Stripe.Invoice
    assert.equal(invoice.billing_reason, 'subscription_update')
    assert(
      invoice.lines.data.some((line) => line.amount < 0),
      'the unused time is not credited',
    )
    assert.equal(after.billing_cycle_anchor, subscription.billing_cycle_anchor + 10 * 24 * 3600)
  }),
  ...([undefined, 1000] as const).map((amount) =>
    flow(`refund, ${amount === undefined ? 'full' : 'partial'}`, async (target) => {
      const intent = await paid(target)
      const events = await yields(target, ['refund.created', 'charge.refunded'], async () => {
        await target.stripe.refunds.create({ payment_intent: intent.id, ...(amount !== undefined && { amount }) })
        return [intent.id]
      })
      assert(previous(events, 'charge.refunded').includes('amount_refunded'))
    }),
  ),
  ...(
    [
      ['pm_card_pendingRefund', 'pending, then done', ['refund.updated'], 'succeeded'],
      ['pm_card_refundFail', 'that fails later', ['refund.updated', 'refund.failed'], 'failed'],
    ] as const
  ).map(([method, what, later, status]) =>
    flow(
      `refund ${what}`,
      async (target) => {
        const intent = await paid(target, method)
        await yields(target, ['refund.created', 'charge.refunded', ...later], async () => {
          const { id } = await target.stripe.refunds.create({ payment_intent: intent.id })
          await control(target, '/clock', { advanceSeconds: 5 })
          assert.equal((await target.stripe.refunds.retrieve(id)).status, status)
          return [intent.id]
        })
      },
      true,
    ),
  ),
  ...(
    [
      ['losing_evidence', 'lost', []],
      ['winning_evidence', 'won', ['charge.dispute.funds_reinstated']],
    ] as const
  ).map(([evidence, status, end]) =>
    flow(
      `dispute, ${status}`,
      async (target) => {
        const { stripe } = target
        const opened = ['charge.dispute.created', 'charge.dispute.funds_withdrawn']
        const expected = [...paidEvents, ...opened, 'charge.dispute.updated', 'charge.dispute.closed', ...end]
        await yields(target, expected, async () => {
          const intent = await paid(target, 'pm_card_createDispute')
          await control(target, '/clock', { advanceSeconds: 5 })
          const [dispute] = (await stripe.disputes.list({ payment_intent: intent.id })).data
          await stripe.disputes.update(dispute?.id ?? '', { evidence: { uncategorized_text: evidence } })
          await control(target, '/clock', { advanceSeconds: 5 })
          assert.equal((await stripe.disputes.retrieve(dispute?.id ?? '')).status, status)
          return [intent.id]
        })
      },
      true,
    ),
  ),
]
