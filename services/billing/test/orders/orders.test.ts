import { randomUUIDv7 } from 'node:crypto'
import {
  checkoutCreated,
  disputesSchema,
  paymentCompleted,
  paymentDisputed,
  paymentFailed,
  paymentRefunded,
} from '@robokids/contracts/billing'
import {
  orderPaid,
  orderRefunded,
  orderRefundFailed,
  orderSchema,
  ordersSchema,
  orderShipped,
  productsSchema,
  productStateChanged,
  robotSpider,
  teddyBear,
  type Order,
  type OrderItem,
  type ProductState,
} from '@robokids/contracts/shop'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { checkoutAttempts, orders, payments, refunds } from '../../src/schema.ts'
import { idOf } from '../../src/stripe/client.ts'
import {
  adminHeaders,
  cards,
  codeOf,
  intentOf,
  messageOf,
  purchase,
  sessionIdOf,
  BillingFixture,
  type Answer,
  type SimEvent,
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
afterAll(async () => {
  await fixture.close()
})

const spiders = (quantity = 1): OrderItem[] => [{ sku: robotSpider, quantity }]
const of = (orderId: string) => (data: { orderId: string }) => data.orderId === orderId

const ask = (orderId: string, items: unknown = spiders()): Promise<Answer> =>
  fixture.call('POST', '/orders', { orderId, items })

function read(answer: Answer): Order {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return orderSchema.parse(answer.body)
}
const placed = async (orderId: string = randomUUIDv7(), items: OrderItem[] = spiders()) =>
  read(await ask(orderId, items))
const order = async (orderId: string) => read(await fixture.call('GET', `/orders/${orderId}`))
const payFor = ({ checkout }: Order, card?: string) => fixture.pay({ checkoutUrl: checkout.url }, card)

async function bought(items?: OrderItem[]): Promise<Order> {
  const { orderId, ...made } = await placed(undefined, items)
  await payFor({ orderId, ...made })
  await bed.bus.seen(orderPaid, of(orderId))
  return order(orderId)
}

const ship = (orderId: string, body: unknown = {}) =>
  fixture.call('POST', `/orders/${orderId}/shipment`, body, adminHeaders)

async function disputed(orderId: string): Promise<string> {
  const { latest_charge: charge } = await fixture.stripe.paymentIntents.retrieve(
    intentOf((await sessionsOf(orderId))[0]),
  )
  await fixture.sim('POST', `/charges/${idOf(charge)}/dispute`)
  const { data } = await bed.bus.seen(paymentDisputed, (published) => published.orderId === orderId)
  return data.disputeId
}

/** The bank's decision about an order's dispute. */
async function decided(orderId: string, outcome: 'won' | 'lost'): Promise<void> {
  const { data } = await bed.bus.seen(paymentDisputed, (published) => published.orderId === orderId)
  await fixture.sim('POST', `/disputes/${data.disputeId}/close`, { outcome })
  await bed.bus.seen(paymentDisputed, (published) => published.orderId === orderId && published.status === outcome)
}

async function setState(sku: string, state: ProductState): Promise<Answer> {
  return fixture.call('POST', '/admin/products', { sku, state }, adminHeaders)
}

/** The sessions of an order at Stripe. */
const sessionsOf = (orderId: string) => fixture.sessions(orderId)
async function eventsOf(orderId: string): Promise<SimEvent[]> {
  const { events } = (await fixture.sim('GET', '/events')) as { events: SimEvent[] }
  return events.filter((event) => event.data.object.metadata?.['orderId'] === orderId)
}
const paymentsOf = (orderId: string) =>
  fixture.service.context.db.select().from(payments).where(eq(payments.purchaseId, orderId))

describe('GET /products', () => {
  it('lists each product with its current price and availability', async () => {
    const answer = await fixture.call('GET', '/products')
    expect(productsSchema.parse(answer.body).products).toEqual([
      { sku: teddyBear, name: 'AI Teddy Bear Companion', state: 'coming_soon', amount: 15_000, currency: 'usd' },
      { sku: robotSpider, name: 'Robot Spider', state: 'pre_order', amount: 30_000, currency: 'usd' },
    ])
  })
})

describe('POST /orders', () => {
  it('opens a checkout at the server’s price that asks for the shipping address', async () => {
    const orderId = randomUUIDv7()
    const made = await placed(orderId, spiders(2))
    expect(made).toMatchObject({
      orderId,
      status: 'unpaid',
      amount: 60_000,
      currency: 'usd',
      lines: [{ sku: robotSpider, name: 'Robot Spider', state: 'pre_order', quantity: 2, unitAmount: 30_000 }],
      email: null,
      shipTo: null,
      receiptNumber: null,
      refunds: [],
      checkout: { status: 'open' },
    })
    const session = await fixture.stripe.checkout.sessions.retrieve(sessionIdOf({ checkoutUrl: made.checkout.url }), {
      expand: ['line_items'],
    })
    expect(session).toMatchObject({
      mode: 'payment',
      amount_total: 60_000,
      currency: 'usd',
      customer_email: null,
      client_reference_id: orderId,
      shipping_address_collection: { allowed_countries: ['US'] },
      success_url: `https://robokids.example/shop/success?reference=${orderId}`,
      cancel_url: 'https://robokids.example/shop',
    })
    expect(session.line_items?.data).toMatchObject([{ description: 'Robot Spider', quantity: 2, amount_total: 60_000 }])
  })

  it('ignores prices in the request', async () => {
    const orderId = randomUUIDv7()
    const answer = await fixture.call('POST', '/orders', {
      orderId,
      amount: 1,
      currency: 'eur',
      items: [{ sku: robotSpider, quantity: 1, price: 0.01, unitAmount: 1, amount: 1, name: 'Free spider' }],
    })
    expect(read(answer)).toMatchObject({ amount: 30_000, lines: [{ name: 'Robot Spider', unitAmount: 30_000 }] })
  })

  it('returns the same order for a repeated or concurrent request', async () => {
    const orderId = randomUUIDv7()
    const second = await fixture.startSecondProcess()
    const body = { orderId, items: spiders() }
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => ask(orderId)),
      fixture.call('POST', '/orders', body, {}, second.url),
    ])
    const later = await ask(orderId.toUpperCase())
    const urls = [...answers, later].map((answer) => read(answer).checkout.url)
    expect(new Set(urls).size).toBe(1)
    expect(await sessionsOf(orderId)).toHaveLength(1)
  })

  it('rejects an id that belongs to another cart', async () => {
    const { orderId } = await placed()
    const answer = await ask(orderId, spiders(2))
    expect([answer.status, codeOf(answer)]).toEqual([409, 'id_reused'])
    expect(await order(orderId)).toMatchObject({ amount: 30_000 })
  })

  it('rejects products that cannot be bought by name, and writes nothing', async () => {
    const orderId = randomUUIDv7()
    const bear = await ask(orderId, [...spiders(), { sku: teddyBear, quantity: 1 }])
    expect([bear.status, codeOf(bear), messageOf(bear)]).toEqual([
      409,
      'product_not_for_sale',
      'AI Teddy Bear Companion cannot be bought right now. Please remove it from your cart.',
    ])
    expect(bear.body).toMatchObject({ issues: [{ path: 'items.1.sku' }] })
    // A sku with a price that is not a product of the shop.
    for (const sku of ['class:basic', 'membership:monthly', 'product:unheard-of']) {
      expect(codeOf(await ask(orderId, [{ sku, quantity: 1 }]))).toBe('product_not_for_sale')
    }
    expect(codeOf(await fixture.call('GET', `/orders/${orderId}`))).toBe('order_not_found')
    expect(await sessionsOf(orderId)).toEqual([])
  })

  it('stops selling a withdrawn product but keeps its open checkout', async () => {
    const made = await placed()
    expect((await setState(robotSpider, 'withdrawn')).status).toBe(200)
    try {
      expect(codeOf(await ask(randomUUIDv7()))).toBe('product_not_for_sale')
      expect((await placed(made.orderId)).checkout.url).toBe(made.checkout.url)
    } finally {
      await setState(robotSpider, 'pre_order')
    }
    await payFor(made)
    await bed.bus.seen(orderPaid, of(made.orderId))
  })

  it('closes the checkout of the cart’s previous version and no other', async () => {
    const replace = async (replaces: string) => {
      const orderId = randomUUIDv7()
      return read(await fixture.call('POST', '/orders', { orderId, items: spiders(2), replaces }))
    }
    const first = await placed()
    const second = await replace(first.orderId)
    expect((await payFor(first)).status).toBe('expired')
    expect((await order(first.orderId)).checkout).toMatchObject({ status: 'expired', url: null })
    expect((await payFor(second)).status).toBe('paid')

    const facts = purchase()
    await fixture.checkout(facts)
    await replace(facts.registrationId)
    expect(await fixture.read(facts.registrationId)).toMatchObject({ status: 'open' })
    await replace(randomUUIDv7())
    expect(
      (await fixture.call('POST', '/orders', { orderId: randomUUIDv7(), items: spiders(), replaces: 'x' })).status,
    ).toBe(400)
  })

  it('keeps the agreed price of an open checkout and charges the new price in the next one', async () => {
    const first = await placed()
    const lapsed = await placed()
    await fixture.setPrice(robotSpider, 32_000)
    try {
      expect(await placed(first.orderId)).toMatchObject({ amount: 30_000 })
      expect(await placed()).toMatchObject({ amount: 32_000 })
      await fixture.sim('POST', `/checkout/${sessionIdOf({ checkoutUrl: lapsed.checkout.url })}/expire`)
      expect(await placed(lapsed.orderId)).toMatchObject({ amount: 32_000 })
    } finally {
      await fixture.setPrice(robotSpider, 30_000)
    }
    await payFor(first)
    expect((await bed.bus.seen(orderPaid, of(first.orderId))).data.amount).toBe(30_000)
  })

  it('creates one session although Stripe’s response was lost', async () => {
    const orderId = randomUUIDv7()
    await fixture.fault({ kind: 'reset', method: 'POST', times: 3 })
    expect((await ask(orderId)).status).toBe(503)
    await placed(orderId)
    expect(await sessionsOf(orderId)).toHaveLength(1)
  })

  it('answers 400 naming the invalid field', async () => {
    const orderId = randomUUIDv7()
    const item = { sku: robotSpider, quantity: 1 }
    const wrong: [unknown, unknown, string][] = [
      ['not-a-uuid', [item], 'orderId'],
      ['3f0c7a52-9a4e-4c1e-8b2f-2d7a5f0f6b11', [item], 'orderId'],
      [undefined, [item], 'orderId'],
      [orderId, [], 'items'],
      [orderId, 'spider', 'items'],
      [orderId, [item, item], 'items'],
      [orderId, Array.from({ length: 21 }, (_, at) => ({ sku: `product:p${at}`, quantity: 1 })), 'items'],
      ...[0, -1, 11, 1.5, 1e300, '1', null].map(
        (quantity) => [orderId, [{ ...item, quantity }], 'items.0.quantity'] as [string, unknown, string],
      ),
      ...['', 'spider', 'PRODUCT:X', `product:${'x'.repeat(200)}`, "product:'; drop table orders", 7, null].map(
        (sku) => [orderId, [{ ...item, sku }], 'items.0.sku'] as [string, unknown, string],
      ),
    ]
    for (const [id, items, path] of wrong) {
      const answer = await fixture.call('POST', '/orders', { orderId: id, items })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
      expect(answer.body).toMatchObject({ issues: expect.arrayContaining([expect.objectContaining({ path })]) })
    }
    for (const body of ['[]', 'null', '{', '"x"'])
      expect((await fixture.call('POST', '/orders', body)).status).toBe(400)
    expect(codeOf(await fixture.call('GET', `/orders/${orderId}`))).toBe('order_not_found')
    expect((await fixture.call('GET', '/orders/not-a-uuid')).status).toBe(400)
  })
})

