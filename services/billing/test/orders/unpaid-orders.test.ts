import { randomUUIDv7 } from 'node:crypto'
import { orderSchema, robotSpider, type Order } from '@robokids/contracts/shop'
import { testBed } from '@robokids/test/bed'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, messageOf, Till, type Answer } from '../till.ts'

let till: Till
beforeAll(async () => {
  till = await Till.open(await testBed(), {
    env: { UNPAID_ORDERS_PER_BUYER: '3', UNPAID_ORDERS_PER_NETWORK: '5' },
  })
})
afterAll(() => till.close())

let networks = 0
/** Somebody whom nobody has seen before, with their own network. */
const buyer = () => ({ browserId: randomUUIDv7(), network: `2001:db8:${(networks += 1).toString(16)}::/48` })
const body = (differences: object) => ({
  orderId: randomUUIDv7(),
  items: [{ sku: robotSpider, quantity: 1 }],
  ...buyer(),
  ...differences,
})
const begin = (differences: object): Promise<Answer> => till.call('POST', '/orders', body(differences))
async function begun(differences: object): Promise<Order> {
  const answer = await begin(differences)
  expect(answer.status).toBe(200)
  return orderSchema.parse(answer.body)
}
const refused = { status: 429, body: { code: 'too_many_unpaid' } }

describe('orders that are begun and not paid', () => {
  it.each([
    ['a browser', { browserId: randomUUIDv7() }, 3],
    ['an account, in whatever browsers', { ownerId: randomUUIDv7() }, 3],
    ['a network, whoever is in it', { network: '198.51.100.0/24' }, 5],
  ])('are limited for %s, without a page at the provider for what is refused', async (_whose, common, most) => {
    const orders: Order[] = []
    for (let nth = 0; nth < most; nth += 1) orders.push(await begun(common))
    const one = body(common)
    const answer = await till.call('POST', '/orders', one)
    expect(answer).toMatchObject(refused)
    expect(messageOf(answer)).toMatch(/ not paid yet\b.*try again in 3[01] minutes/)
    expect(await till.sessions(one.orderId)).toEqual([])
    expect((await till.call('GET', `/orders/${one.orderId}`)).status).toBe(404)
    // What is begun can be gone on with, and others are not kept from theirs.
    const [first] = orders
    expect(await begun({ ...common, orderId: first?.orderId })).toMatchObject({ checkout: first?.checkout })
    await begun({})
  })

  it('make room once they are paid, or can be paid no more', async () => {
    const own = buyer()
    const [first, second] = [await begun(own), await begun(own), await begun(own)]
    expect(await begin(own)).toMatchObject(refused)
    await till.pay({ checkoutUrl: first.checkout.url })
    await till.refresh(`/orders/${first.orderId}`)
    await begun(own)
    expect(await begin(own)).toMatchObject(refused)
    await till.service.context.db.execute(sql`
      update checkout_attempts set expires_at = now() - interval '1 second' where registration_id = ${second.orderId}`)
    await begun(own)
  })

  it('are one for a cart, however often it is changed', async () => {
    const own = buyer()
    const first = await begun(own)
    await begun(own)
    await begun(own)
    for (let quantity = 2; quantity < 6; quantity += 1) {
      await begun({ ...own, items: [{ sku: robotSpider, quantity }], replaces: first.orderId })
    }
    expect(await begin(own)).toMatchObject(refused)
  })

  it('are counted one after the other where many are begun at once', async () => {
    const own = buyer()
    const answers = await Promise.all(Array.from({ length: 12 }, () => begin(own)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(new Set(answers.filter(({ status }) => status !== 200).map(codeOf))).toEqual(new Set(['too_many_unpaid']))
  })

  it('are not limited for a BFF of the version before, which tells no network', async () => {
    const { browserId } = buyer()
    for (let nth = 0; nth < 5; nth += 1)
      expect(await begin({ browserId, network: undefined })).toMatchObject({ status: 200 })
  })
})
