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
import { startNotifications, siteUrl, type NotificationsFixture } from './fixture.ts'

let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications()
})
afterAll(() => fixture.close())

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

const mailsTo = (address: string) => fixture.smtp.all().filter((mail) => mail.envelope.to.includes(address))

describe('order.paid', () => {
  it('sends one mail with items, price and address', async () => {
    const order = paidOrder()
    await fixture.bed.bus.publish(orderPaid, order.orderId, order)
    const { parsed } = await fixture.smtp.mailTo(order.email)
    expect(parsed.subject).toBe('Your pre-order: Robot Spider')
    for (const fact of [
      'We received your payment of $600.00.',
      '2 × Robot Spider, $600.00 (pre-order)',
      'Receipt RK-000041',
      "Una D'Arcy & Jo <3",
      '14 Alder Way',
      'Unit 4',
      'Cambridge, MA 02139',
      'We’ll ship it as soon as it’s ready',
      `${siteUrl}/shop/success?reference=${order.orderId}`,
    ]) {
      expect(parsed.text).toContain(fact)
    }
    expect(parsed.html).toContain("Una D'Arcy &amp; Jo &lt;3")
    // The same fact again, under another event.
    await fixture.bed.bus.publish(orderPaid, order.orderId, order)
    const other = paidOrder({ lines: [{ ...spider, state: 'available' }] })
    await fixture.bed.bus.publish(orderPaid, other.orderId, other)
    expect((await fixture.smtp.mailTo(other.email)).parsed.subject).toBe('Your order: Robot Spider')
    expect(mailsTo(order.email)).toHaveLength(1)
  })

  it('asks for a missing address, and keeps a name with line breaks on one header line', async () => {
    const nameless = paidOrder({ shipTo: null })
    await fixture.bed.bus.publish(orderPaid, nameless.orderId, nameless)
    expect((await fixture.smtp.mailTo(nameless.email)).parsed.text).toContain('Please reply with it.')

    const order = paidOrder()
    const shipTo = { ...order.shipTo!, name: 'Maren\r\nBcc: spy@example.net' }
    await fixture.bed.bus.publish(orderPaid, order.orderId, { ...order, shipTo })
    const { parsed } = await fixture.smtp.mailTo(order.email)
    expect(parsed.bcc).toBeUndefined()
    expect(mailsTo('spy@example.net')).toEqual([])
  })
})

describe('order.refunded', () => {
  it.each([
    [{ refundedTotal: 30_000, paidAmount: 60_000 }, 'We refunded $300.00 of the $600.00 you paid.'],
    [{ refundedTotal: 60_000, paidAmount: 60_000 }, 'your order is canceled'],
    [
      { refundedTotal: 30_000, paidAmount: 30_000, reason: 'duplicate' as const },
      'Your order was paid twice, so we refunded the second payment in full.',
    ],
    [
      { refundedTotal: 30_000, paidAmount: 30_000, reason: 'amount_mismatch' as const },
      'didn’t match the price of your order',
    ],
    [{ refundedTotal: 30_000, paidAmount: 60_000, again: true }, 'is on its way again'],
    [{ refundedTotal: 60_000, paidAmount: 60_000, again: true, whole: true }, 'your order is canceled'],
    [{ refundedTotal: 60_000, paidAmount: 60_000, whole: true, shipped: true }, 'your order is returned'],
    [{ refundedTotal: 60_000, paidAmount: 60_000, whole: true, shipped: false }, 'your order is canceled'],
  ])('sends a mail that explains %o', async (changes, words) => {
    const order = paidOrder()
    const refund = { ...refundOf(order), ...changes }
    await fixture.bed.bus.publish(orderRefunded, order.orderId, refund)
    await fixture.bed.bus.publish(orderRefunded, order.orderId, refund)
    const { parsed } = await fixture.smtp.mailTo(order.email)
    expect(parsed.text).toContain(words)
    expect(parsed.text).toContain('$300.00')
    if ('again' in changes) expect(parsed.text).toContain('is on its way again')
    if ('shipped' in changes && changes.shipped) expect(parsed.text).not.toContain('canceled')
  })

  it('is followed by a mail if the refund failed at the bank', async () => {
    const order = paidOrder()
    await fixture.bed.bus.publish(orderRefundFailed, order.orderId, refundOf(order))
    const { parsed } = await fixture.smtp.mailTo(order.email)
    expect(parsed.subject).toBe('Your refund of $300.00 did not go through: Robot Spider')
    expect(parsed.text).toContain('We told you that we had refunded $300.00.')
  })

  it('of a duplicate payment is explained if it fails before any mail about it', async () => {
    const order = paidOrder()
    const refund = { ...refundOf(order), reason: 'duplicate' as const, untold: true }
    await fixture.bed.bus.publish(orderRefundFailed, order.orderId, refund)
    const { parsed } = await fixture.smtp.mailTo(order.email)
    expect(parsed.subject).toBe('Your refund of $300.00 did not go through: Robot Spider')
    expect(parsed.text).toContain('Your order was paid twice, and you owe only one of the payments.')
    expect(parsed.text).not.toContain('We told you')
  })
})

