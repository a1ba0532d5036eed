import { moveEnded, type moveCheckoutEnded } from '@robokids/contracts/changes'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, desc, eq, inArray, lt, min } from 'drizzle-orm'
import type { Config } from '../config.ts'
import type { SeatChange } from '../rules.ts'
import { lockClassSessions, lockRegistrations, moveAllSeats } from '../registrations/lock-registration.ts'
import { changes } from '../schema.ts'
import type { ChangeRow } from './write-change.ts'

/** The moves of a registration whose seats are held until they are paid. */
export function findPendingMoves(tx: Transaction, registrationId: string): Promise<ChangeRow[]> {
  return tx
    .select()
    .from(changes)
    .where(and(eq(changes.registrationId, registrationId), eq(changes.status, 'held')))
    .orderBy(asc(changes.id))
}

/** What was paid for the moves of a registration, the last payment first. */
export async function findMovePayments(tx: Transaction, registrationId: string): Promise<string[]> {
  const paid = await tx
    .select({ paymentId: changes.paymentId })
    .from(changes)
    .where(and(eq(changes.registrationId, registrationId), eq(changes.status, 'done')))
    .orderBy(desc(changes.updatedAt), desc(changes.id))
  return paid.flatMap(({ paymentId }) => paymentId ?? [])
}

/** Whether a move is about one of these places. */
export function isAbout({ quote }: Pick<ChangeRow, 'quote'>, placeIds: string[]): boolean {
  return quote.lines.some(({ placeId }) => placeIds.includes(placeId))
}

/** The seats that these moves hold. */
export function seatsOfMoves(rows: ChangeRow[]): Map<string, SeatChange> {
  const seats = new Map<string, SeatChange>()
  for (const { toClassSessionId, seats: count } of rows) {
    if (toClassSessionId === null) continue
    seats.set(toClassSessionId, { held: (seats.get(toClassSessionId)?.held ?? 0) - count, sold: 0 })
  }
  return seats
}

/**
 * Ends moves that are not paid. The caller has locked their registration, and their sessions; it releases the seats of
 * `seatsOfMoves` in the same transaction.
 */
export async function endMoves(
  tx: Transaction,
  rows: ChangeRow[],
  status: 'expired' | 'withdrawn',
  now: Temporal.Instant,
): Promise<void> {
  for (const { id, registrationId } of rows) {
    await tx.update(changes).set({ status, heldUntil: null, updatedAt: now }).where(eq(changes.id, id))
    await publish(tx, moveEnded, registrationId, { changeId: id, registrationId })
  }
}

/** Ends a move if it is still waiting for its payment, and releases its seats. */
async function endMove(
  tx: Transaction,
  changeId: string,
  status: 'expired' | 'withdrawn',
  now: Temporal.Instant,
): Promise<void> {
  const [found] = await tx.select().from(changes).where(eq(changes.id, changeId))
  if (!found) return
  await lockRegistrations(tx, [found.registrationId])
  const rows = (await findPendingMoves(tx, found.registrationId)).filter(({ id }) => id === changeId)
  const seats = seatsOfMoves(rows)
  await lockClassSessions(tx, [...seats.keys()])
  await endMoves(tx, rows, status, now)
  await moveAllSeats(tx, seats, now)
}

/** The checkout of a move can no longer be paid. */
export async function endMoveOfCheckout(
  tx: Transaction,
  { data }: EventOf<typeof moveCheckoutEnded>,
  { clock }: Context<Config>,
): Promise<void> {
  await endMove(tx, data.changeId, 'expired', clock.now())
}

/** Withdraws a move if it is not paid. */
export function withdrawMove(tx: Transaction, changeId: string, now: Temporal.Instant): Promise<void> {
  return endMove(tx, changeId, 'withdrawn', now)
}

/** Ends the moves that were not paid in time, each in a transaction of its own. */
export async function expireMoves({ db, clock }: Context<Config>, signal: AbortSignal): Promise<void> {
  const now = clock.now()
  const due = await db
    .select({ id: changes.id })
    .from(changes)
    .where(and(eq(changes.status, 'held'), lt(changes.heldUntil, now)))
    .orderBy(asc(changes.heldUntil))
  for (const { id } of due) {
    if (signal.aborted) return
    await db.transaction((tx) => endMove(tx, id, 'expired', now))
  }
}

/** When the next one ends. */
export async function nextMoveEnd({ db }: Context<Config>): Promise<Temporal.Instant | null> {
  const [next] = await db
    .select({ at: min(changes.heldUntil) })
    .from(changes)
    .where(inArray(changes.status, ['held']))
  return next?.at ?? null
}
