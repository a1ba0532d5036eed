import { randomUUIDv7 } from 'node:crypto'
import { orderSchema, robotSpider, type Order } from '@robokids/contracts/shop'
import { testBed } from '@robokids/test/bed'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, messageOf, BillingFixture, type Answer } from '../fixture.ts'

let fixture: BillingFixture
beforeAll(async () => {
  fixture = await BillingFixture.start(await testBed(), {
    env: { UNPAID_ORDERS_PER_BUYER: '3', UNPAID_ORDERS_PER_NETWORK: '5' },
  })
})
afterAll(() => fixture.close())

let networks = 0
/** A new buyer with their own network. */
const buyer = () => ({ browserId: randomUUIDv7(), network: `2001:db8:${(networks += 1).toString(16)}::/48` })
const body = (differences: object) => ({
  orderId: randomUUIDv7(),
  items: [{ sku: robotSpider, quantity: 1 }],
  ...buyer(),
  ...differences,
})
const begin = (differences: object): Promise<Answer> => fixture.call('POST', '/orders', body(differences))
async function begun(differences: object): Promise<Order> {
  const answer = await begin(differences)
  expect(answer.status).toBe(200)
  return orderSchema.parse(answer.body)
}
const refused = { status: 429, body: { code: 'too_many_unpaid' } }

describe('the limit of unpaid orders', () => {
  it.each([
    ['a browser', { browserId: randomUUIDv7() }, 3],
    ['an account, in any browsers', { ownerId: randomUUIDv7() }, 3],
    ['a network shared by several buyers', { network: '198.51.100.0/24' }, 5],
  ])('rejects further ones of %s without creating a session', async (_scope, common, limit) => {
    const orders: Order[] = []
    for (let nth = 0; nth < limit; nth += 1) orders.push(await begun(common))
    const one = body(common)
    const answer = await fixture.call('POST', '/orders', one)
    expect(answer).toMatchObject(refused)
    expect(messageOf(answer)).toMatch(/ unpaid orders\b.*try again in 3[01] minutes/)
    expect(await fixture.sessions(one.orderId)).toEqual([])
    expect((await fixture.call('GET', `/orders/${one.orderId}`)).status).toBe(404)
    // Existing orders can be continued, and other buyers are not affected.
    const [first] = orders
    expect(await begun({ ...common, orderId: first?.orderId })).toMatchObject({ checkout: first?.checkout })
    await begun({})
  })

  it('no longer counts orders that are paid or closed', async () => {
    const own = buyer()
    const [first, second] = [await begun(own), await begun(own), await begun(own)]
    expect(await begin(own)).toMatchObject(refused)
    await fixture.pay({ checkoutUrl: first.checkout.url })
    await fixture.refresh(`/orders/${first.orderId}`)
    await begun(own)
    expect(await begin(own)).toMatchObject(refused)
    await fixture.service.context.db.execute(sql`
      update checkout_attempts set expires_at = now() - interval '1 second' where registration_id = ${second.orderId}`)
    await begun(own)
  })

  it('counts a cart once, however often it is changed', async () => {
    const own = buyer()
    const first = await begun(own)
    await begun(own)
    await begun(own)
    for (let quantity = 2; quantity < 6; quantity += 1) {
      await begun({ ...own, items: [{ sku: robotSpider, quantity }], replaces: first.orderId })
    }
    expect(await begin(own)).toMatchObject(refused)
  })

  it('holds under concurrent requests', async () => {
    const own = buyer()
    const answers = await Promise.all(Array.from({ length: 12 }, () => begin(own)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(new Set(answers.filter(({ status }) => status !== 200).map(codeOf))).toEqual(new Set(['too_many_unpaid']))
  })

  it('does not apply to a BFF of the previous version, which sends no network', async () => {
    const { browserId } = buyer()
    for (let nth = 0; nth < 5; nth += 1)
      expect(await begin({ browserId, network: undefined })).toMatchObject({ status: 200 })
  })
})
