import { registrationExpired, type Registration } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { publishAll } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, inArray, lt, min } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { changeSeats, lockRegistration, serveLineOf } from './lock-registration.ts'
import { factsOf, readRegistration, registrationNotFound, type RegistrationRow } from './read-registrations.ts'
import { endHold, isAttemptOfHold, checkEndable } from '../rules.ts'
import { registrations } from '../schema.ts'

/** Releases the seats of those of the locked registrations that are still `held`, and offers them to the waitlist. */
export async function releaseSeats(tx: Transaction, rows: RegistrationRow[], now: Temporal.Instant): Promise<void> {
  for (const classSessionId of await endHolds(tx, rows, now)) await serveLineOf(tx, classSessionId, now)
}

/**
 * As `releaseSeats`, for seats that the same transaction takes again: it calls `serveLineOf` after that.
 * @returns the class sessions with released seats, locked and in order.
 */
export async function endHolds(tx: Transaction, rows: RegistrationRow[], now: Temporal.Instant): Promise<string[]> {
  const freed = new Map<string, number>()
  const ended: RegistrationRow[] = []
  for (const row of rows) {
    const change = endHold(row)
    if (!change) continue
    ended.push(row)
    freed.set(row.classSessionId, (freed.get(row.classSessionId) ?? 0) + change.held)
  }
  if (ended.length === 0) return []
  await tx
    .update(registrations)
    .set({ status: 'expired', heldUntil: null, updatedAt: now })
    .where(
      inArray(
        registrations.id,
        ended.map((row) => row.id),
      ),
    )
  await publishAll(
    tx,
    registrationExpired,
    ended.map((row) => ({ subject: row.id, data: factsOf(row) })),
  )
  // Last, because all buyers of a session wait for its row; always in the same order, to avoid deadlocks.
  const classSessionIds = [...freed.keys()].toSorted()
  for (const classSessionId of classSessionIds) {
    await changeSeats(tx, classSessionId, { held: freed.get(classSessionId) ?? 0, sold: 0 })
  }
  return classSessionIds
}

/** Ends the hold of a checkout that ended unpaid, unless the parent has started a newer checkout. */
export async function endHoldOfAttempt(
  tx: Transaction,
  attempt: { registrationId: string; attemptId: string },
  context: Context<Config>,
): Promise<void> {
  const locked = await lockRegistration(tx, attempt.registrationId)
  if (!locked || !isAttemptOfHold(locked.registration, attempt.attemptId)) return
  await releaseSeats(tx, [locked.registration], context.clock.now())
}

/**
 * Ends a hold early, for an administrator. Does nothing if it has expired already.
 * @throws DomainError `registration_not_found`, `registration_closed` if it is paid or closed
 */
export async function expireNow(id: string, context: Context<Config>): Promise<Registration> {
  return context.db.transaction(async (tx) => {
    const locked = await lockRegistration(tx, id)
    if (!locked) throw registrationNotFound()
    checkEndable(locked.registration.status)
    await releaseSeats(tx, [locked.registration], context.clock.now())
    return readRegistration(tx, id)
  })
}

const batchSize = 100

/** Ends expired holds, one batch per transaction. Skips locked ones, which are being paid right now, until the next run. */
export async function expireHolds(context: Context<Config>, signal: AbortSignal): Promise<void> {
  const now = context.clock.now()
  let more = true
  while (more && !signal.aborted) {
    more = await context.db.transaction(async (tx) => {
      const rows = await tx
        .select()
        .from(registrations)
        .where(and(eq(registrations.status, 'held'), lt(registrations.heldUntil, now)))
        .orderBy(asc(registrations.heldUntil))
        .limit(batchSize)
        .for('no key update', { skipLocked: true })
      await releaseSeats(tx, rows, now)
      return rows.length === batchSize
    })
  }
}

/** When the next hold expires. Every hold lasts for a minute or longer, so that none expires before the job looks again. */
export async function nextHoldEnd({ db }: Context<Config>): Promise<Temporal.Instant | null> {
  const [next] = await db
    .select({ at: min(registrations.heldUntil) })
    .from(registrations)
    .where(eq(registrations.status, 'held'))
  return next?.at ?? null
}
