import { subscriptionReminder } from '@robokids/contracts/billing'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, isNull, sql, type SQL } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { toMembershipFacts } from '../membership-facts.ts'
import { isReminderDue, reminderEvery, reminderLead } from './rules.ts'
import { memberships } from '../schema.ts'
import { tryEach } from '../try-each.ts'

const renewing = and(eq(memberships.status, 'active'), isNull(memberships.cancelAt))

/** `isReminderDue` in SQL. */
function isDue(now: Temporal.Instant): SQL {
  const { plan, activatedAt, paidUntil, remindedAt } = memberships
  const due = sql`(case ${plan}
    when 'monthly' then coalesce(${remindedAt}, ${activatedAt}) + ${reminderEvery.toString()}::interval
    else ${paidUntil} - ${reminderLead.toString()}::interval end)`
  return sql`${due} <= ${now.toString()} and (${remindedAt} is null or ${remindedAt} < ${due})`
}

/** Publishes the due reminders of renewing memberships. Members who have cancelled need none. */
export async function remindMembers({ db, clock, log }: BillingContext, signal: AbortSignal): Promise<void> {
  const now = clock.now().round('millisecond')
  const due = await db
    .select({ id: memberships.attemptId })
    .from(memberships)
    .where(and(renewing, isDue(now)))
  await tryEach(
    signal,
    due,
    ({ id }) => db.transaction((tx) => remind(tx, id, now)),
    async ({ id }, error) => {
      log.warn({ err: error, membershipId: id }, 'a member could not be reminded yet')
    },
  )
}

async function remind(tx: Transaction, membershipId: string, now: Temporal.Instant): Promise<void> {
  const ofMembership = eq(memberships.attemptId, membershipId)
  const [membership] = await tx.select().from(memberships).where(and(ofMembership, renewing)).for('update')
  if (!membership?.paidUntil) return
  const { paidUntil, nextPlan, nextAmount } = membership
  // It may have changed since the query.
  if (!isReminderDue({ ...membership, paidUntil }, now)) return
  await tx.update(memberships).set({ remindedAt: now }).where(ofMembership)
  await publish(tx, subscriptionReminder, membershipId, {
    ...toMembershipFacts(membership),
    renewsAt: paidUntil.toString(),
    // A scheduled plan starts with the renewal, and is charged then.
    ...(nextPlan !== null && nextAmount !== null ? { next: { plan: nextPlan, amount: nextAmount } } : {}),
  })
}