describe('a paid order', () => {
  it('is published once, with its buyer, and as no registration', async () => {
    const { orderId, ...made } = await placed(undefined, spiders(2))
    await fixture.sim('POST', `/checkout/${sessionIdOf({ checkoutUrl: made.checkout.url })}/pay`, {
      card: cards.good,
      email: 'maren.holt@example.com',
      shipping: {
        shippingName: 'Zoë Holt',
        line1: '1 Main St',
        line2: 'Unit 4',
        city: 'Cambridge',
        state: 'MA',
        postalCode: '02139',
      },
    })
    const event = await bed.bus.seen(orderPaid, of(orderId))
    const shipTo = {
      name: 'Zoë Holt',
      addressLine1: '1 Main St',
      addressLine2: 'Unit 4',
      city: 'Cambridge',
      state: 'MA',
      zipCode: '02139',
      country: 'US',
    }
    expect(event.data).toMatchObject({ orderId, email: 'maren.holt@example.com', shipTo, amount: 60_000 })
    expect(event.data.receiptNumber).toMatch(/^RK-\d{6}$/)
    expect(await order(orderId)).toMatchObject({
      status: 'paid',
      email: 'maren.holt@example.com',
      shipTo,
      receiptNumber: event.data.receiptNumber,
      checkout: { status: 'paid', url: null },
    })
    const again = await ask(orderId, spiders(2))
    expect(read(again)).toMatchObject({ status: 'paid', checkout: { url: null } })
    const ofRegistration = (data: { registrationId: string }) => data.registrationId === orderId
    expect(bed.bus.all(checkoutCreated, ofRegistration)).toEqual([])
    expect(bed.bus.all(paymentCompleted, ofRegistration)).toEqual([])
  })

  it('is published once under duplicated, reordered and late webhooks', async () => {
    const made = await placed()
    await fixture.webhooks({ paused: true, duplicate: 2, reverse: true })
    await payFor(made)
    await fixture.release()
    await bed.bus.seen(orderPaid, of(made.orderId))
    const before = await order(made.orderId)
    for (const { id } of await eventsOf(made.orderId)) await fixture.sim('POST', `/events/${id}/resend`)
    await fixture.deliver(fixture.event('checkout.session.expired', sessionIdOf({ checkoutUrl: made.checkout.url })))
    await fixture.simulator.deliveriesIdle()
    expect(bed.bus.all(orderPaid, of(made.orderId))).toHaveLength(1)
    expect(await paymentsOf(made.orderId)).toHaveLength(1)
    expect(await order(made.orderId)).toEqual(before)
  })

  it('is recorded when the buyer returns without a webhook, also in many tabs', async () => {
    const made = await placed()
    await fixture.webhooks({ dropped: true })
    await payFor(made)
    const answers = await Promise.all(Array.from({ length: 8 }, () => fixture.refresh(`/orders/${made.orderId}`)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await order(made.orderId)).status).toBe('paid')
    expect(await paymentsOf(made.orderId)).toHaveLength(1)
    await bed.bus.seen(orderPaid, of(made.orderId))
  })

  it('is recorded by reconciliation without webhook or buyer, as is an expired checkout', async () => {
    const apart = await BillingFixture.startIsolated({ env: { RECONCILE_EVERY_MS: '100' } })
    try {
      await apart.webhooks({ dropped: true })
      const open = async () => read(await apart.call('POST', '/orders', { orderId: randomUUIDv7(), items: spiders() }))
      const [paid, left] = [await open(), await open()]
      await apart.pay({ checkoutUrl: paid.checkout.url })
      await apart.sim('POST', `/checkout/${sessionIdOf({ checkoutUrl: left.checkout.url })}/expire`)
      await apart.bed.bus.seen(orderPaid, of(paid.orderId))
      await eventually(
        async () => read(await apart.call('GET', `/orders/${left.orderId}`)).checkout.status === 'expired',
      )
    } finally {
      await apart.close()
    }
  })

  it('can be paid after a decline, which its page shows', async () => {
    const made = await placed()
    expect((await payFor(made, cards.declined)).status).toBe('declined')
    await eventually(async () => (await order(made.orderId)).checkout.lastDecline !== null)
    expect((await order(made.orderId)).status).toBe('unpaid')
    expect((await payFor(made)).status).toBe('paid')
    await bed.bus.seen(orderPaid, of(made.orderId))
    expect((await order(made.orderId)).checkout.lastDecline).toBeNull()
    expect(bed.bus.all(paymentFailed, (data) => data.registrationId === made.orderId)).toEqual([])
  })

  it('can be paid in a new checkout after the first one has expired', async () => {
    const first = await placed()
    await fixture.sim('POST', `/checkout/${sessionIdOf({ checkoutUrl: first.checkout.url })}/expire`)
    await eventually(async () => (await order(first.orderId)).checkout.status === 'expired')
    expect((await order(first.orderId)).checkout.url).toBeNull()
    const second = await placed(first.orderId)
    expect(second.checkout.url).not.toBe(first.checkout.url)
    expect((await payFor(first)).status).toBe('expired')
    expect((await payFor(second)).status).toBe('paid')
    await bed.bus.seen(orderPaid, of(first.orderId))
  })

  it('gets its second payment refunded', async () => {
    const hidden = await placed()
    // As if the first session had never been recorded.
    await fixture.service.context.db
      .update(checkoutAttempts)
      .set({ status: 'failed' })
      .where(eq(checkoutAttempts.purchaseId, hidden.orderId))
    const second = await placed(hidden.orderId)
    await payFor(second)
    await bed.bus.seen(orderPaid, of(hidden.orderId))
    await payFor(hidden)
    const refunded = await bed.bus.seen(orderRefunded, of(hidden.orderId))
    expect(refunded.data).toMatchObject({
      reason: 'duplicate',
      amount: 30_000,
      refundedTotal: 30_000,
      paidAmount: 30_000,
    })
    expect(refunded.data.email).not.toBeNull()
    expect(await order(hidden.orderId)).toMatchObject({ status: 'paid' })
    // As if an operator had refunded it by hand.
    await fixture.service.context.db
      .update(refunds)
      .set({ reason: 'requested' })
      .where(eq(refunds.purchaseId, hidden.orderId))
    expect(await order(hidden.orderId)).toMatchObject({ status: 'paid' })
    expect(bed.bus.all(orderPaid, of(hidden.orderId))).toHaveLength(1)
  })

  it('stays unpaid and is refunded if another amount was paid', async () => {
    const made = await placed()
    await fixture.service.context.db
      .update(checkoutAttempts)
      .set({ amount: 29_999 })
      .where(eq(checkoutAttempts.purchaseId, made.orderId))
    await payFor(made)
    expect((await bed.bus.seen(orderRefunded, of(made.orderId))).data).toMatchObject({
      reason: 'amount_mismatch',
      amount: 30_000,
    })
    expect(bed.bus.all(orderPaid, of(made.orderId))).toEqual([])
    expect((await order(made.orderId)).status).toBe('unpaid')
  })
})

