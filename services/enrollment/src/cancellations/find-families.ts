import type { Database, Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, notExists, or } from 'drizzle-orm'
import type { RegistrationRow } from '../registrations/read-registrations.ts'
import { choices, places, registrations } from '../schema.ts'

/**
 * The paid registrations with a child in a class session, by id. One that a process of the previous version has confirmed has no
 * places yet.
 * @param withoutChoice only those that were not given a choice yet
 */
export function findSeatedFamilies(
  db: Database | Transaction,
  classSessionId: string,
  { withoutChoice = false, limit = 1_000_000 } = {},
): Promise<RegistrationRow[]> {
  const seatedThere = db
    .select({ id: places.registrationId })
    .from(places)
    .where(and(eq(places.classSessionId, classSessionId), eq(places.status, 'seated')))
  const ofRegistration = eq(places.registrationId, registrations.id)
  const isWithoutPlaces = notExists(db.select({ id: places.id }).from(places).where(ofRegistration))
  const chosen = db
    .select({ id: choices.id })
    .from(choices)
    .where(and(eq(choices.registrationId, registrations.id), eq(choices.classSessionId, classSessionId)))
  return db
    .select()
    .from(registrations)
    .where(
      and(
        inArray(registrations.status, ['confirmed', 'waiver_signed']),
        or(
          inArray(registrations.id, seatedThere),
          and(eq(registrations.classSessionId, classSessionId), isWithoutPlaces),
        ),
        withoutChoice ? notExists(chosen) : undefined,
      ),
    )
    .orderBy(asc(registrations.id))
    .limit(limit)
}
