import type { Database, Transaction } from '@robokids/runtime/db'
import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import { ownershipOfSeat } from '../registrations/owners.ts'
import { readPaymentStates } from '../registrations/payment-states.ts'
import type { RegistrationRow } from '../registrations/read-registrations.ts'
import { paymentProblem } from '../rules.ts'
import { memberSeats, registrations, waivers } from '../schema.ts'

/** The registrations that attend a session: paid, and with no money on its way back. */
export async function findAttendees(db: Database | Transaction, classSessionId: string): Promise<RegistrationRow[]> {
  const rows = await db
    .select()
    .from(registrations)
    .where(
      and(
        eq(registrations.classSessionId, classSessionId),
        inArray(registrations.status, ['confirmed', 'waiver_signed']),
      ),
    )
    .orderBy(asc(registrations.id))
  const states = await readPaymentStates(db, rows)
  return rows.filter(({ id }) => paymentProblem(states.get(id) ?? 'paid') === undefined)
}

/** The memberships that attend a members' session, with the names on their valid waiver. */
export async function findMembers(db: Database | Transaction, classSessionId: string) {
  const rows = await db
    .select({
      seat: memberSeats,
      waiver: { guardianName: waivers.guardianName, member: waivers.member },
    })
    .from(memberSeats)
    .leftJoin(waivers, and(eq(waivers.membershipId, memberSeats.attemptId), isNull(waivers.replacedBy)))
    .where(and(eq(memberSeats.classSessionId, classSessionId), eq(memberSeats.outcome, 'seated')))
    .orderBy(asc(memberSeats.attemptId))
  const members = []
  for (const { seat, waiver } of rows) {
    const { email } = await ownershipOfSeat(db, seat)
    const { attemptId, familyTimeZone } = seat
    const childNames = waiver?.member?.children.map(({ childName }) => childName) ?? []
    members.push({
      membershipId: attemptId,
      email,
      familyTimeZone,
      guardianName: waiver?.guardianName ?? '',
      childNames,
      isSigned: waiver !== null,
    })
  }
  return members
}
