import { childSchema, type MemberSeat, type signWaiverSchema, type Waiver } from '@robokids/contracts/enrollment'
import { lineOfText } from '@robokids/contracts/fields'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Config } from './config.ts'
import { isoTime } from './read-registrations.ts'
import { answerOf, newSignature, recordSignature } from './record-signature.ts'
import { judgeMemberSignature, memberSeatStatus, unknownMembership } from './rules.ts'
import { classSessions, memberSeats, waivers } from './schema.ts'
import { waiverDocument } from './waiver-document.ts'

async function find(db: Database | Transaction, membershipId: string) {
  const [found] = await db
    .select({
      seat: memberSeats,
      session: classSessions,
      waiver: {
        id: waivers.id,
        guardianName: waivers.guardianName,
        member: waivers.member,
        documentSha256: waivers.documentSha256,
        signedAt: waivers.signedAt,
      },
    })
    .from(memberSeats)
    .leftJoin(classSessions, eq(classSessions.id, memberSeats.classSessionId))
    .leftJoin(waivers, eq(waivers.membershipId, memberSeats.attemptId))
    .where(eq(memberSeats.attemptId, membershipId))
  // Of one whose end alone is known, nothing can be said.
  if (!found || found.seat.classDate === null) return undefined
  const { seat, session, waiver } = found
  return {
    ...seat,
    classDate: found.seat.classDate,
    session,
    waiver: waiver && { ...waiver, children: waiver.member?.children ?? [] },
  }
}

/** @throws DomainError `membership_not_found` */
export async function readMemberSeat(membershipId: string, { db }: Context<Config>): Promise<MemberSeat> {
  const found = await find(db, membershipId)
  if (!found) throw new DomainError('membership_not_found', 'There is no such membership.')
  const { outcome, classDate, session, waiver } = found
  return {
    membershipId,
    status: memberSeatStatus(outcome),
    classDate,
    startTime: session?.startTime ?? null,
    waiverSignedAt: waiver && isoTime(waiver.signedAt),
  }
}

/** What a member tells with the signature: a child, as everywhere, and an address as far as it is known. */
const memberSchema = z.object({
  ...childSchema.shape,
  addressLine1: lineOfText('Address line 1', 200),
  addressLine2: lineOfText('Address line 2', 200),
  city: lineOfText('City', 100),
  state: lineOfText('State', 100),
  zipCode: lineOfText('Zip code', 20),
})
const noAddress = { addressLine1: '', addressLine2: '', city: '', state: '', zipCode: '' }

/** @throws DomainError `validation_failed` */
function readMember({ childName, childAge, email, address }: z.infer<typeof signWaiverSchema>) {
  const read = memberSchema.safeParse({ childName, childAge, ...noAddress, ...address })
  if (!read.success) {
    const issues = read.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
    throw new DomainError('validation_failed', issues[0]?.message ?? 'The waiver cannot be read.', issues)
  }
  const { childName: name, childAge: age, ...place } = read.data
  return { email, children: [{ childName: name, childAge: age }], address: place }
}

/**
 * Records a member's signature with its evidence, once, as `signWaiver` does for a registration: by the membership's id,
 * which comes as the reference. No kit goes with a membership.
 * @throws DomainError `validation_failed`, `registration_not_found`, `registration_not_paid`, `waiver_already_signed`, `waiver_document_changed`
 */
export async function signMemberWaiver(
  request: z.infer<typeof signWaiverSchema>,
  context: Context<Config>,
): Promise<Waiver> {
  const { registrationId: membershipId, guardianName, evidence } = request
  const member = readMember(request)
  const document = waiverDocument()
  const found = membershipId === undefined ? undefined : await find(context.db, membershipId)
  if (!found || membershipId === undefined) throw unknownMembership()
  const { waiver } = found
  if (judgeMemberSignature(found, request, document.sha256) === 'repeat' && waiver) {
    return answerOf(membershipId, waiver)
  }
  const signature = newSignature(guardianName, evidence, context.clock.now())
  const signed = await context.db.transaction(async (tx) => {
    const [seat] = await tx
      .select({ outcome: memberSeats.outcome })
      .from(memberSeats)
      .where(eq(memberSeats.attemptId, membershipId))
      .for('no key update')
    if (seat?.outcome !== 'seated') return false
    return recordSignature(tx, signature, { membershipId, member })
  })
  // Signed, or ended, in the meantime: judged anew.
  if (!signed) return signMemberWaiver(request, context)
  return answerOf(membershipId, signature)
}
