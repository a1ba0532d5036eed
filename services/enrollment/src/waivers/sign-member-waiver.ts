import {
  childSchema,
  type Child,
  type MemberSeat,
  type signWaiverSchema,
  type Waiver,
} from '@robokids/contracts/enrollment'
import { lineOfText } from '@robokids/contracts/fields'
import type { ClassLink } from '@robokids/contracts/meetings'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, gt, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { readLink } from '../classes/read-link.ts'
import type { Config } from '../config.ts'
import { ownershipOfSeat } from '../registrations/owners.ts'
import { isoTime } from '../iso-time.ts'
import { toWaiver, newSignature, recordSignature } from './record-signature.ts'
import { readBookedClasses } from '../members/lock-member.ts'
import { checkMemberSignature, memberOutcome, memberSeatStatus, unknownMembership } from '../rules.ts'
import { classSessions, memberSeats, waivers } from '../schema.ts'
import { signableDocuments } from './waiver-document.ts'

async function find(db: Database | Transaction, membershipId: string, now: Temporal.Instant) {
  const [found] = await db
    .select({
      seat: memberSeats,
      waiver: {
        id: waivers.id,
        guardianName: waivers.guardianName,
        member: waivers.member,
        documentSha256: waivers.documentSha256,
        signedAt: waivers.signedAt,
      },
    })
    .from(memberSeats)
    .leftJoin(waivers, and(eq(waivers.membershipId, memberSeats.attemptId), isNull(waivers.replacedBy)))
    .where(eq(memberSeats.attemptId, membershipId))
  // Only the end of the membership is known.
  if (!found || found.seat.classDate === null) return undefined
  const { seat, waiver } = found
  const { ownerId, email } = await ownershipOfSeat(db, seat)
  const classes = await readBookedClasses(db, [seat])
  const isAhead = ({ startsAt }: { startsAt: Temporal.Instant }) => Temporal.Instant.compare(now, startsAt) < 0
  const shown = classes.find(({ session }) => isAhead(session)) ?? classes.at(-1)
  const [first] =
    seat.classSessionId === null
      ? []
      : await db.select().from(classSessions).where(eq(classSessions.id, seat.classSessionId))
  return {
    ...seat,
    ownerId,
    email,
    outcome: memberOutcome(seat, classes.length > 0),
    /** Of the next class, or else the last one. */
    classDate: shown?.session.date ?? found.seat.classDate,
    startTime: shown?.session.startTime ?? first?.startTime ?? null,
    classes,
    waiver: waiver && { ...waiver, children: waiver.member?.children ?? [] },
  }
}

function signedOf({ id, guardianName, children }: { id: string; guardianName: string; children: Child[] }) {
  return { waiverId: id, guardianName, childNames: children.map(({ childName }) => childName) }
}

/**
 * @param requesterId the signed-in account.
 * @throws DomainError `membership_not_found`
 */
export async function readMemberSeat(
  membershipId: string,
  requesterId: string | undefined,
  { db, clock }: Context<Config>,
): Promise<MemberSeat> {
  const found = await find(db, membershipId, clock.now())
  if (!found) throw new DomainError('membership_not_found', 'There is no such membership.')
  const { outcome, classDate, startTime, waiver, ownerId } = found
  const isOwner = ownerId !== null && ownerId === requesterId
  return {
    membershipId,
    status: memberSeatStatus(outcome),
    classDate,
    startTime,
    waiverSignedAt: waiver && isoTime(waiver.signedAt),
    ...(waiver && isOwner ? { signed: signedOf(waiver) } : {}),
  }
}

/**
 * The link of a member's class that is near, for the membership's owner.
 * @throws DomainError `membership_not_found`, and those of `readLink`
 */
export async function readMemberLink(
  membershipId: string,
  requesterId: string | undefined,
  context: Context<Config>,
): Promise<ClassLink> {
  const found = await find(context.db, membershipId, context.clock.now())
  const isOwner = found !== undefined && found.ownerId !== null && found.ownerId === requesterId
  if (!isOwner || found.classes.length === 0)
    throw new DomainError('membership_not_found', 'There is no such membership.')
  const classSessionIds = found.classes.map(({ session }) => session.id)
  return readLink({ classSessionIds, isSigned: found.waiver !== null }, context)
}

/** What a member gives with the signature: a child, and an address that may be incomplete. */
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

/** The maximum number of signatures per membership and day: each is stored forever, rendered to a PDF, and mailed. */
const maxPerDay = 10

async function checkDailyLimit(tx: Transaction, membershipId: string, now: Temporal.Instant): Promise<void> {
  const today = gt(waivers.signedAt, now.subtract({ hours: 24 }))
  if ((await tx.$count(waivers, and(eq(waivers.membershipId, membershipId), today))) < maxPerDay) return
  throw new DomainError('rate_limited', 'This waiver was signed too many times today. Please try again tomorrow.')
}

/**
 * Records a member's signature with its evidence, once, as `signWaiver` does for a registration; the reference is the
 * membership's id. The PDF is mailed to the membership's email, whatever the request contains, so that nobody can sign without
 * the member noticing. A membership has no kit.
 * @throws DomainError `validation_failed`, `registration_not_found`, `registration_not_paid`, `waiver_already_signed`, `waiver_document_changed`, `rate_limited`
 */
export async function signMemberWaiver(
  request: z.infer<typeof signWaiverSchema>,
  context: Context<Config>,
): Promise<Waiver> {
  const { registrationId: membershipId, guardianName, ownerId = null } = request
  const given = readMember(request)
  if (membershipId === undefined) throw unknownMembership()
  const signed = await context.db.transaction(async (tx) => {
    const isThis = eq(memberSeats.attemptId, membershipId)
    // Serializes concurrent signatures, and the end of the membership.
    await tx.select({ id: memberSeats.attemptId }).from(memberSeats).where(isThis).for('no key update')
    const found = await find(tx, membershipId, context.clock.now())
    if (!found) throw unknownMembership()
    const isOwner = ownerId !== null && found.ownerId === ownerId
    const outcome = checkMemberSignature(found, request, isOwner, signableDocuments())
    if (found.waiver && outcome === 'repeat') return found.waiver
    const signature = newSignature(guardianName, request, context.clock.now())
    if (found.waiver) {
      await checkDailyLimit(tx, membershipId, signature.signedAt)
      await tx.update(waivers).set({ replacedBy: signature.id }).where(eq(waivers.id, found.waiver.id))
    }
    const member = { ...given, email: found.email }
    if (!(await recordSignature(tx, signature, { membershipId, member })))
      throw new Error('The signature was not stored.')
    return signature
  })
  return toWaiver(membershipId, signed)
}
