import { randomUUIDv7 } from 'node:crypto'
import type { SignWaiver, Waiver } from '@robokids/contracts/enrollment'
import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { isoTime } from '../iso-time.ts'
import { waivers } from '../schema.ts'
import { waiverDocument } from './waiver-document.ts'

type Evidence = typeof waivers.$inferInsert

/** Builds a signature of the document that the signer's page sent, or else of the current one, with its evidence. */
export function newSignature(
  guardianName: string,
  { documentSha256, evidence }: Pick<SignWaiver, 'documentSha256' | 'evidence'>,
  signedAt: Temporal.Instant,
) {
  const { ipAddress, userAgent } = evidence
  const shown = documentSha256 ?? waiverDocument().sha256
  return { id: randomUUIDv7(), guardianName, documentSha256: shown, signedAt, ipAddress, userAgent }
}

/**
 * Stores a signature with its evidence, and triggers the making of its PDF.
 * @returns false if there was a signature already; the new one is not stored then.
 */
export async function recordSignature(
  tx: Transaction,
  signature: ReturnType<typeof newSignature>,
  signed: Pick<Evidence, 'registrationId' | 'membershipId' | 'member' | 'signed'>,
): Promise<boolean> {
  const written = await tx
    .insert(waivers)
    .values({ ...signature, ...signed, pdfDueAt: signature.signedAt })
    .onConflictDoNothing()
    .returning({ id: waivers.id })
  if (written.length === 0) return false
  await wakeJob(tx, 'make-signed-pdfs')
  return true
}

/** The response to a signer, the first time and when repeated. */
export function toWaiver(
  registrationId: string,
  { id, signedAt, documentSha256 }: Pick<typeof waivers.$inferSelect, 'id' | 'signedAt' | 'documentSha256'>,
): Waiver {
  return { waiverId: id, registrationId, signedAt: isoTime(signedAt), documentSha256 }
}
