import { randomUUIDv7 } from 'node:crypto'
import type { SignWaiver, Waiver } from '@robokids/contracts/enrollment'
import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { isoTime } from './read-registrations.ts'
import { waivers } from './schema.ts'
import { waiverDocument } from './waiver-document.ts'

type Evidence = typeof waivers.$inferInsert

/** The evidence of a signature of now, under the document that the signer's page told, or the one of today. */
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
 * Keeps a signature with its evidence, and has its PDF made.
 * @returns whether it counts: of what is signed already, another signature is not kept.
 */
export async function recordSignature(
  tx: Transaction,
  signature: ReturnType<typeof newSignature>,
  of: Pick<Evidence, 'registrationId' | 'membershipId' | 'member'>,
): Promise<boolean> {
  const written = await tx
    .insert(waivers)
    .values({ ...signature, ...of, pdfDueAt: signature.signedAt })
    .onConflictDoNothing()
    .returning({ id: waivers.id })
  if (written.length === 0) return false
  await wakeJob(tx, 'make-signed-pdfs')
  return true
}

/** What is answered to whoever signed, the first time and again. */
export function answerOf(
  registrationId: string,
  { id, signedAt, documentSha256 }: Pick<typeof waivers.$inferSelect, 'id' | 'signedAt' | 'documentSha256'>,
): Waiver {
  return { waiverId: id, registrationId, signedAt: isoTime(signedAt), documentSha256 }
}
