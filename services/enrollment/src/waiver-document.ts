import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Transaction } from '@robokids/runtime/db'
import { waiverBlocks } from '../waiver/words.ts'
import { waiverDocuments } from './schema.ts'

interface WaiverFile {
  pdf: Uint8Array
  /** In hex. */
  sha256: string
}

function read(name: string): WaiverFile {
  const pdf = new Uint8Array(readFileSync(new URL(`../waiver/${name}`, import.meta.url)))
  return { pdf, sha256: createHash('sha256').update(pdf).digest('hex') }
}

let files: [shown: WaiverFile, ...before: WaiverFile[]] | undefined

/** The file of today, and those of the time before with the same words: somebody may have read one and sign it only now. */
function waiverFiles() {
  return (files ??= [read('waiver.pdf'), read('untagged.pdf')])
}

/**
 * The waiver as parents are shown it: the same bytes in every process, and their SHA-256 in hex. Treat them as read-only.
 * `blocks` are its words.
 */
export function waiverDocument() {
  const [shown] = waiverFiles()
  return { ...shown, blocks: waiverBlocks }
}

/** The hashes of all files with the words of today. */
export function signableDocuments(): string[] {
  return waiverFiles().map(({ sha256 }) => sha256)
}

/** Keeps the documents, so that what is signed today can be made a PDF of when another one is shown. */
export async function keepWaiverDocuments(tx: Transaction): Promise<void> {
  await tx.insert(waiverDocuments).values(waiverFiles()).onConflictDoNothing()
}
