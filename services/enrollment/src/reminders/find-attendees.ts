import type { Child } from '@robokids/contracts/enrollment'
import type { Database, Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, isNull, or } from 'drizzle-orm'
import { readBookingsOf } from '../members/lock-member.ts'
import { readPlaces } from '../places/read-places.ts'
import { childrenOfPlaces } from '../places/rules.ts'
import { ownershipOfSeat } from '../registrations/owners.ts'
import { readPaymentStates } from '../registrations/payment-states.ts'
import type { RegistrationRow } from '../registrations/read-registrations.ts'
import { paymentProblem } from '../rules.ts'
import { places, registrations, waivers } from '../schema.ts'

/** A registration that attends a session, with its children who have their places there. */
export interface Attendee {
  row: RegistrationRow
  children: Child[]
}

/** The registrations that attend a session: paid, with no money on its way back, and with a child's place in it. */
export async function findAttendees(db: Database | Transaction, classSessionId: string): Promise<Attendee[]> {
  const seatedThere = db
    .select({ id: places.registrationId })
    .from(places)
    .where(and(eq(places.classSessionId, classSessionId), eq(places.status, 'seated')))
  const rows = await db
    .select()
    .from(registrations)
    .where(
      and(
        inArray(registrations.status, ['confirmed', 'waiver_signed']),
        // One that a process of the previous version has confirmed has no places yet.
        or(inArray(registrations.id, seatedThere), eq(registrations.classSessionId, classSessionId)),
      ),
    )
    .orderBy(asc(registrations.id))
  const states = await readPaymentStates(db, rows)
  const found = await readPlaces(db, rows)
  return rows.flatMap((row) => {
    const there = (found.get(row.id) ?? []).filter((place) => place.classSessionId === classSessionId)
    const children = childrenOfPlaces(there)
    const isPaid = paymentProblem(states.get(row.id) ?? 'paid') === undefined
    return isPaid && children.length > 0 ? [{ row, children }] : []
  })
}

/** The memberships that attend a members' session, with the names on their valid waiver. */
export async function findMembers(db: Database | Transaction, classSessionId: string) {
  const attending = await readBookingsOf(db, classSessionId)
  const ids = attending.map(({ booking }) => booking.membershipId)
  const signed = await db
    .select()
    .from(waivers)
    .where(and(inArray(waivers.membershipId, ids), isNull(waivers.replacedBy)))
  const members = []
  for (const { seat, booking } of attending) {
    const waiver = signed.find(({ membershipId }) => membershipId === booking.membershipId)
    const { email } = await ownershipOfSeat(db, seat)
    const { familyTimeZone } = seat
    const childNames = waiver?.member?.children.map(({ childName }) => childName) ?? []
    const isSigned = waiver !== undefined
    const member = { email, familyTimeZone, guardianName: waiver?.guardianName ?? '', childNames, isSigned }
    members.push({ membershipId: booking.membershipId, since: booking.since, member })
  }
  return members
}
