import { randomUUIDv7 } from 'node:crypto'
import { messageSentSchema } from '@robokids/contracts/contact'
import { errorBodySchema } from '@robokids/contracts/errors'
import { checkoutResponseSchema, orderSchema, robotSpider, shopViewSchema, teddyBear } from '@robokids/contracts/shop'
import { Stripe } from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { startSystem, type System } from './src/system.ts'

let system: System
let stripe: Stripe
beforeAll(async () => {
  system = await startSystem({ bff: { RATE_LIMIT_NOTICES: '12' } })
  stripe = new Stripe('sk_test_dashboard', { ...system.simulator.sdk, telemetry: false })
})
afterAll(() => system.stop())

const items = [{ sku: robotSpider, quantity: 1 }]
const get = async (path: string) => {
  const answer = await fetch(system.siteUrl + path)
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as unknown }
}
async function placed(orderId: string = randomUUIDv7()) {
  const answer = await system.post('/api/checkout', { orderId, items })
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return checkoutResponseSchema.parse(answer.body)
}
const order = async (orderId: string) => orderSchema.parse((await get(`/api/orders/${orderId}`)).body)

async function payAs(checkoutUrl: string, email: string) {
  const sessionId = new URL(checkoutUrl).pathname.split('/').at(-1)
  return fetch(`${system.simulator.url}/_sim/checkout/${sessionId}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ card: '4242424242424242', email }),
  })
}

describe('GET /api/shop', () => {
  it('The shop lists the products with their states, and the lowest class price', async () => {
    const view = shopViewSchema.parse((await get('/api/shop')).body)
    expect(view.classesFrom).toEqual({ amount: 40_000, currency: 'usd' })
    expect(view.products.map(({ sku, state, amount }) => [sku, state, amount])).toEqual([
      [teddyBear, 'coming_soon', 15_000],
      [robotSpider, 'pre_order', 30_000],
    ])
  })
})

describe('Orders', () => {
  it('An order’s page shows the truth while it is bought, mailed and refunded', async () => {
    const email = `maren.${randomUUIDv7()}@example.com`
    const { orderId, checkoutUrl } = await placed()
    expect(checkoutUrl.startsWith(system.simulator.url)).toBe(true)
    expect(await order(orderId)).toMatchObject({ status: 'unpaid', amount: 30_000, email: null })
    await payAs(checkoutUrl, email)
    // A returning buyer finds it paid, with or without a webhook.
    expect(await order(orderId)).toMatchObject({ status: 'paid', email, shipTo: { zipCode: '94401' } })
    expect((await placed(orderId)).checkoutUrl).toBe(`${system.siteUrl}/shop/success?reference=${orderId}`)
    const confirmation = await eventually(async () => {
      const [mail] = await system.mailsTo(email)
      if (!mail) throw new Error('No mail yet.')
      return mail
    })
    expect(confirmation.subject).toBe('Your pre-order: Robot Spider')
    for (const fact of ['1 × Robot Spider, $300.00 (pre-order)', '14 Alder Way', 'San Mateo, CA 94401']) {
      expect(confirmation.text).toContain(fact)
    }

    const sessions = await stripe.checkout.sessions.list({ limit: 100 })
    const session = sessions.data.find((one) => one.client_reference_id === orderId)
    const intent = session?.payment_intent as string
    await stripe.refunds.create({ payment_intent: intent, amount: 12_050 })
    await eventually(async () => (await order(orderId)).refunds.length === 1)
    expect(await order(orderId)).toMatchObject({ status: 'paid', refunds: [{ amount: 12_050, status: 'succeeded' }] })
    await stripe.refunds.create({ payment_intent: intent })
    await eventually(async () => (await order(orderId)).status === 'refunded')
    await eventually(async () => (await system.mailsTo(email)).length === 3)
    const subjects = (await system.mailsTo(email)).map((mail) => mail.subject)
    expect(subjects.toSorted()).toEqual([
      'Refund of $120.50: Robot Spider',
      'Refund of $179.50: Robot Spider',
      'Your pre-order: Robot Spider',
    ])
  })

  it('Pressing the button repeatedly makes one order', async () => {
    const orderId = randomUUIDv7()
    const before = await system.atProvider()
    const answers = await Promise.all(Array.from({ length: 6 }, () => placed(orderId)))
    expect(new Set(answers.map(({ checkoutUrl }) => checkoutUrl)).size).toBe(1)
    expect((await system.atProvider()).sessions).toBe(before.sessions + 1)
  })

  it('An order survives billing being killed while it is paid', async () => {
    const email = `maren.${randomUUIDv7()}@example.com`
    const { orderId, checkoutUrl } = await placed()
    await system.processes.billing.kill()
    await payAs(checkoutUrl, email)
    expect((await get(`/api/orders/${orderId}`)).status).toBe(503)
    await system.processes.billing.start()
    await eventually(async () => (await order(orderId)).status === 'paid')
    await eventually(async () => (await system.mailsTo(email)).length === 1)
  })

  it('An invalid order is rejected with a message, and leaves nothing behind', async () => {
    const orderId = randomUUIDv7()
    const [before] = await system.sql('billing')`select (select count(*)::int from orders) as orders,
      (select count(*)::int from checkout_attempts) as attempts`
    const wrong: [unknown, number, string][] = [
      [{ orderId, items: [] }, 400, 'validation_failed'],
      [{ orderId, items: [{ sku: robotSpider, quantity: 0 }] }, 400, 'validation_failed'],
      [{ orderId, items: [{ sku: robotSpider, quantity: 11 }] }, 400, 'validation_failed'],
      [{ orderId, items: [{ sku: robotSpider, quantity: '1' }] }, 400, 'validation_failed'],
      [{ orderId, items: [...items, ...items] }, 400, 'validation_failed'],
      [{ orderId: 'mine', items }, 400, 'validation_failed'],
      [{ items }, 400, 'validation_failed'],
      [[], 400, 'validation_failed'],
      [{ orderId, items: [{ sku: teddyBear, quantity: 1 }] }, 409, 'product_not_for_sale'],
      [{ orderId, items: [{ sku: 'class:basic', quantity: 1 }] }, 409, 'product_not_for_sale'],
    ]
    for (const [body, status, code] of wrong) {
      const answer = await system.post('/api/checkout', body)
      expect([answer.status, errorBodySchema.parse(answer.body).code]).toEqual([status, code])
    }
    for (const reference of ['1', randomUUIDv7(), '%00', "'--"]) {
      expect((await get(`/api/orders/${reference}`)).status).toBe(404)
    }
    const [after] = await system.sql('billing')`select (select count(*)::int from orders) as orders,
      (select count(*)::int from checkout_attempts) as attempts`
    expect(after).toEqual(before)
  })

  it('An order is shown to anybody with its reference, and not cached', async () => {
    const { orderId } = await placed()
    expect((await get(`/api/orders/${orderId}`)).headers.get('cache-control')).toBe('no-store')
  })
})

describe('Back-in-stock alerts', () => {
  it('A back-in-stock alert is confirmed, and removed, on the page that its mail links to', async () => {
    const email = `maren.${randomUUIDv7()}@example.com`
    for (let time = 0; time < 3; time++) {
      const answer = await system.post('/api/shop/notices', { sku: teddyBear, email })
      expect(answer).toEqual({ status: 200, body: { asked: true } })
    }
    const mail = await eventually(async () => {
      const [first] = await system.mailsTo(email)
      if (!first) throw new Error('No mail yet.')
      return first
    })
    const reference = /reference=([\w-]+)/.exec(mail.text ?? '')?.[1] ?? ''
    const path = `/api/shop/notices/${reference}`
    expect((await get(path)).body).toMatchObject({ status: 'unconfirmed', productName: 'AI Teddy Bear Companion' })
    expect((await system.post(`${path}/confirmation`, {})).body).toMatchObject({ status: 'confirmed' })
    expect((await system.post(`${path}/removal`, {})).body).toMatchObject({ status: 'removed' })
    expect((await get('/api/shop/notices/unknown')).status).toBe(404)
    expect(await system.mailsTo(email)).toHaveLength(1)
  })

  it('A back-in-stock alert is rejected for an available product, and when one network asks too often', async () => {
    const email = `maren.${randomUUIDv7()}@example.com`
    for (const sku of ['class:basic', 'product:unheard-of']) {
      const answer = await system.post('/api/shop/notices', { sku, email })
      expect([answer.status, errorBodySchema.parse(answer.body).code]).toEqual([409, 'product_not_awaited'])
    }
    expect((await system.post('/api/shop/notices', { sku: teddyBear, email: 'maren' })).status).toBe(400)
    const statuses: number[] = []
    for (let time = 0; time < 14; time++) {
      statuses.push((await system.post('/api/shop/notices', { sku: teddyBear, email: `${time}.${email}` })).status)
    }
    expect(statuses.at(-1)).toBe(429)
    expect((await system.post('/api/checkout', { orderId: randomUUIDv7(), items })).status).toBe(200)
  })
})

describe('Contact messages', () => {
  it('A contact message reaches the school’s mailbox once, with the number that its writer was given, and nobody else’s', async () => {
    const id = randomUUIDv7()
    const email = `maren.${id}@example.com`
    const message = { id, name: 'Maren Holt', email, topic: 'kit', message: 'The servo is missing.' }
    const [first, again] = [await system.post('/api/contact', message), await system.post('/api/contact', message)]
    const { reference } = messageSentSchema.parse(first.body)
    expect(again).toEqual({ status: 200, body: { reference } })
    const received = await eventually(async () => {
      const all = await system.mailsTo('hello@robokidslearning.example')
      return all.find(({ subject }) => subject.startsWith(reference))
    })
    expect(received.text).toContain('> The servo is missing.')
    expect(await system.post('/api/contact', { ...message, message: 'Another.' })).toMatchObject({ status: 409 })
    expect(await system.mailsTo(email)).toEqual([])
  })
})
