import { randomUUIDv7 } from 'node:crypto'
import { orderTerms } from '@robokids/contracts/offers'
import { robotSpider, teddyBear } from '@robokids/contracts/products'
import { describe, expect, it } from 'vitest'
import { eventually } from '../src/bed.ts'
import { pageOf, refusalOf, sessionOf, type Stage } from './stage.ts'

const items = (quantity = 1) => [{ sku: robotSpider, quantity }]
const terms = (unitAmount: number, quantity = 1) => orderTerms([{ sku: robotSpider, quantity, unitAmount }])

/** Orders while products, prices and carts change. */
export function orderInteractions(stage: () => Stage): void {
  const checkout = (body: object) => stage().browser().post('/api/checkout', body)
  const isPaid = (id: string) => eventually(async () => (await stage().readOrder(id)).status === 'paid')

  /** Runs `work` while a product is in another state. */
  async function inState(sku: string, state: string, usual: string, work: () => Promise<void>): Promise<void> {
    await stage().operate('billing', 'POST', '/admin/products', { sku, state })
    try {
      await work()
    } finally {
      await stage().operate('billing', 'POST', '/admin/products', { sku, state: usual })
    }
  }

  describe('Orders', () => {
    it('An open order page can be paid after the product was withdrawn, and new orders are rejected', async () => {
      const page = await stage().order({ orderId: randomUUIDv7(), items: items() })
      await inState(robotSpider, 'coming_soon', 'pre_order', async () => {
        expect(refusalOf(await checkout({ orderId: randomUUIDv7(), items: items() }))).toBe('product_not_for_sale')
        expect(await stage().pay(page, undefined, stage().address())).toBe('paid')
        await isPaid(page.id)
      })
      expect(stage().kept(page.id)).toBe(30_000)
    })

    it('A pre-order stays a pre-order in its mail even if the product has become available', async () => {
      const email = stage().address()
      const page = await stage().order({ orderId: randomUUIDv7(), items: items() })
      await inState(robotSpider, 'available', 'pre_order', async () => {
        await stage().pay(page, undefined, email)
        await isPaid(page.id)
        expect((await stage().mail(email, /./)).subject).toBe('Your pre-order: Robot Spider')
        expect((await stage().readOrder(page.id)).lines).toMatchObject([{ state: 'pre_order' }])
      })
    })

    it('A cart that two tabs change differently is paid once, whichever pages are paid', async () => {
      const first = await stage().order({ orderId: randomUUIDv7(), items: items() })
      const answers = await Promise.all(
        [2, 3].map((quantity) => checkout({ orderId: randomUUIDv7(), items: items(quantity), replaces: first.id })),
      )
      const pages = [first, ...answers.filter(({ status }) => status === 200).map(pageOf)]
      for (const page of pages) await stage().pay(page, undefined, stage().address())
      await stage().settled()
      const kept = pages.filter(({ id }) => stage().kept(id) > 0)
      expect(kept).toHaveLength(1)
      const statuses = await Promise.all(pages.map(async ({ id }) => (await stage().readOrder(id)).status))
      expect(statuses.filter((status) => status === 'paid')).toHaveLength(1)
    })

    it('A cart that was changed twice can be paid in its latest state only', async () => {
      const first = await stage().order({ orderId: randomUUIDv7(), items: items() })
      const second = await stage().order({ orderId: randomUUIDv7(), items: items(2), replaces: first.id })
      const third = await stage().order({ orderId: randomUUIDv7(), items: items(3), replaces: second.id })
      expect(await stage().pay(first, undefined, stage().address())).toBe('expired')
      expect(await stage().pay(second, undefined, stage().address())).toBe('expired')
      expect(await stage().pay(third, undefined, stage().address())).toBe('paid')
      await isPaid(third.id)
      expect(stage().kept(first.id, second.id, third.id)).toBe(90_000)
    })

    it('A cart changed while the provider is down can still be paid, and is changed when it is back', async () => {
      const first = await stage().order({ orderId: randomUUIDv7(), items: items() })
      const changed = { orderId: randomUUIDv7(), items: items(2), replaces: first.id }
      await stage().fault('/v1/checkout/sessions/*', { kind: 'error', method: 'POST', times: 20 })
      expect((await checkout(changed)).status).toBe(503)
      expect([stage().openPages(first.id), stage().openPages(changed.orderId)]).toEqual([1, 0])
      await stage().restore()
      const page = pageOf(await checkout(changed))
      expect(await stage().pay(first, undefined, stage().address())).toBe('expired')
      expect(await stage().pay(page, undefined, stage().address())).toBe('paid')
      await isPaid(page.id)
    })

    it('An older tab does not reopen a changed cart, or the cart is paid only once', async () => {
      const first = await stage().order({ orderId: randomUUIDv7(), items: items() })
      const second = await stage().order({ orderId: randomUUIDv7(), items: items(2), replaces: first.id })
      const older = await checkout({ orderId: first.id, items: items(), agreed: terms(30_000) })
      for (const page of [second, ...(older.status === 200 ? [pageOf(older)] : [])])
        await stage().pay(page, undefined, stage().address())
      await stage().settled()
      expect([first.id, second.id].filter((id) => stage().kept(id) > 0)).toHaveLength(1)
      const after = await checkout({ orderId: first.id, items: items(), agreed: terms(30_000) })
      if (after.status === 200) expect(pageOf(after).url).toContain('/shop/success?')
      else expect(refusalOf(after)).toBe('already_paid')
      expect(stage().openPages(first.id, second.id)).toBe(0)
    })

    it('A cart being paid by bank debit cannot be changed until the debit fails', async () => {
      const first = await stage().order({ orderId: randomUUIDv7(), items: items() })
      await stage().control(`checkout/${sessionOf(first.url)}/complete-async`)
      await eventually(async () => (await stage().readOrder(first.id)).checkout.status === 'processing')
      const changed = { orderId: randomUUIDv7(), items: items(2), replaces: first.id }
      expect(refusalOf(await checkout(changed))).toBe('already_paid')
      await stage().control(`checkout/${sessionOf(first.url)}/settle-async`, { outcome: 'failed' })
      await eventually(async () => (await stage().readOrder(first.id)).checkout.status === 'failed')
      const page = pageOf(await checkout(changed))
      expect(await stage().pay(page, undefined, stage().address())).toBe('paid')
      await isPaid(page.id)
      expect([stage().kept(first.id), stage().kept(page.id)]).toEqual([0, 60_000])
    })

    it('An order can still be paid if the change of its cart is rejected', async () => {
      const first = await stage().order({ orderId: randomUUIDv7(), items: items() })
      const withBear = [...items(), { sku: teddyBear, quantity: 1 }]
      const changed = { orderId: randomUUIDv7(), items: withBear, replaces: first.id }
      expect(refusalOf(await checkout(changed))).toBe('product_not_for_sale')
      const tooCheap = { orderId: randomUUIDv7(), items: items(2), replaces: first.id, agreed: terms(29_900, 2) }
      expect(refusalOf(await checkout(tooCheap))).toBe('price_changed')
      expect(await stage().pay(first, undefined, stage().address())).toBe('paid')
      await isPaid(first.id)
    })

    it('Going back after the payment leads to the order’s page, and a changed cart is reported as paid', async () => {
      const first = await stage().order({ orderId: randomUUIDv7(), items: items() })
      await stage().pauseWebhooks()
      await stage().pay(first, undefined, stage().address())
      const changed = { orderId: randomUUIDv7(), items: items(2), replaces: first.id }
      expect(refusalOf(await checkout(changed))).toBe('already_paid')
      await stage().releaseWebhooks()
      await isPaid(first.id)
      expect(refusalOf(await checkout(changed))).toBe('already_paid')
      const back = pageOf(await checkout({ orderId: first.id, items: items(), agreed: terms(30_000) }))
      expect(back.url).toBe(`${stage().system.siteUrl}/shop/success?reference=${first.id}`)
      expect(stage().charges(first.id)).toHaveLength(1)
    })

    it('An order has the price that the cart showed, and a new price once that is agreed to', async () => {
      const orderId = randomUUIDv7()
      const first = pageOf(await checkout({ orderId, items: items(), agreed: terms(30_000) }))
      await stage().setPrice(robotSpider, 33_000)
      try {
        const older = { orderId: randomUUIDv7(), items: items() }
        expect(refusalOf(await checkout({ ...older, agreed: terms(30_000) }))).toBe('price_changed')
        const page = pageOf(await checkout({ ...older, agreed: terms(33_000) }))
        await stage().pay(page, undefined, stage().address())
        await isPaid(page.id)
        expect(stage().kept(page.id)).toBe(33_000)
      } finally {
        await stage().setPrice(robotSpider, 30_000)
      }
      expect(pageOf(await checkout({ orderId, items: items(), agreed: terms(30_000) }))).toEqual(first)
    })

    it('An order is unchanged when its id is reused with another cart', async () => {
      const first = await stage().order({ orderId: randomUUIDv7(), items: items() })
      expect(refusalOf(await checkout({ orderId: first.id, items: items(2) }))).toBe('id_reused')
      expect(await stage().pay(first, undefined, stage().address())).toBe('paid')
      await isPaid(first.id)
      expect(stage().kept(first.id)).toBe(30_000)
    })
  })
}
