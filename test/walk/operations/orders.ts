import { randomUUIDv7 } from 'node:crypto'
import { orderTerms } from '@robokids/contracts/offers'
import { robotSpider, teddyBear } from '@robokids/contracts/products'
import { productsSchema, type OrderItem } from '@robokids/contracts/shop'
import * as fc from 'fast-check'
import type { Browser } from '../browser.ts'
import { operation, pick } from '../operation.ts'
import { openedPage, sessionAt } from '../pages.ts'
import { Violation } from '../violation.ts'
import type { Family, Walk } from '../walk.ts'

const which = fc.nat(7)
const skus = [robotSpider, teddyBear]

/** The terms that the cart shows. */
async function shown(walk: Walk, items: OrderItem[], fresh: boolean) {
  const answer = await walk.operate('billing', 'GET', '/products')
  const products = answer.status === 200 ? productsSchema.parse(answer.body).products : []
  const lines = items.map(({ sku, quantity }) => {
    const now = products.find((product) => product.sku === sku)?.amount ?? 0
    const unitAmount = fresh ? now : (walk.pricesSeen.get(sku) ?? now)
    walk.pricesSeen.set(sku, unitAmount)
    return { sku, quantity, unitAmount }
  })
  return orderTerms(lines)
}

interface Cart {
  family: Family
  browser: Browser
  id: string
  items: OrderItem[]
  cart: string
  replaces?: string
  fresh?: boolean
}

async function send(walk: Walk, { family, browser, id, items, cart, replaces, fresh = true }: Cart) {
  const by = walk.asker(browser)
  const owner = by.account
  const body = { orderId: id, items, ...(replaces === undefined ? {} : { replaces }) }
  const answer = await walk.agree(
    'an order',
    await shown(walk, items, fresh),
    (agreed) => walk.ask(browser, 'POST', '/api/checkout', { ...body, agreed }),
    () => shown(walk, items, true),
  )
  if (answer.status !== 200) return answer
  let ordered = walk.orders.find((order) => order.id === id)
  if (!ordered) {
    ordered = { kind: 'order', by, id, family, items, cart, owner }
    walk.orders.push(ordered)
  }
  openedPage(walk, ordered, String(answer.body['checkoutUrl']), browser, answer.agreed.dueNow)
  return answer
}

const cart = fc.array(fc.nat(3), { minLength: 2, maxLength: 2 }).map(([spiders = 0, bears = 0]) =>
  [
    { sku: robotSpider, quantity: spiders === 0 && bears === 0 ? 1 : spiders },
    { sku: teddyBear, quantity: bears },
  ].filter(({ quantity }) => quantity > 0),
)
const hasOrders = (walk: Walk) => walk.orders.length > 0

export const orderOperations = [
  operation('order', {
    weight: 3,
    args: fc.record({ family: fc.nat(2), browser: fc.nat(1), items: cart, fresh: fc.boolean() }),
    async run(walk, { family: index, browser, items, fresh }) {
      const family = pick(walk.families, index)
      const id = randomUUIDv7()
      await send(walk, { family, browser: pick(family.browsers, browser), id, items, cart: id, fresh })
    },
  }),

  operation('change the cart', {
    weight: 3,
    args: fc.record({ which, browser: fc.nat(1), items: cart, fresh: fc.boolean() }),
    possible: hasOrders,
    async run(walk, { which, browser, items, fresh }) {
      const { family, id: replaces, cart: named, by } = pick(walk.orders, which)
      const asker = pick(family.browsers, browser)
      const id = randomUUIDv7()
      // Another browser's order is a cart of its own.
      const cart = walk.cartOf(walk.asker(asker), named) ?? id
      const before = walk.pages.filter((page) => page.of.id === replaces && sessionAt(walk, page)?.status === 'open')
      const order = { family, browser: asker, id, items, cart }
      const answer = await send(walk, { ...order, replaces, fresh })
      const refused = answer.status === 409 && answer.body['code'] === 'product_not_for_sale'
      // The end of an account closes its pages, perhaps just now.
      const isEnding = by.account !== null && by.account.state !== 'active' && by.account.state !== 'unconfirmed'
      if (refused && !isEnding && before.some((page) => sessionAt(walk, page)?.status !== 'open'))
        throw new Violation('a refused change leaves what it was to replace', `${replaces} can be paid no more`)
    },
  }),

  operation('send an order again', {
    args: fc.record({ which, browser: fc.nat(1) }),
    possible: hasOrders,
    async run(walk, { which, browser }) {
      const { family, id, items, cart } = pick(walk.orders, which)
      await send(walk, { family, browser: pick(family.browsers, browser), id, items, cart })
    },
  }),

  operation('order under the id of a registration', {
    weight: 1,
    args: fc.record({ which, sku: fc.nat(1) }),
    possible: (walk) => walk.registrations.length > 0,
    async run(walk, { which, sku }) {
      const { family, id } = pick(walk.registrations, which)
      const items = [{ sku: pick(skus, sku), quantity: 1 }]
      const answer = await walk.ask(pick(family.browsers, 0), 'POST', '/api/checkout', { orderId: id, items })
      if (answer.status === 200)
        throw new Violation('an id names one thing', `an order was made as ${id}, a registration`)
    },
  }),

  operation('look at an order', {
    args: fc.record({ which, returned: fc.boolean() }),
    possible: hasOrders,
    async run(walk, { which, returned }) {
      const { family, id } = pick(walk.orders, which)
      await walk.ask(pick(family.browsers, 0), 'GET', `/api/orders/${id}?returned=${returned}`)
    },
  }),
]
