import type { Database, Transaction } from '@robokids/runtime/db'
import { and, eq, inArray, isNotNull, isNull, type SQL } from 'drizzle-orm'
import { changes, choices, classCancellations, refunds, type registrations } from '../schema.ts'
import type { PlaceRow } from './read-places.ts'

/** What a family may choose, with the school's cancellation that it follows from. */
export type ChoiceRow = typeof choices.$inferSelect & Pick<typeof classCancellations.$inferSelect, CancellationFields>
type CancellationFields = 'chooseUntil' | 'cancelledAt'

async function select(db: Database | Transaction, where: SQL | undefined): Promise<ChoiceRow[]> {
  const rows = await db
    .select({ choice: choices, cancellation: classCancellations })
    .from(choices)
    .innerJoin(classCancellations, eq(classCancellations.classSessionId, choices.classSessionId))
    .where(where)
  return rows.map(({ choice, cancellation: { chooseUntil, cancelledAt } }) => ({ ...choice, chooseUntil, cancelledAt }))
}

export async function readChoice(db: Database | Transaction, id: string): Promise<ChoiceRow | undefined> {
  return (await select(db, eq(choices.id, id)))[0]
}

/** The choice of a registration about a class that was cancelled; undefined for the moment until it is there. */
export async function findChoice(
  db: Database | Transaction,
  registrationId: string,
  classSessionId: string,
): Promise<ChoiceRow | undefined> {
  const isOf = and(eq(choices.registrationId, registrationId), eq(choices.classSessionId, classSessionId))
  return (await select(db, isOf))[0]
}

/** The choices of registrations. */
export async function listChoices(db: Database | Transaction, registrationIds: string[]): Promise<ChoiceRow[]> {
  return registrationIds.length === 0 ? [] : select(db, inArray(choices.registrationId, registrationIds))
}

/** Whether a choice is about a cancelled place: it sat in the class, or was moved by the choice and cancelled before the deadline. */
export function isOfChoice(place: PlaceRow, { placeIds, classSessionId, chooseUntil }: ChoiceRow): boolean {
  if (!placeIds.includes(place.id)) return false
  const { cancelledAt } = place
  return (
    place.classSessionId === classSessionId ||
    (cancelledAt !== null && Temporal.Instant.compare(cancelledAt, chooseUntil) < 0)
  )
}

type Paid = Pick<typeof registrations.$inferSelect, 'id' | 'paymentId'>

/**
 * Cents of all payments of a registration that a change can still give back: what was paid for its children, less what has gone
 * back without being for a certain child.
 */
export async function leftToGiveBack(
  db: Database | Transaction,
  { id, paymentId }: Paid,
  places: Pick<PlaceRow, 'paidAmount'>[],
): Promise<number> {
  const paid = await db
    .select({ paymentId: changes.paymentId })
    .from(changes)
    .where(and(eq(changes.registrationId, id), eq(changes.status, 'done'), isNotNull(changes.paymentId)))
  const paymentIds = [paymentId, ...paid.map((one) => one.paymentId)].filter((one) => one !== null)
  const others =
    paymentIds.length === 0
      ? []
      : await db
          .select({ amount: refunds.amount })
          .from(refunds)
          .where(and(inArray(refunds.paymentId, paymentIds), isNull(refunds.changeId), eq(refunds.failed, false)))
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
  return Math.max(0, sum(places.map(({ paidAmount }) => paidAmount)) - sum(others.map(({ amount }) => amount)))
}

/** The cancelled ones of these class sessions, with the choices of these registrations. */
export async function readCancelledClasses(
  db: Database | Transaction,
  classSessionIds: string[],
  registrationIds: string[],
) {
  if (classSessionIds.length === 0) return []
  const cancelled = await db
    .select()
    .from(classCancellations)
    .where(inArray(classCancellations.classSessionId, classSessionIds))
  if (cancelled.length === 0) return []
  const ids = cancelled.map(({ classSessionId }) => classSessionId)
  const made = await db
    .select()
    .from(choices)
    .where(and(inArray(choices.classSessionId, ids), inArray(choices.registrationId, registrationIds)))
  return cancelled.map((one) => ({
    ...one,
    choices: made.filter(({ classSessionId }) => classSessionId === one.classSessionId),
  }))
}