describe('a disputed duplicate payment of an order', () => {
  it('is announced as not kept, with the refund depending on the bank', async () => {
    const order = paidOrder()
    const refund = { ...refundOf(order), reason: 'duplicate' as const, untold: true, disputed: true }
    await fixture.bed.bus.publish(orderRefundFailed, order.orderId, refund)
    const { parsed } = await fixture.smtp.mailTo(order.email)
    expect(parsed.subject).toBe('We couldn’t accept your payment of $300.00: Robot Spider')
    expect(parsed.text).toContain('Your order was paid twice, and you owe only one of the payments.')
    expect(parsed.text).toContain('We can’t refund it until your bank decides.')
  })
})

describe('order.shipped', () => {
  it('sends a mail with the tracking number', async () => {
    const { orderId, lines, email, shipTo } = paidOrder()
    const shipment = { orderId, lines, email, shipTo, trackingNumber: '9400 1000', shippedAt: '2026-11-29T00:00:00Z' }
    await fixture.bed.bus.publish(orderShipped, orderId, shipment)
    const { parsed } = await fixture.smtp.mailTo(email)
    expect(parsed.subject).toBe('On its way: Robot Spider')
    expect(parsed.text).toContain('9400 1000')
  })
})

describe('a request for a stock alert', () => {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${fixture.service.url}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as unknown }
  }
  const db = () => fixture.service.context.db
  /** Returns a new product, so that tests do not share alerts. */
  const product = () => ({ sku: `product:${randomUUIDv7()}`, productName: 'AI Teddy Bear Companion' })
  const newAddress = () => `Maren.${randomUUIDv7()}@example.com`
  async function requestAlert(
    about: { sku: string; productName: string },
    email: string,
    state: ProductState = 'coming_soon',
  ) {
    expect(await call('POST', '/notices', { ...about, state, email })).toEqual({ status: 200, body: { asked: true } })
    const rows = await db().select().from(stockAlerts).where(eq(stockAlerts.sku, about.sku))
    return rows.find((row) => row.emailKey === email.toLowerCase())?.id ?? ''
  }
  const publishChange = (
    { sku, productName: name }: { sku: string; productName: string },
    to: ProductState,
    changedAt = '2026-11-29T00:00:00Z',
  ) => fixture.bed.bus.publish(productStateChanged, sku, { sku, name, from: 'coming_soon', to, changedAt })
  const status = async (id: string) => stockAlertSchema.parse((await call('GET', `/notices/${id}`)).body).status

  it('sends one confirmation mail, however often and in whatever case the address is typed', async () => {
    const [about, email] = [product(), newAddress()]
    const ids = await Promise.all([requestAlert(about, email), requestAlert(about, email), requestAlert(about, email)])
    expect(await requestAlert(about, email.toUpperCase())).toBe(ids[0])
    const { parsed } = await fixture.smtp.mailTo(email)
    expect(parsed.subject).toBe('Do you want an alert for the AI Teddy Bear Companion?')
    expect(parsed.text).toContain(`${siteUrl}/shop/notice?reference=${ids[0]}`)
    const ordered = await db().select().from(mails).where(eq(mails.kind, 'notice_asked'))
    expect(ordered.filter(({ recipient }) => recipient.toLowerCase() === email.toLowerCase())).toHaveLength(1)
    expect(await call('GET', `/notices/${ids[0]}`)).toEqual({ status: 200, body: { ...about, status: 'unconfirmed' } })
  })

  it('sends another confirmation mail after a day only if it was not confirmed', async () => {
    const [about, email, patient] = [product(), newAddress(), newAddress()]
    await requestAlert(about, email)
    const confirmed = await requestAlert(about, patient)
    await call('POST', `/notices/${confirmed}/confirmation`)
    // A mail still being sent would be sent again when the clock is advanced by a day.
    for (const address of [email, patient]) await fixture.smtp.mailTo(address)
    fixture.advanceTime({ hours: 25 })
    await requestAlert(about, email)
    await requestAlert(about, patient)
    await fixture.smtp.mailTo(email, 2)
    expect(mailsTo(patient)).toHaveLength(1)
    expect(await status(confirmed)).toBe('confirmed')
  })

  it('results in one alert only if it was confirmed', async () => {
    const about = product()
    const [yes, silent, no] = [newAddress(), newAddress(), newAddress()]
    const yesId = await requestAlert(about, yes)
    await requestAlert(about, silent)
    const noId = await requestAlert(about, no)
    await call('POST', `/notices/${yesId}/confirmation`)
    await call('POST', `/notices/${noId}/confirmation`)
    await call('POST', `/notices/${noId}/removal`)
    await publishChange(about, 'pre_order')
    await publishChange(about, 'pre_order')
    const { parsed } = await fixture.smtp.mailTo(yes, 2)
    expect(parsed.subject).toBe('The AI Teddy Bear Companion can be pre-ordered now')
    expect(parsed.text).toContain(`${siteUrl}/shop/notice?reference=${yesId}`)
    expect(await status(yesId)).toBe('told')
    // A late confirmation has no effect.
    await call('POST', `/notices/${yesId}/confirmation`)
    expect(await status(yesId)).toBe('told')
    const alerts = await db().select().from(mails).where(eq(mails.kind, 'product_available'))
    expect(alerts.filter(({ data }) => (data as { productName?: string }).productName && data).length).toBeGreaterThan(
      0,
    )
    for (const address of [silent, no]) expect(alerts.some(({ recipient }) => recipient === address)).toBe(false)
    expect(alerts.filter(({ recipient }) => recipient === yes)).toHaveLength(1)
  })

  it('results in another alert if the address requests it again and the product becomes available again', async () => {
    const [about, email] = [product(), newAddress()]
    for (const [round, changedAt] of ['2026-11-29T00:00:00Z', '2026-12-20T00:00:00Z'].entries()) {
      const id = await requestAlert(about, email)
      await call('POST', `/notices/${id}/confirmation`)
      await publishChange(about, 'available', changedAt)
      // The same change again.
      await publishChange(about, 'available', changedAt)
      await fixture.smtp.mailTo(email, 2 * (round + 1))
      expect(await status(id)).toBe('told')
      fixture.advanceTime({ hours: 25 })
    }
    const subjects = fixture.smtp.to(email).map(({ parsed }) => parsed.subject)
    expect(subjects.filter((subject) => subject === 'The AI Teddy Bear Companion is here')).toHaveLength(2)
    expect(subjects).toHaveLength(4)
  })

  it('can be made by thousands without delaying the handling of the product event', async () => {
    const busy = await startNotifications({ CONSUMER_ACK_WAIT_MS: '3000' })
    try {
      // Only enqueuing is tested.
      await busy.smtp.close()
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

  it('stays open until the product reaches the requested state', async () => {
    const [about, email] = [product(), newAddress()]
    const id = await requestAlert(about, email, 'pre_order')
    await call('POST', `/notices/${id}/confirmation`)
    await publishChange(about, 'coming_soon')
    await publishChange(about, 'pre_order')
    await publishChange(about, 'available')
    await eventually(async () => (await status(id)) === 'told')
    expect((await fixture.smtp.mailTo(email, 2)).parsed.subject).toBe('The AI Teddy Bear Companion is here')
  })

  it('is not changed by reading it, and can be removed by its link', async () => {
    const id = await requestAlert(product(), newAddress())
    for (const method of ['GET', 'GET', 'HEAD']) await fetch(`${fixture.service.url}/notices/${id}`, { method })
    expect(await status(id)).toBe('unconfirmed')
    expect((await call('POST', `/notices/${id}/removal`)).body).toMatchObject({ status: 'removed' })
    expect((await call('POST', `/notices/${id}/removal`)).status).toBe(200)
    expect((await call('GET', `/notices/${randomUUIDv7()}`)).status).toBe(404)
    expect((await call('GET', '/notices/1')).status).toBe(400)
  })

  it('sends no more mails to an address that was removed, however often it is typed', async () => {
    const [about, email] = [product(), newAddress()]
    const id = await requestAlert(about, email)
    await fixture.smtp.mailTo(email)
    await call('POST', `/notices/${id}/removal`)
    for (let weeks = 0; weeks < 6; weeks += 1) {
      fixture.advanceTime({ hours: 7 * 24 })
      expect(await requestAlert(about, email.toUpperCase())).toBe(id)
      expect(await status(id)).toBe('removed')
    }
    await publishChange(about, 'available')
    // Mails enqueued before this one have been sent when it arrives.
    const [other, witness] = [product(), newAddress()]
    await requestAlert(other, witness)
    await fixture.smtp.mailTo(witness)
    expect(mailsTo(email)).toHaveLength(1)
  })

  it('can be renewed after removal by the account with the verified address or on the page of the mail', async () => {
    const [about, email] = [product(), newAddress()]
    const id = await requestAlert(about, email)
    await fixture.smtp.mailTo(email)
    await call('POST', `/notices/${id}/removal`)
    fixture.advanceTime({ hours: 25 })
    const own = { ...about, state: 'coming_soon', email, isProven: true }
    expect(await call('POST', '/notices', own)).toEqual({ status: 200, body: { asked: true } })
    expect(await status(id)).toBe('unconfirmed')
    await fixture.smtp.mailTo(email, 2)
    await call('POST', `/notices/${id}/removal`)
    expect((await call('POST', `/notices/${id}/confirmation`)).body).toMatchObject({ status: 'confirmed' })
  })

  it('takes the same time whether or not the address has an alert already', async () => {
    const [about, unknown, waiting] = [product(), newAddress(), newAddress()]
    const id = await requestAlert(about, waiting)
    await call('POST', `/notices/${id}/confirmation`)
    for (const email of [unknown, waiting]) {
      const begun = performance.now()
      await requestAlert(about, email)
      expect(performance.now() - begun).toBeGreaterThan(95)
    }
  })

  it('is deleted after a month if it was not confirmed', async () => {
    const about = product()
    const gone = await requestAlert(about, newAddress())
    const kept = await requestAlert(about, newAddress())
    await call('POST', `/notices/${kept}/confirmation`)
    fixture.advanceTime({ hours: 31 * 24 })
    await eventually(async () => (await call('GET', `/notices/${gone}`)).status === 404)
    expect(await status(kept)).toBe('confirmed')
  })

  it('responds 400 to invalid input', async () => {
    const good = { ...product(), state: 'coming_soon', email: newAddress() }
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
