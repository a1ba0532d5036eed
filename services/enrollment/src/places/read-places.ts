import { createHash } from 'node:crypto'
import type { Database, Transaction } from '@robokids/runtime/db'
import { asc, inArray } from 'drizzle-orm'
import { places, type registrations } from '../schema.ts'
import { dividePayment, hasPlaces, type QuotedPrice } from './rules.ts'

export type PlaceRow = typeof places.$inferSelect

type Registration = Pick<
  typeof registrations.$inferSelect,
  'id' | 'status' | 'children' | 'classSessionId' | 'paidAmount' | 'createdAt' | 'updatedAt'
>

/**
 * Returns the id of a place. It follows from the registration and the child's position, so that the places of a registration
 * that a process of the previous version has confirmed have their ids before their rows. The migration computes the same.
 */
function placeIdOf(registrationId: string, position: number): string {
  const hash = createHash('md5').update(`${registrationId}:${position}`).digest('hex')
  // A UUID of version 8: of one's own making.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20)}`
}

/** The places that a registration has once it is confirmed. */
export function firstPlaces(
  { id, children, classSessionId }: Pick<Registration, 'id' | 'children' | 'classSessionId'>,
  payment: { amount: number; quoted?: QuotedPrice | undefined },
  at: Temporal.Instant,
): PlaceRow[] {
  const prices = dividePayment(payment.amount, children.length, payment.quoted)
  return children.map(({ childName, childAge }, position) => ({
    id: placeIdOf(id, position),
    registrationId: id,
    position,
    childName,
    childAge,
    classSessionId,
    status: 'seated',
    paidAmount: prices[position]?.paidAmount ?? 0,
    listAmount: prices[position]?.listAmount ?? null,
    moves: 0,
    cancelledAt: null,
    createdAt: at,
    updatedAt: at,
  }))
}

/**
 * Reads the places of registrations, by position. For a registration that a process of the previous version has confirmed, they
 * are those that it gets with the next change.
 */
export async function readPlaces(db: Database | Transaction, rows: Registration[]): Promise<Map<string, PlaceRow[]>> {
  const ids = rows.map(({ id }) => id)
  const found =
    ids.length === 0
      ? []
      : await db.select().from(places).where(inArray(places.registrationId, ids)).orderBy(asc(places.position))
  const ofRegistration = Map.groupBy(found, ({ registrationId }) => registrationId)
  return new Map(
    rows.flatMap((row) => {
      const known = ofRegistration.get(row.id)
      // Such a process has cancelled the registration and freed its seats, but not the places.
      if (known && !hasPlaces(row.status))
        return [[row.id, known.map((one) => ({ ...one, status: 'cancelled' as const }))]]
      if (known) return [[row.id, known]]
      return hasPlaces(row.status) ? [[row.id, firstPlaces(row, { amount: row.paidAmount ?? 0 }, row.updatedAt)]] : []
    }),
  )
}
