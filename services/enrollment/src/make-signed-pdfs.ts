import { waiverSigned, type RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { Typesetter } from '@robokids/typesetting/typesetter'
import { and, asc, eq, isNull, lte } from 'drizzle-orm'
import type { Config } from './config.ts'
import { count } from './metrics.ts'
import { factsOf, isoTime } from './read-registrations.ts'
import { pauseAfterTry } from './rules.ts'
import { classSessions, memberSeats, registrations, waiverDocuments, waivers } from './schema.ts'
import type { Signature } from './signed-waiver.ts'
import type { Order } from './signed-waiver-worker.ts'

type Waiver = typeof waivers.$inferSelect

/** From this try on, waiting alone does not seem to mend it. */
const alarmingTries = 5

/** Takes the signature that has waited longest. The try is counted, and the next one put off, before it is made. */
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
      .set({ pdfTries, pdfDueAt: now.add(pauseAfterTry(pdfTries)) })
      .where(eq(waivers.id, due.id))
    return { ...due, pdfTries }
  })
}

/** What was signed: of a registration, only its owner and address change, and a member told theirs with the signature. */
async function factsSigned({ db }: Context<Config>, waiver: Waiver): Promise<RegistrationFacts> {
  const { registrationId, membershipId, member, guardianName } = waiver
  if (registrationId !== null) {
    const [registration] = await db.select().from(registrations).where(eq(registrations.id, registrationId))
    if (registration) return factsOf(registration)
  } else if (membershipId !== null && member !== null) {
    const [classSession] = await db
      .select({
        classSessionId: classSessions.id,
        startDate: classSessions.date,
        startTime: classSessions.startTime,
        durationMinutes: classSessions.durationMinutes,
        timeZone: classSessions.timeZone,
        familyTimeZone: memberSeats.familyTimeZone,
      })
      .from(memberSeats)
      .innerJoin(classSessions, eq(classSessions.id, memberSeats.classSessionId))
      .where(eq(memberSeats.attemptId, membershipId))
    const about = { registrationId: membershipId, guardianName, ...member }
    if (classSession) return { ...about, ...classSession, classType: 'membership', levelTitle: 'Members’ session' }
  }
  throw new Error('There is nothing that this waiver was signed for.')
}

async function documentOf({ db }: Context<Config>, sha256: string): Promise<Uint8Array> {
  const [document] = await db.select().from(waiverDocuments).where(eq(waiverDocuments.sha256, sha256))
  if (!document) throw new Error(`The document ${sha256} is not kept.`)
  return document.pdf
}

/** Keeps the signed PDF, and tells that the waiver is signed, once. */
async function keep(tx: Transaction, signedPdf: Uint8Array, { waiverId, facts, ...signature }: Signature) {
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
 * Makes the PDFs of signatures that have none, one after the other. One that cannot be made does not keep others from
 * their turn, and is tried again for as long as it takes, ever more rarely.
 */
export async function makeSignedPdfs(context: Context<Config>, signal: AbortSignal): Promise<void> {
  const typesetter = new Typesetter<Order>(new URL('./signed-waiver-worker.ts', import.meta.url))
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
        await context.db.transaction((tx) => keep(tx, pdf, signature))
        count(context, 'signed_pdfs_total', { outcome: 'made' })
      } catch (error) {
        if (signal.aborted) return
        count(context, 'signed_pdfs_total', { outcome: 'failed' })
        if (tries < alarmingTries)
          context.log.warn({ err: error, waiverId, tries }, 'a signed PDF could not be made yet')
        else context.log.error({ err: error, waiverId, tries }, 'a signed PDF still cannot be made')
      }
    }
  } finally {
    await typesetter.close()
  }
}
