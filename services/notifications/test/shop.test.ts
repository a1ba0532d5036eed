import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { stockAlertSchema, type ProductState } from '@robokids/contracts/shop'
import {
  orderPaid,
  orderRefunded,
  orderRefundFailed,
  orderShipped,
  productStateChanged,
} from '@robokids/contracts/shop'
import { eventually } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mails, stockAlerts, type MailData } from '../src/schema.ts'
import { openOffice, siteUrl, type NotificationsFixture } from './fixture.ts'

let office: NotificationsFixture
beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.close())

const spider = {
  sku: 'product:robot-spider',
  name: 'Robot Spider',
  state: 'pre_order' as const,
  quantity: 2,
  unitAmount: 30_000,
}

function paidOrder(changes: Partial<MailData['order_paid']> = {}): MailData['order_paid'] & { email: string } {
  const orderId = randomUUIDv7()
  return {
    orderId,
    lines: [spider],
    shipTo: {
      name: "Una D'Arcy & Jo <3",
      addressLine1: '14 Alder Way',
      addressLine2: 'Unit 4',
      city: 'Cambridge',
      state: 'MA',
      zipCode: '02139',
      country: 'US',
    },
    attemptId: randomUUIDv7(),
    paymentId: randomUUIDv7(),
    amount: 60_000,
    currency: 'usd',
    receiptNumber: 'RK-000041',
    paidAt: '2026-11-28T00:04:59Z',
    ...changes,
    email: `maren.${orderId}@example.com`,
  }
}

function refundOf({ orderId, lines, email, shipTo, paymentId }: ReturnType<typeof paidOrder>) {
  const money = { amount: 30_000, currency: 'usd' as const, reason: 'requested' as const }
  return { orderId, lines, email, shipTo, paymentId, refundId: randomUUIDv7(), ...money }
}

const mailsTo = (address: string) => office.post.all().filter((mail) => mail.envelope.to.includes(address))

describe('order.paid', () => {
  it('is told by one mail with what was bought, for how much, and where it goes', async () => {
    const order = paidOrder()
    await office.bed.bus.publish(orderPaid, order.orderId, order)
    const { parsed } = await office.post.mailTo(order.email)
    expect(parsed.subject).toBe('Your pre-order: Robot Spider')
    for (const fact of [
      'Your payment of $600.00 has arrived.',
      '2 × Robot Spider, $600.00 (pre-order)',
      'Receipt RK-000041',
      "Una D'Arcy & Jo <3",
      '14 Alder Way',
      'Unit 4',
      'Cambridge, MA 02139',
      'We ship it as soon as it is',
      `${siteUrl}/shop/success?reference=${order.orderId}`,
    ]) {
      expect(parsed.text).toContain(fact)
    }
    expect(parsed.html).toContain("Una D'Arcy &amp; Jo &lt;3")
    // The same fact again, under another event.
    await office.bed.bus.publish(orderPaid, order.orderId, order)
    const other = paidOrder({ lines: [{ ...spider, state: 'available' }] })
    await office.bed.bus.publish(orderPaid, other.orderId, other)
    expect((await office.post.mailTo(other.email)).parsed.subject).toBe('Your order: Robot Spider')
    expect(mailsTo(order.email)).toHaveLength(1)
  })

  it('asks for the address where the payment page had none, and stays one line in the headers', async () => {
    const nameless = paidOrder({ shipTo: null })
    await office.bed.bus.publish(orderPaid, nameless.orderId, nameless)
    expect((await office.post.mailTo(nameless.email)).parsed.text).toContain('Please reply with your address.')

    const order = paidOrder()
    const shipTo = { ...order.shipTo!, name: 'Maren\r\nBcc: spy@example.net' }
    await office.bed.bus.publish(orderPaid, order.orderId, { ...order, shipTo })
    const { parsed } = await office.post.mailTo(order.email)
    expect(parsed.bcc).toBeUndefined()
    expect(mailsTo('spy@example.net')).toEqual([])
  })
})

