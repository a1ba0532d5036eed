import { productStateChanged, type SetProductState } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import { eq } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { products } from '../schema.ts'

/** Sets the availability of a product. Open checkouts keep the agreed terms. */
export async function setProductState({ db, clock }: BillingContext, { sku, state }: SetProductState): Promise<void> {
  await db.transaction(async (tx) => {
    const [product] = await tx.select().from(products).where(eq(products.sku, sku)).for('update')
    if (!product) throw new DomainError('not_found', `The shop has no product called ${sku}.`)
    if (product.state === state) return
    await tx.update(products).set({ state }).where(eq(products.sku, sku))
    await publish(tx, productStateChanged, sku, {
      sku,
      name: product.name,
      from: product.state,
      to: state,
      changedAt: clock.now().toString({ fractionalSecondDigits: 3 }),
    })
  })
}