describe('the refund of an order', () => {
  it('is published with the running total, for a part and for the rest', async () => {
    const { orderId } = await bought(spiders(2))
    await fixture.refunded(orderId, 30_000)
    expect(await order(orderId)).toMatchObject({ status: 'paid', refunds: [{ amount: 30_000, status: 'succeeded' }] })
    await fixture.refunded(orderId)
    await eventually(() => bed.bus.all(orderRefunded, of(orderId)).length === 2)
    expect(bed.bus.all(orderRefunded, of(orderId)).map(({ data }) => [data.amount, data.refundedTotal])).toEqual([
      [30_000, 30_000],
      [30_000, 60_000],
    ])
    expect(await order(orderId)).toMatchObject({ status: 'refunded' })
    const payment_intent = intentOf((await sessionsOf(orderId))[0])
    const made = (await fixture.stripe.refunds.list({ payment_intent })).data
    expect(made.map(({ metadata }) => Object.keys(metadata ?? {}).toSorted())).toEqual([
      ['orderId', 'refundId'],
      ['orderId', 'refundId'],
    ])
    const over = await fixture.refund(orderId, 1)
    expect([over.status, codeOf(over)]).toEqual([409, 'refund_not_possible'])
    expect(bed.bus.all(paymentRefunded, (data) => data.registrationId === orderId)).toEqual([])
  })

  it('is recorded once if it was made in the dashboard, whatever webhooks arrive', async () => {
    const { orderId } = await bought()
    const [session] = await sessionsOf(orderId)
    await fixture.webhooks({ paused: true, duplicate: 2, reverse: true })
    await fixture.stripe.refunds.create({ payment_intent: intentOf(session), amount: 10_000 })
    await fixture.release()
    const refunded = await bed.bus.seen(orderRefunded, of(orderId))
    expect(refunded.data).toMatchObject({
      amount: 10_000,
      refundedTotal: 10_000,
      paidAmount: 30_000,
      reason: 'requested',
      lines: [{ sku: robotSpider, quantity: 1 }],
    })
    await fixture.simulator.deliveriesIdle()
    expect(bed.bus.all(orderRefunded, of(orderId))).toHaveLength(1)
    expect((await order(orderId)).refunds).toMatchObject([{ amount: 10_000, status: 'succeeded' }])
  })

  it('is published as failed after it was announced: the order stays cancelled and the refund is due', async () => {
    const { orderId, ...made } = await placed()
    await payFor({ orderId, ...made }, '4000000000005126')
    await bed.bus.seen(orderPaid, of(orderId))
    await fixture.refunded(orderId)
    fixture.simulator.advanceClock(2 * 3600)
    const failed = await bed.bus.seen(orderRefundFailed, of(orderId))
    expect(failed.data).toMatchObject({ amount: 30_000, orderId })
    expect(await order(orderId)).toMatchObject({
      status: 'refunded',
      paymentState: 'refund_failed',
      owed: 30_000,
      refunds: [{ status: 'failed' }],
    })
    const refused = await ship(orderId)
    expect([refused.status, codeOf(refused), messageOf(refused)]).toEqual([
      409,
      'order_not_shippable',
      'This order cannot be shipped: it is canceled, and $300.00 of its refund did not reach the buyer and is still owed.',
    ])
    await fixture.refunded(orderId)
    expect(await order(orderId)).toMatchObject({ status: 'refunded', paymentState: 'refunded', owed: 0 })
  })
})

