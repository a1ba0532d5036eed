import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Transaction } from '@robokids/runtime/db'
import { waiverBlocks } from './waiver-words.ts'
import { waiverDocuments } from '../schema.ts'

interface WaiverFile {
  pdf: Uint8Array
  /** Hex. */
  sha256: string
}

function read(name: string): WaiverFile {
  const pdf = new Uint8Array(readFileSync(new URL(`../../waiver/${name}`, import.meta.url)))
  return { pdf, sha256: createHash('sha256').update(pdf).digest('hex') }
}

let files: [shown: WaiverFile, ...before: WaiverFile[]] | undefined

/** The current file, and older ones with the same words, which somebody may have read and not signed yet. */
function waiverFiles() {
  return (files ??= [read('waiver.pdf'), read('untagged.pdf')])
}

/**
 * The waiver as shown to parents: the same bytes in every process (read-only), their hex SHA-256, and the text as `blocks`.
 */
export function waiverDocument() {
  const [shown] = waiverFiles()
  return { ...shown, blocks: waiverBlocks }
}

/** The hashes of all files with the current words. */
export function signableDocuments(): string[] {
  return waiverFiles().map(({ sha256 }) => sha256)
}

/** Stores the documents, so that a signature can still be rendered after the document has changed. */
export async function keepWaiverDocuments(tx: Transaction): Promise<void> {
  await tx.insert(waiverDocuments).values(waiverFiles()).onConflictDoNothing()
}
