import { subscriptionReminder } from '@robokids/contracts/billing'
import type { Transaction } from '@robokids/runtime/db'
import { publishAll } from '@robokids/runtime/outbox'
import { and, asc, eq, gt, inArray, isNull, sql, type SQL } from 'drizzle-orm'
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

/** Members reminded in one transaction. */
const batchSize = 500
/** From so many failures in a batch on, the cause is not the members: the rest waits for the next run. */
const maxFailures = 10

/**
 * Publishes the due reminders of renewing memberships, in batches in the order of their ids, so that any number of members needs
 * the same memory. Members who have cancelled need none. Memberships that are being changed are left to the next run.
 */
export async function remindMembers({ db, clock, log }: BillingContext, signal: AbortSignal): Promise<void> {
  const now = clock.now().round('millisecond')

  /** Reminds the members of a batch of which one failed. @returns those that failed. */
  async function remindEach(ids: string[]): Promise<string[]> {
    const failed: string[] = []
    await tryEach(
      signal,
      ids,
      (id) => db.transaction((tx) => remind(tx, [id], now)),
      async (id, error) => {
        failed.push(id)
        log.warn({ err: error, membershipId: id }, 'a member could not be reminded yet')
      },
    ).catch(() => {})
    return failed
  }

  let failures = 0
  let last: string | undefined
  while (!signal.aborted) {
    const due = await db
      .select({ id: memberships.attemptId })
      .from(memberships)
      .where(and(renewing, isDue(now), last === undefined ? undefined : gt(memberships.attemptId, last)))
      .orderBy(asc(memberships.attemptId))
      .limit(batchSize)
    last = due.at(-1)?.id
    if (last === undefined) break
    const ids = due.map(({ id }) => id)
    const failed = await db
      .transaction((tx) => remind(tx, ids, now))
      .then(
        () => [],
        () => remindEach(ids),
      )
    failures += failed.length
    if (failed.length >= maxFailures) break
  }
  if (failures > 0) throw new Error(`${failures} members could not be reminded.`)
}

async function remind(tx: Transaction, ids: string[], now: Temporal.Instant): Promise<void> {
  const locked = await tx
    .select()
    .from(memberships)
    .where(and(inArray(memberships.attemptId, ids), renewing))
    .for('update', { skipLocked: true })
  const reminders = locked.flatMap((membership) => {
    const { attemptId, paidUntil, nextPlan, nextAmount } = membership
    // It may have changed since the query.
    if (!paidUntil || !isReminderDue({ ...membership, paidUntil }, now)) return []
    return {
      subject: attemptId,
      data: {
        ...toMembershipFacts(membership),
        renewsAt: paidUntil.toString(),
        // A scheduled plan starts with the renewal, and is charged then.
        ...(nextPlan !== null && nextAmount !== null ? { next: { plan: nextPlan, amount: nextAmount } } : {}),
      },
    }
  })
  if (reminders.length === 0) return
  const reminded = reminders.map(({ subject }) => subject)
  await tx.update(memberships).set({ remindedAt: now }).where(inArray(memberships.attemptId, reminded))
  await publishAll(tx, subscriptionReminder, reminders)
}
