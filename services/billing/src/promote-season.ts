import type { seasonOpened } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { seasonPromotion } from './rules.ts'
import { promotions } from './schema.ts'

/** A season opened: its promotion begins, unless it is there already, changed or not. */
export async function promoteSeason(tx: Transaction, { data }: EventOf<typeof seasonOpened>): Promise<void> {
  const [first] = data.classDates
  if (first === undefined) return
  await tx.insert(promotions).values(seasonPromotion(data.openedOn, first)).onConflictDoNothing()
}
