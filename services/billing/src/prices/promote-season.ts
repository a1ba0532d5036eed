import { pricesChanged } from '@robokids/contracts/billing'
import type { seasonOpened } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { BillingContext } from '../config.ts'
import { isRunning, seasonPromotion } from './rules.ts'
import { promotions } from '../schema.ts'
import { pricesChangedData } from './set-price.ts'

/** Inserts the promotion of a season that has opened, unless it exists already. */
export async function promoteSeason(
  tx: Transaction,
  { data }: EventOf<typeof seasonOpened>,
  { clock }: BillingContext,
): Promise<void> {
  const [first] = data.classDates
  if (first === undefined) return
  const promotion = seasonPromotion(data.openedOn, first)
  const made = await tx.insert(promotions).values(promotion).onConflictDoNothing().returning({ id: promotions.id })
  const now = clock.now()
  if (made.length > 0 && isRunning(promotion, now))
    await publish(tx, pricesChanged, promotion.id, pricesChangedData([], now))
}
