import {
  childSchema,
  type Child,
  type MemberSeat,
  type signWaiverSchema,
  type Waiver,
} from '@robokids/contracts/enrollment'
import { lineOfText } from '@robokids/contracts/fields'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, gt, isNull } from 'drizzle-orm'
import { z } from 'zod'
import type { Config } from './config.ts'
import { ownershipOfSeat } from './owners.ts'
import { isoTime } from './read-registrations.ts'
import { answerOf, newSignature, recordSignature } from './record-signature.ts'
import { judgeMemberSignature, memberSeatStatus, unknownMembership } from './rules.ts'
import { classSessions, memberSeats, waivers } from './schema.ts'
import { signableDocuments } from './waiver-document.ts'

async function find(db: Database | Transaction, membershipId: string) {
  const [found] = await db
    .select({
      seat: memberSeats,
      classSession: classSessions,
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
    .leftJoin(waivers, and(eq(waivers.membershipId, memberSeats.attemptId), isNull(waivers.replacedBy)))
    .where(eq(memberSeats.attemptId, membershipId))
  // Of one whose end alone is known, nothing can be said.
  if (!found || found.seat.classDate === null) return undefined
  const { seat, classSession, waiver } = found
  const { ownerId, email } = await ownershipOfSeat(db, seat)
  return {
    ...seat,
    ownerId,
    email,
    classDate: found.seat.classDate,
    classSession,
    waiver: waiver && { ...waiver, children: waiver.member?.children ?? [] },
  }
}

function signedOf({ id, guardianName, children }: { id: string; guardianName: string; children: Child[] }) {
  return { waiverId: id, guardianName, childNames: children.map(({ childName }) => childName) }
}

/**
 * @param askedBy the account that is signed in.
 * @throws DomainError `membership_not_found`
 */
export async function readMemberSeat(
  membershipId: string,
  askedBy: string | undefined,
  { db }: Context<Config>,
): Promise<MemberSeat> {
  const found = await find(db, membershipId)
  if (!found) throw new DomainError('membership_not_found', 'There is no such membership.')
  const { outcome, classDate, classSession, waiver, ownerId } = found
  const isOwner = ownerId !== null && ownerId === askedBy
  return {
    membershipId,
    status: memberSeatStatus(outcome),
    classDate,
    startTime: classSession?.startTime ?? null,
    waiverSignedAt: waiver && isoTime(waiver.signedAt),
    ...(waiver && isOwner ? { signed: signedOf(waiver) } : {}),
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
function readMember({ childName, childAge, address }: z.infer<typeof signWaiverSchema>) {
  const read = memberSchema.safeParse({ childName, childAge, ...noAddress, ...address })
  if (!read.success) {
    const issues = read.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
    throw new DomainError('validation_failed', issues[0]?.message ?? 'The waiver cannot be read.', issues)
  }
  const { childName: name, childAge: age, ...place } = read.data
  return { children: [{ childName: name, childAge: age }], address: place }
}

/** Signatures of one membership in a day: each is kept for good, with a PDF that takes a while to make, and is mailed. */
const mostInADay = 10

async function refuseTooMany(tx: Transaction, membershipId: string, now: Temporal.Instant): Promise<void> {
  const today = gt(waivers.signedAt, now.subtract({ hours: 24 }))
  if ((await tx.$count(waivers, and(eq(waivers.membershipId, membershipId), today))) < mostInADay) return
  throw new DomainError('rate_limited', 'This waiver was signed many times today. Please sign it again tomorrow.')
}

/**
 * Records a member's signature with its evidence, once, as `signWaiver` does for a registration: by the membership's id,
 * which comes as the reference. Whatever address the request names, that of the signature, where its PDF is mailed to, is the
 * membership's: whoever else signs cannot do so behind its member's back. No kit goes with a membership.
 * @throws DomainError `validation_failed`, `registration_not_found`, `registration_not_paid`, `waiver_already_signed`, `waiver_document_changed`, `rate_limited`
 */
export async function signMemberWaiver(
  request: z.infer<typeof signWaiverSchema>,
  context: Context<Config>,
): Promise<Waiver> {
  const { registrationId: membershipId, guardianName, ownerId = null } = request
  const told = readMember(request)
  if (membershipId === undefined) throw unknownMembership()
  const signed = await context.db.transaction(async (tx) => {
    const isThis = eq(memberSeats.attemptId, membershipId)
    // Two that sign at once take turns, and its end waits.
    await tx.select({ id: memberSeats.attemptId }).from(memberSeats).where(isThis).for('no key update')
    const found = await find(tx, membershipId)
    if (!found) throw unknownMembership()
    const isOwner = ownerId !== null && found.ownerId === ownerId
    const verdict = judgeMemberSignature(found, request, isOwner, signableDocuments())
    if (found.waiver && verdict === 'repeat') return found.waiver
    const signature = newSignature(guardianName, request, context.clock.now())
    if (found.waiver) {
      await refuseTooMany(tx, membershipId, signature.signedAt)
      await tx.update(waivers).set({ replacedBy: signature.id }).where(eq(waivers.id, found.waiver.id))
    }
    const member = { ...told, email: found.email }
    if (!(await recordSignature(tx, signature, { membershipId, member })))
      throw new Error('The signature was not kept.')
    return signature
  })
  return answerOf(membershipId, signed)
}
