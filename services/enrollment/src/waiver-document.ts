import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Transaction } from '@robokids/runtime/db'
import { waiverDocuments } from './schema.ts'

let document: { pdf: Uint8Array; sha256: string } | undefined

/**
 * The waiver as parents are shown it: the same bytes in every process, and their SHA-256 in hex. Treat them as read-only.
 */
export function waiverDocument(): { pdf: Uint8Array; sha256: string } {
  if (document) return document
  const pdf = new Uint8Array(readFileSync(new URL('../waiver/waiver.pdf', import.meta.url)))
  document = { pdf, sha256: createHash('sha256').update(pdf).digest('hex') }
  return document
}

/** Keeps the document, so that what is signed today can be made a PDF of when another one is shown. */
export async function keepWaiverDocument(tx: Transaction): Promise<void> {
  await tx.insert(waiverDocuments).values(waiverDocument()).onConflictDoNothing()
}
