import { waiverSigned } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { Typesetter } from '@robokids/typesetting/typesetter'
import { and, asc, eq, isNull, lte, min } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { count } from '../metrics.ts'
import { ownershipOfSeat } from '../registrations/owners.ts'
import { isoTime } from '../iso-time.ts'
import { factsOf } from '../registrations/read-registrations.ts'
import { pdfRetryDelay } from '../rules.ts'
import { classSessions, memberSeats, registrations, waiverDocuments, waivers } from '../schema.ts'
import type { Signature, SignedFacts } from './signed-waiver.ts'
import type { RenderJob } from './signed-waiver-worker.ts'

type Waiver = typeof waivers.$inferSelect

/** From this attempt on, a failure is logged as an error: retrying alone does not seem to help. */
const alertAfterAttempts = 5

/** Claims the signature that has waited longest. Counts the attempt and schedules the next one before this one is made. */
async function claim({ db, clock }: Context<Config>): Promise<Waiver | undefined> {
  return db.transaction(async (tx) => {
    const now = clock.now()
    const [due] = await tx
      .select()
      .from(waivers)
      .where(and(isNull(waivers.signedPdf), lte(waivers.pdfDueAt, now)))
      .orderBy(asc(waivers.pdfDueAt), asc(waivers.id))
      .limit(1)
      .for('no key update', { skipLocked: true })
    if (!due) return undefined
    const pdfTries = due.pdfTries + 1
    await tx
      .update(waivers)
      .set({ pdfTries, pdfDueAt: now.add(pdfRetryDelay(pdfTries)) })
      .where(eq(waivers.id, due.id))
    return { ...due, pdfTries }
  })
}

/** What was signed: as it was then, except for the address and the owner, which follow the account. */
async function factsSigned({ db }: Context<Config>, waiver: Waiver): Promise<SignedFacts> {
  const { registrationId, membershipId, member, signed, guardianName } = waiver
  if (registrationId !== null) {
    const [registration] = await db.select().from(registrations).where(eq(registrations.id, registrationId))
    if (registration)
      return signed ? { ...signed, email: registration.email, ownerId: registration.ownerId } : factsOf(registration)
  } else if (membershipId !== null && member !== null) {
    const [found] = await db
      .select({
        seat: memberSeats,
        classSession: {
          classSessionId: classSessions.id,
          startDate: classSessions.date,
          startTime: classSessions.startTime,
          durationMinutes: classSessions.durationMinutes,
          timeZone: classSessions.timeZone,
          familyTimeZone: memberSeats.familyTimeZone,
        },
      })
      .from(memberSeats)
      .innerJoin(classSessions, eq(classSessions.id, memberSeats.classSessionId))
      .where(eq(memberSeats.attemptId, membershipId))
    if (found) {
      const { ownerId, leftAt } = await ownershipOfSeat(db, found.seat)
      const accountDeleted = ownerId === null && leftAt !== null
      return {
        registrationId: membershipId,
        guardianName,
        ...member,
        ...found.classSession,
        classType: 'membership',
        levelTitle: 'Members’ session',
        ...(accountDeleted ? { accountDeleted } : {}),
      }
    }
  }
  throw new Error('The registration or membership of this waiver does not exist.')
}

async function documentOf({ db }: Context<Config>, sha256: string): Promise<Uint8Array> {
  const [document] = await db.select().from(waiverDocuments).where(eq(waiverDocuments.sha256, sha256))
  if (!document) throw new Error(`The document ${sha256} is not stored.`)
  return document.pdf
}

/** Stores the signed PDF and publishes `waiver.signed`, once. */
async function saveSignedPdf(tx: Transaction, signedPdf: Uint8Array, { waiverId, facts, ...signature }: Signature) {
  const made = await tx
    .update(waivers)
    .set({ signedPdf, pdfDueAt: null })
    .where(and(eq(waivers.id, waiverId), isNull(waivers.signedPdf)))
    .returning({ id: waivers.id })
  if (made.length === 0) return
  const { signedAt, documentSha256 } = signature
  const signedPdfPath = `/waivers/${waiverId}.pdf`
  const [before] = await tx.select({ id: waivers.id }).from(waivers).where(eq(waivers.replacedBy, waiverId))
  const replaces = before ? { replaces: before.id } : {}
  const signed = { ...facts, waiverId, signedAt, documentSha256, signedPdfPath, ...replaces }
  await publish(tx, waiverSigned, facts.registrationId, signed)
}

/**
 * Makes the missing PDFs of signatures, one after the other. One that fails does not block the others, and is retried
 * without end, at growing intervals.
 */
export async function makeSignedPdfs(context: Context<Config>, signal: AbortSignal): Promise<void> {
  const typesetter = new Typesetter<RenderJob>(new URL('./signed-waiver-worker.ts', import.meta.url))
  try {
    while (!signal.aborted) {
      const waiver = await claim(context)
      if (!waiver) return
      const { id: waiverId, pdfTries: tries, documentSha256, ipAddress, userAgent } = waiver
      try {
        const facts = await factsSigned(context, waiver)
        const signature = { waiverId, facts, signedAt: isoTime(waiver.signedAt), documentSha256, ipAddress, userAgent }
        const shown = await documentOf(context, documentSha256)
        const pdf = await typesetter.render({ signature, shown }, signal)
        await context.db.transaction((tx) => saveSignedPdf(tx, pdf, signature))
        count(context, 'signed_pdfs_total', { outcome: 'made' })
      } catch (error) {
        if (signal.aborted) return
        count(context, 'signed_pdfs_total', { outcome: 'failed' })
        if (tries < alertAfterAttempts)
          context.log.warn({ err: error, waiverId, tries }, 'a signed PDF could not be made yet')
        else context.log.error({ err: error, waiverId, tries }, 'a signed PDF still cannot be made')
      }
    }
  } finally {
    await typesetter.close()
  }
}

/** When the next signed PDF is due. */
export async function nextSignedPdf({ db }: Context<Config>): Promise<Temporal.Instant | null> {
  const [next] = await db
    .select({ at: min(waivers.pdfDueAt) })
    .from(waivers)
    .where(isNull(waivers.signedPdf))
  return next?.at ?? null
}
