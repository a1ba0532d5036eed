import { subscriptionReminder } from '@robokids/contracts/billing'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, isNull } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { factsOf } from './membership-facts.ts'
import { isReminderDue } from './rules.ts'
import { memberships } from './schema.ts'

/** Has members reminded, where it is time, of what goes on by itself. Those who have cancelled need no reminder. */
export async function remindMembers({ db, clock }: BillingContext): Promise<void> {
  const renewing = and(eq(memberships.status, 'active'), isNull(memberships.cancelAt))
  const now = clock.now().round('millisecond')
  for (const { attemptId } of await db.select().from(memberships).where(renewing)) {
    await db.transaction(async (tx) => {
      const [membership] = await tx
        .select()
        .from(memberships)
        .where(and(eq(memberships.attemptId, attemptId), renewing))
        .for('update')
      if (!membership?.paidUntil) return
      const { paidUntil } = membership
      if (!isReminderDue({ ...membership, paidUntil }, now)) return
      await tx.update(memberships).set({ remindedAt: now }).where(eq(memberships.attemptId, attemptId))
      await publish(tx, subscriptionReminder, attemptId, { ...factsOf(membership), renewsAt: paidUntil.toString() })
    })
  }
}
