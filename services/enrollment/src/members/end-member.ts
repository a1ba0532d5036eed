import type { subscriptionEnded } from '@robokids/contracts/billing'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import type { Config } from '../config.ts'
import { memberSeats } from '../schema.ts'
import { lapsing } from './credit-rules.ts'
import { lockMember, saveCredits } from './lock-member.ts'

/**
 * A membership has ended: its unused credits lapse. Its booked classes stay, because they are paid for; those of a payment that goes
 * back are given up with its credit. The event of its start may arrive only later.
 */
export async function endMember(
  tx: Transaction,
  { data, time }: EventOf<typeof subscriptionEnded>,
  { clock }: Context<Config>,
): Promise<void> {
  const { attemptId, email, ownerId } = data
  const { credits } = await lockMember(tx, attemptId)
  const now = clock.now()
  const endedAt = Temporal.Instant.from(data.endedAt)
  const started = { attemptId, email, ownerId, eventTime: Temporal.Instant.from(time), createdAt: now }
  await tx
    .insert(memberSeats)
    .values({ ...started, outcome: 'released', endedAt })
    .onConflictDoUpdate({ target: memberSeats.attemptId, set: { endedAt } })
  await saveCredits(tx, credits, lapsing(credits), now)
}