describe('order.refunded', () => {
  it.each([
    [{ refundedTotal: 30_000, paidAmount: 60_000 }, 'We have given back $300.00 of the $600.00 that you paid.'],
    [{ refundedTotal: 60_000, paidAmount: 60_000 }, 'your order is cancelled'],
    [{ refundedTotal: 30_000, paidAmount: 30_000, reason: 'duplicate' as const }, 'Your order was paid twice.'],
    [
      { refundedTotal: 30_000, paidAmount: 30_000, reason: 'amount_mismatch' as const },
      'is not the price of your order',
    ],
    [{ refundedTotal: 30_000, paidAmount: 60_000, again: true }, 'is on its way again'],
    [{ refundedTotal: 60_000, paidAmount: 60_000, again: true, whole: true }, 'your order is cancelled'],
    [{ refundedTotal: 60_000, paidAmount: 60_000, whole: true, shipped: true }, 'your order is returned'],
    [{ refundedTotal: 60_000, paidAmount: 60_000, whole: true, shipped: false }, 'your order is cancelled'],
  ])('with %o says so', async (changes, words) => {
    const order = paidOrder()
    const refund = { ...refundOf(order), ...changes }
    await office.bed.bus.publish(orderRefunded, order.orderId, refund)
    await office.bed.bus.publish(orderRefunded, order.orderId, refund)
    const { parsed } = await office.post.mailTo(order.email)
    expect(parsed.text).toContain(words)
    expect(parsed.text).toContain('$300.00')
    if ('again' in changes) expect(parsed.text).toContain('is on its way again')
    if ('shipped' in changes && changes.shipped) expect(parsed.text).not.toContain('cancelled')
  })

  it('is taken back where the bank did not take it', async () => {
    const order = paidOrder()
    await office.bed.bus.publish(orderRefundFailed, order.orderId, refundOf(order))
    const { parsed } = await office.post.mailTo(order.email)
    expect(parsed.subject).toBe('Your refund of $300.00 did not go through: Robot Spider')
    expect(parsed.text).toContain('We wrote to you that we had refunded $300.00.')
  })

  it('of a second payment that fails before it was told says why it is owed', async () => {
    const order = paidOrder()
    const refund = { ...refundOf(order), reason: 'duplicate' as const, untold: true }
    await office.bed.bus.publish(orderRefundFailed, order.orderId, refund)
    const { parsed } = await office.post.mailTo(order.email)
    expect(parsed.subject).toBe('Your refund of $300.00 did not go through: Robot Spider')
    expect(parsed.text).toContain('Your order was paid twice. You owe it once, and the second payment is yours.')
    expect(parsed.text).not.toContain('We wrote to you')
  })
})

describe('a second payment of an order that is disputed with the bank', () => {
  it('is told as not kept, and as the bank’s to decide about', async () => {
    const order = paidOrder()
    const refund = { ...refundOf(order), reason: 'duplicate' as const, untold: true, disputed: true }
    await office.bed.bus.publish(orderRefundFailed, order.orderId, refund)
    const { parsed } = await office.post.mailTo(order.email)
    expect(parsed.subject).toBe('We did not keep your payment of $300.00: Robot Spider')
    expect(parsed.text).toContain('Your order was paid twice. You owe it once, and the second payment is yours.')
    expect(parsed.text).toContain('While your bank decides, we cannot refund it.')
  })
})

describe('order.shipped', () => {
  it('is told with its tracking number', async () => {
    const { orderId, lines, email, shipTo } = paidOrder()
    const shipment = { orderId, lines, email, shipTo, trackingNumber: '9400 1000', shippedAt: '2026-11-29T00:00:00Z' }
    await office.bed.bus.publish(orderShipped, orderId, shipment)
    const { parsed } = await office.post.mailTo(email)
    expect(parsed.subject).toBe('On its way: Robot Spider')
    expect(parsed.text).toContain('9400 1000')
  })
})

