import { randomUUIDv7 } from 'node:crypto'
import { reconciliationSchema } from '@robokids/contracts/billing'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminHeaders, codeOf, purchase, BillingFixture } from '../fixture.ts'

let fixture: BillingFixture
beforeAll(async () => {
  fixture = await BillingFixture.startIsolated()
})
afterAll(() => fixture.close())

async function books(query = '') {
  const answer = await fixture.call('POST', `/admin/reconcile${query}`, undefined, adminHeaders)
  return reconciliationSchema.parse(answer.body)
}

/** A payment of another system on the same Stripe account. */
async function foreignSale(): Promise<void> {
  const { url: checkoutUrl } = await fixture.stripe.checkout.sessions.create({
    mode: 'payment',
    success_url: 'https://elsewhere.example',
    line_items: [{ quantity: 1, price_data: { currency: 'usd', unit_amount: 500, product_data: { name: 'A tea' } } }],
  })
  await fixture.pay({ checkoutUrl })
}

/** Inserts a ledger transaction that Stripe does not have. */
async function enter(occurredAt: string): Promise<string> {
  const id = `txn_${randomUUIDv7()}`
  await fixture.service.context.db.transaction(async (tx) => {
    await tx.execute(sql`
      insert into ledger_transactions (id, type, currency, occurred_at, recorded_at)
      values (${id}, 'charge', 'usd', ${occurredAt}, now())`)
    await tx.execute(sql`
      insert into ledger_entries (transaction_id, account, amount)
      values (${id}, 'stripe_balance', 300), (${id}, 'adjustments', -300)`)
  })
  return id
}

describe('the reconciliation of the ledger', () => {
  it(
    'agrees over many pages with many transactions per second, and from a given day on',
    { timeout: 60_000 },
    async () => {
      const { payment } = await fixture.sell(purchase())
      for (let count = 0; count < 230; count += 10) await Promise.all(Array.from({ length: 10 }, foreignSale))
      const all = await books()
      expect(all).toMatchObject({
        stripe: { transactions: 231 },
        ledger: { transactions: 231 },
        difference: 0,
        disagreements: [],
      })
      expect(all.stripe.net).toBe(all.ledger.net)
      expect(all.unexplained).toHaveLength(230)
      expect(new Set(all.unexplained).size).toBe(230)

      fixture.simulator.advanceClock(24 * 3600)
      const since = Temporal.Instant.fromEpochMilliseconds(fixture.simulator.now() * 1000).toString()
      expect(await books(`?since=${since}`)).toMatchObject({ stripe: { transactions: 0 }, ledger: { transactions: 0 } })
      // Of an older payment, which is compared over its whole history.
      await fixture.stripe.refunds.create({ payment_intent: payment!.stripePaymentIntentId, amount: 1_000 })
      await fixture.simulator.deliveriesIdle()
      await fixture.sell(purchase())
      expect(await books(`?since=${since}`)).toMatchObject({
        stripe: { transactions: 2 },
        ledger: { transactions: 2 },
        difference: 0,
        disagreements: [],
        unexplained: [],
        accounts: { refunds: 1_000 },
      })
      const answer = await fixture.call('POST', '/admin/reconcile?since=yesterday', undefined, adminHeaders)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    },
  )

  it('reports transactions that Stripe does not list, of any age', async () => {
    const before = await books()
    const moments = ['2025-01-01T00:00:00Z', Temporal.Now.instant().toString(), '2040-01-01T00:00:00Z']
    const ids = await Promise.all(moments.map(enter))
    const after = await books()
    expect(after.difference - before.difference).toBe(900)
    for (const id of ids)
      expect(after.disagreements).toContain(`${id} (charge): the ledger has $3.00, the provider does not list it`)
    expect(after.ledger.transactions - before.ledger.transactions).toBe(3)
  })
})