describe('the dispute of an order', () => {
  it('is published with the order and its buyer, and is listed', async () => {
    const { orderId } = await bought()
    await disputed(orderId)
    const { email } = await order(orderId)
    const { data } = await bed.bus.seen(paymentDisputed, (published) => published.orderId === orderId)
    expect(data).toMatchObject({ orderId, registrationId: null, membershipId: null, email, amount: 30_000 })
    expect((await order(orderId)).disputes).toEqual([{ amount: 30_000, currency: 'usd', status: 'needs_response' }])
    const { disputes } = disputesSchema.parse((await fixture.call('GET', '/disputes', undefined, adminHeaders)).body)
    expect(disputes[0]).toMatchObject({ disputeId: data.disputeId, orderId, registrationId: null })
  })
})

describe('POST /orders/:orderId/shipment', () => {
  it('records the shipment and publishes it once', async () => {
    const { orderId } = await bought()
    const shipped = read(await ship(orderId, { trackingNumber: '9400 1000 0000' }))
    expect(shipped).toMatchObject({ status: 'shipped', trackingNumber: '9400 1000 0000' })
    expect(read(await ship(orderId, { trackingNumber: '9400 1000 0000' }))).toEqual(shipped)
    for (const other of [{ trackingNumber: 'another' }, {}]) {
      const refused = await ship(orderId, other)
      expect([refused.status, codeOf(refused), messageOf(refused)]).toEqual([
        409,
        'order_already_shipped',
        'This order was shipped under 9400 1000 0000.',
      ])
    }
    await bed.bus.seen(orderShipped, of(orderId))
    expect(bed.bus.all(orderShipped, of(orderId))).toHaveLength(1)
    const listed = ordersSchema.parse(
      (await fixture.call('GET', '/orders?status=shipped', undefined, adminHeaders)).body,
    )
    expect(listed.orders.map((one) => one.orderId)).toContain(orderId)
    await fixture.refunded(orderId)
    expect(await order(orderId)).toMatchObject({ status: 'refunded', shippedAt: shipped.shippedAt })
    const refunded = await bed.bus.seen(orderRefunded, of(orderId))
    expect(refunded.data).toMatchObject({ whole: true, shipped: true })
    expect((await ship(orderId, { trackingNumber: '9400 1000 0000' })).status).toBe(200)
    expect(codeOf(await ship(orderId, { trackingNumber: 'another' }))).toBe('order_already_shipped')
  })

  it('answers 409 with the reason while the payment is refunded, disputed or lost', async () => {
    const why = async (orderId: string) => {
      const answer = await ship(orderId)
      return answer.status === 200 ? answer.status : [codeOf(answer), messageOf(answer).split(': ')[1]]
    }
    const pending = await placed(undefined, spiders(2))
    await payFor(pending, '4000000000007726')
    await bed.bus.seen(orderPaid, of(pending.orderId))
    await fixture.refunded(pending.orderId, 30_000)
    // A partial refund does not prevent the shipment.
    expect(await order(pending.orderId)).toMatchObject({ status: 'paid', paymentState: 'paid' })
    await fixture.refunded(pending.orderId)
    expect(await order(pending.orderId)).toMatchObject({ status: 'paid', paymentState: 'refund_under_way' })
    expect(await why(pending.orderId)).toEqual(['order_not_shippable', 'it is being refunded in full.'])

    const [lost, won] = [await bought(), await bought()]
    for (const { orderId } of [lost, won]) {
      await disputed(orderId)
      expect(await why(orderId)).toEqual(['order_not_shippable', 'its payment is disputed with the bank.'])
      const { orders: listed } = ordersSchema.parse(
        (await fixture.call('GET', '/orders', undefined, adminHeaders)).body,
      )
      expect(listed.find((one) => one.orderId === orderId)?.paymentState).toBe('disputed')
    }
    await decided(lost.orderId, 'lost')
    await decided(won.orderId, 'won')
    expect(await why(lost.orderId)).toEqual(['order_not_shippable', 'the dispute about its payment was lost.'])
    expect(await order(lost.orderId)).toMatchObject({ status: 'paid', paymentState: 'lost' })
    expect(await order(won.orderId)).toMatchObject({ status: 'paid', paymentState: 'won' })
    expect(await why(won.orderId)).toBe(200)
  })

  it('answers 409 for an order that is unpaid, refunded or already shipped', async () => {
    const unpaid = await placed()
    expect(codeOf(await ship(unpaid.orderId))).toBe('order_not_shippable')
    const { orderId } = await bought()
    await fixture.refunded(orderId)
    const refunded = await ship(orderId)
    expect([refunded.status, codeOf(refunded)]).toEqual([409, 'order_not_shippable'])
    expect(codeOf(await ship(randomUUIDv7()))).toBe('order_not_found')
    const [row] = await fixture.service.context.db.select().from(orders).where(eq(orders.id, orderId))
    expect(row?.shippedAt).toBeNull()
  })

  it('requires the admin secret, as the list of orders does', async () => {
    const { orderId } = await bought()
    expect((await fixture.call('POST', `/orders/${orderId}/shipment`, {})).status).toBe(401)
    expect((await fixture.call('GET', '/orders')).status).toBe(401)
    expect((await fixture.call('POST', '/admin/products', { sku: robotSpider, state: 'available' })).status).toBe(401)
  })
})

describe('POST /admin/products', () => {
  it('publishes a change of availability once, and rejects unknown products', async () => {
    const published = () => bed.bus.all(productStateChanged, ({ sku }) => sku === teddyBear)
    const before = published().length
    await setState(teddyBear, 'pre_order')
    await setState(teddyBear, 'pre_order')
    try {
      const answer = await placed(undefined, [{ sku: teddyBear, quantity: 1 }])
      expect(answer.amount).toBe(15_000)
    } finally {
      await setState(teddyBear, 'coming_soon')
    }
    await eventually(() => published().length === before + 2)
    expect(published().map(({ data }) => [data.from, data.to])).toEqual([
      ['coming_soon', 'pre_order'],
      ['pre_order', 'coming_soon'],
    ])
    expect((await setState('product:unheard-of', 'available')).status).toBe(404)
    expect(
      (await fixture.call('POST', '/admin/products', { sku: teddyBear, state: 'eaten' }, adminHeaders)).status,
    ).toBe(400)
  })
})