describe('a request for news of a product', () => {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${office.service.url}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as unknown }
  }
  const db = () => office.service.context.db
  /** A product of its own, so that no other test's news are waited for. */
  const product = () => ({ sku: `product:${randomUUIDv7()}`, productName: 'AI Teddy Bear Companion' })
  const somebody = () => `Maren.${randomUUIDv7()}@example.com`
  async function asked(
    about: { sku: string; productName: string },
    email: string,
    state: ProductState = 'coming_soon',
  ) {
    expect(await call('POST', '/notices', { ...about, state, email })).toEqual({ status: 200, body: { asked: true } })
    const rows = await db().select().from(stockAlerts).where(eq(stockAlerts.sku, about.sku))
    return rows.find((row) => row.emailKey === email.toLowerCase())?.id ?? ''
  }
  const changed = (
    { sku, productName: name }: { sku: string; productName: string },
    to: ProductState,
    changedAt = '2026-11-29T00:00:00Z',
  ) => office.bed.bus.publish(productStateChanged, sku, { sku, name, from: 'coming_soon', to, changedAt })
  const status = async (id: string) => stockAlertSchema.parse((await call('GET', `/notices/${id}`)).body).status

  it('asks the address once, however often and in whatever case it is typed', async () => {
    const [about, email] = [product(), somebody()]
    const ids = await Promise.all([asked(about, email), asked(about, email), asked(about, email)])
    expect(await asked(about, email.toUpperCase())).toBe(ids[0])
    const { parsed } = await office.post.mailTo(email)
    expect(parsed.subject).toBe('Shall we tell you about the AI Teddy Bear Companion?')
    expect(parsed.text).toContain(`${siteUrl}/shop/notice?reference=${ids[0]}`)
    const ordered = await db().select().from(mails).where(eq(mails.kind, 'notice_asked'))
    expect(ordered.filter(({ recipient }) => recipient.toLowerCase() === email.toLowerCase())).toHaveLength(1)
    expect(await call('GET', `/notices/${ids[0]}`)).toEqual({ status: 200, body: { ...about, status: 'unconfirmed' } })
  })

  it('asks again a day later where nobody answered, and not where somebody did', async () => {
    const [about, email, patient] = [product(), somebody(), somebody()]
    await asked(about, email)
    const confirmed = await asked(about, patient)
    await call('POST', `/notices/${confirmed}/confirmation`)
    // A mail that is on its way for a day is taken for lost, and sent again.
    for (const address of [email, patient]) await office.post.mailTo(address)
    office.passTime({ hours: 25 })
    await asked(about, email)
    await asked(about, patient)
    await office.post.mailTo(email, 2)
    expect(mailsTo(patient)).toHaveLength(1)
    expect(await status(confirmed)).toBe('confirmed')
  })

  it('tells those who confirmed, once, and nobody else', async () => {
    const about = product()
    const [yes, silent, no] = [somebody(), somebody(), somebody()]
    const yesId = await asked(about, yes)
    await asked(about, silent)
    const noId = await asked(about, no)
    await call('POST', `/notices/${yesId}/confirmation`)
    await call('POST', `/notices/${noId}/confirmation`)
    await call('POST', `/notices/${noId}/removal`)
    await changed(about, 'pre_order')
    await changed(about, 'pre_order')
    const { parsed } = await office.post.mailTo(yes, 2)
    expect(parsed.subject).toBe('The AI Teddy Bear Companion can be pre-ordered now')
    expect(parsed.text).toContain(`${siteUrl}/shop/notice?reference=${yesId}`)
    expect(await status(yesId)).toBe('told')
    // Late clicks change nothing.
    await call('POST', `/notices/${yesId}/confirmation`)
    expect(await status(yesId)).toBe('told')
    const told = await db().select().from(mails).where(eq(mails.kind, 'product_available'))
    expect(told.filter(({ data }) => (data as { productName?: string }).productName && data).length).toBeGreaterThan(0)
    for (const address of [silent, no]) expect(told.some(({ recipient }) => recipient === address)).toBe(false)
    expect(told.filter(({ recipient }) => recipient === yes)).toHaveLength(1)
  })

  it('is told again where the same address asks again and the product comes again', async () => {
    const [about, email] = [product(), somebody()]
    for (const [round, changedAt] of ['2026-11-29T00:00:00Z', '2026-12-20T00:00:00Z'].entries()) {
      const id = await asked(about, email)
      await call('POST', `/notices/${id}/confirmation`)
      await changed(about, 'available', changedAt)
      // The same change once more.
      await changed(about, 'available', changedAt)
      await office.post.mailTo(email, 2 * (round + 1))
      expect(await status(id)).toBe('told')
      office.passTime({ hours: 25 })
    }
    const subjects = office.post.to(email).map(({ parsed }) => parsed.subject)
    expect(subjects.filter((subject) => subject === 'The AI Teddy Bear Companion is here')).toHaveLength(2)
    expect(subjects).toHaveLength(4)
  })

  it('is told to thousands without keeping the news itself from being handled in time', async () => {
    const busy = await openOffice({ CONSUMER_ACK_WAIT_MS: '3000' })
    try {
      // They are to be ordered, which no mail server has a part in.
      await busy.post.close()
      const { sku, productName } = product()
      const { db, clock } = busy.service.context
      const now = clock.now()
      const common = { sku, productName, askedState: 'coming_soon', status: 'confirmed', mailings: 1 } as const
      const people = 5_000
      for (let first = 0; first < people; first += 1_000) {
        await db.insert(stockAlerts).values(
          Array.from({ length: 1_000 }, (_, index) => {
            const email = `waiting.${first + index}@example.com`
            return { ...common, id: randomUUID(), email, emailKey: email, mailedAt: now, changedAt: now }
          }),
        )
      }
      const change = { sku, name: productName, from: 'coming_soon', to: 'available' } as const
      await busy.bed.bus.publish(productStateChanged, sku, { ...change, changedAt: '2026-11-29T00:00:00Z' })
      await eventually(async () => (await db.$count(mails, eq(mails.kind, 'product_available'))) === people, 30_000)
      expect(await db.$count(stockAlerts, eq(stockAlerts.status, 'told'))).toBe(people)
      const metrics = await (await fetch(`${busy.service.url}/metrics`)).text()
      expect(metrics.match(/^events_handled_total.*product-state_changed.*$/gm)).toEqual([
        expect.stringMatching(/outcome="done".* 1$/),
      ])
    } finally {
      await busy.close()
    }
  })

  it('is not over while what was waited for has not come', async () => {
    const [about, email] = [product(), somebody()]
    const id = await asked(about, email, 'pre_order')
    await call('POST', `/notices/${id}/confirmation`)
    await changed(about, 'coming_soon')
    await changed(about, 'pre_order')
    await changed(about, 'available')
    await eventually(async () => (await status(id)) === 'told')
    expect((await office.post.mailTo(email, 2)).parsed.subject).toBe('The AI Teddy Bear Companion is here')
  })

  it('changes nothing by being looked at, and is removed by its link', async () => {
    const id = await asked(product(), somebody())
    for (const method of ['GET', 'GET', 'HEAD']) await fetch(`${office.service.url}/notices/${id}`, { method })
    expect(await status(id)).toBe('unconfirmed')
    expect((await call('POST', `/notices/${id}/removal`)).body).toMatchObject({ status: 'removed' })
    expect((await call('POST', `/notices/${id}/removal`)).status).toBe(200)
    expect((await call('GET', `/notices/${randomUUIDv7()}`)).status).toBe(404)
    expect((await call('GET', '/notices/1')).status).toBe(400)
  })

  it('is not asked again of an address that said no, whoever types it in and however long they go on', async () => {
    const [about, email] = [product(), somebody()]
    const id = await asked(about, email)
    await office.post.mailTo(email)
    await call('POST', `/notices/${id}/removal`)
    for (let weeks = 0; weeks < 6; weeks += 1) {
      office.passTime({ hours: 7 * 24 })
      expect(await asked(about, email.toUpperCase())).toBe(id)
      expect(await status(id)).toBe('removed')
    }
    await changed(about, 'available')
    // What was ordered before this one has been.
    const [other, witness] = [product(), somebody()]
    await asked(other, witness)
    await office.post.mailTo(witness)
    expect(mailsTo(email)).toHaveLength(1)
  })

  it('is asked again of an address that said no where its own account asks, or says yes on the page of its mail', async () => {
    const [about, email] = [product(), somebody()]
    const id = await asked(about, email)
    await office.post.mailTo(email)
    await call('POST', `/notices/${id}/removal`)
    office.passTime({ hours: 25 })
    const own = { ...about, state: 'coming_soon', email, isProven: true }
    expect(await call('POST', '/notices', own)).toEqual({ status: 200, body: { asked: true } })
    expect(await status(id)).toBe('unconfirmed')
    await office.post.mailTo(email, 2)
    await call('POST', `/notices/${id}/removal`)
    expect((await call('POST', `/notices/${id}/confirmation`)).body).toMatchObject({ status: 'confirmed' })
  })

  it('is asked for in the same time, whether or not an address gets news already, so that nobody learns it', async () => {
    const [about, unknown, waiting] = [product(), somebody(), somebody()]
    const id = await asked(about, waiting)
    await call('POST', `/notices/${id}/confirmation`)
    for (const email of [unknown, waiting]) {
      const begun = performance.now()
      await asked(about, email)
      expect(performance.now() - begun).toBeGreaterThan(95)
    }
  })

  it('is forgotten after a month where it is not confirmed', async () => {
    const about = product()
    const gone = await asked(about, somebody())
    const kept = await asked(about, somebody())
    await call('POST', `/notices/${kept}/confirmation`)
    office.passTime({ hours: 31 * 24 })
    await eventually(async () => (await call('GET', `/notices/${gone}`)).status === 404)
    expect(await status(kept)).toBe('confirmed')
  })

  it('answers 400 to what it cannot read', async () => {
    const good = { ...product(), state: 'coming_soon', email: somebody() }
    for (const wrong of [
      { email: 'maren' },
      { email: 'a@b.example\r\nBcc: c@d.example' },
      { sku: 'x y' },
      { state: '' },
    ]) {
      expect((await call('POST', '/notices', { ...good, ...wrong })).status).toBe(400)
    }
  })
})
