import { randomUUIDv7 } from 'node:crypto'
import { waiverSigned, type RegistrationFacts, type SignWaiver, type Waiver } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import { isoTime } from './read-registrations.ts'
import { waivers } from './schema.ts'
import { renderSignedWaiver, type Signature } from './signed-waiver.ts'
import { waiverDocument } from './waiver-document.ts'

interface RenderedSignature extends Signature {
  signedPdf: Uint8Array
}

/** A signature of now with its signed PDF: made before the transaction, so that nothing waits for it. */
export async function renderSignature(
  facts: RegistrationFacts,
  { ipAddress, userAgent }: SignWaiver['evidence'],
  { clock }: Context<Config>,
): Promise<RenderedSignature> {
  const documentSha256 = waiverDocument().sha256
  const signature = { waiverId: randomUUIDv7(), facts, signedAt: clock.now(), documentSha256, ipAddress, userAgent }
  return { ...signature, signedPdf: await renderSignedWaiver(signature) }
}

/** Keeps a signature with its evidence, and tells of it. @returns whether it is the first. */
export async function recordSignature(
  tx: Transaction,
  { waiverId, facts, signedAt, documentSha256, ipAddress, userAgent, signedPdf }: RenderedSignature,
  of: Pick<typeof waivers.$inferInsert, 'registrationId' | 'membershipId' | 'member'>,
): Promise<boolean> {
  const { guardianName } = facts
  const written = await tx
    .insert(waivers)
    .values({ id: waiverId, ...of, documentSha256, guardianName, signedAt, ipAddress, userAgent, signedPdf })
    .onConflictDoNothing()
    .returning({ id: waivers.id })
  if (written.length === 0) return false
  await publish(tx, waiverSigned, facts.registrationId, {
    ...facts,
    waiverId,
    signedAt: isoTime(signedAt),
    documentSha256,
    signedPdfPath: `/waivers/${waiverId}.pdf`,
  })
  return true
}

/** What is answered to whoever signed, the first time and again. */
export function answerOf(
  registrationId: string,
  { waiverId, signedAt, documentSha256 }: Pick<Signature, 'waiverId' | 'signedAt' | 'documentSha256'>,
): Waiver {
  return { waiverId, registrationId, signedAt: isoTime(signedAt), documentSha256 }
}
