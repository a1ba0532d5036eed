import { createHash } from 'node:crypto'
import {
  PDFArray,
  PDFDict,
  PDFDocument as Pdf,
  PDFName,
  PDFNumber,
  PDFObjectCopier,
  PDFPage,
  type PDFPageLeaf,
} from '@cantoo/pdf-lib'
import { classTimeZone, formatClassDate, formatClassTime } from '@robokids/contracts/class-date'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { renderFactSheet, type Fact } from '@robokids/typesetting/fact-sheet'
import { isolate } from '@robokids/contracts/isolate'

/** What was signed for; `accountDeleted` as in `waiver.signed`. */
export type SignedFacts = RegistrationFacts & { accountDeleted?: boolean | undefined }

export interface Signature {
  waiverId: string
  facts: SignedFacts
  /** RFC 3339 in UTC, to the millisecond. */
  signedAt: string
  /** Hex SHA-256 of the document that was shown. */
  documentSha256: string
  ipAddress: string
  userAgent: string
}

function inPacificTime(time: string): string {
  const zoned = Temporal.Instant.from(time).toZonedDateTimeISO(classTimeZone)
  return zoned.toLocaleString('en-US', { dateStyle: 'full', timeStyle: 'long' }).replaceAll('\u202f', ' ')
}

/** The facts of the signature page, in order. */
function factsIn({ waiverId, facts, signedAt, documentSha256, ipAddress, userAgent }: Signature): Fact[] {
  const { address } = facts
  const children = facts.children.map(({ childName, childAge }) => `${isolate(childName)}, age ${childAge}`)
  const street = [address.addressLine1, address.addressLine2].filter((line) => line !== '')
  // A member may have given only one line, or none.
  const city = address.city === '' ? [] : [`${isolate(address.city)}, ${isolate(address.state)} ${address.zipCode}`]
  const place = [...street, ...city]
  const when = `${formatClassDate(facts.startDate)}, ${formatClassTime(facts.startTime)} Pacific`
  const what = facts.classType === 'membership' ? 'Membership' : 'Registration'
  return [
    { name: 'Signed by', lines: [facts.guardianName, 'parent or legal guardian, 18 or older'] },
    { name: children.length === 1 ? 'For the child' : 'For the children', lines: children },
    { name: 'Email', lines: [facts.email] },
    ...(place.length === 0 ? [] : [{ name: 'Address', lines: place }]),
    { name: 'Class', lines: [facts.levelTitle, when] },
    { name: 'Signed at', lines: [inPacificTime(signedAt), `${signedAt} (UTC)`] },
    { name: 'How', lines: ['Checked the box “I agree” and pressed “I Agree & Complete Registration”'] },
    { name: 'Document (SHA-256)', lines: [documentSha256], fine: true },
    { name: 'Network address', lines: [ipAddress], fine: true },
    { name: 'Browser', lines: [userAgent], fine: true },
    { name: what, lines: [facts.registrationId], fine: true },
    { name: 'Waiver', lines: [waiverId], fine: true },
  ]
}

function renderSignaturePage(signature: Signature, shownBytes: number): Promise<Uint8Array> {
  return renderFactSheet({
    brand: 'ROBO KIDS LEARNING',
    title: 'Signature page',
    facts: factsIn(signature),
    foot: `The pages before this one are the document that was shown, byte for byte: this file begins with it, and the first ${shownBytes} bytes of it have the SHA-256 above.`,
    createdAt: signature.signedAt,
  })
}

const key = (name: string) => PDFName.of(name)

/** Appends the pages of another document, with their structure tree. */
function append(document: Pdf, other: Pdf): void {
  const copier = PDFObjectCopier.for(other.context, document.context)
  const pages = other.getPages().map(({ ref }) => {
    const copied = copier.copy(ref)
    const leaf = document.context.lookup(copied) as PDFPageLeaf
    document.addPage(PDFPage.of(leaf, copied, document))
    return leaf
  })
  const tree = document.catalog.lookupMaybe(key('StructTreeRoot'), PDFDict)
  // An older document, without a structure tree.
  if (!tree) return
  const otherTree = other.catalog.lookup(key('StructTreeRoot'), PDFDict)

  const root = tree.lookup(key('K'), PDFArray).get(0)
  const rootElement = document.context.lookup(root, PDFDict)
  const parts = rootElement.lookup(key('K'), PDFArray)
  for (const part of otherTree.lookup(key('K'), PDFArray).asArray()) {
    // Otherwise the copier would copy the whole other tree.
    other.context.lookup(part, PDFDict).delete(key('P'))
    const copied = copier.copy(part)
    document.context.lookup(copied, PDFDict).set(key('P'), root)
    parts.push(copied)
  }
  rootElement.set(key('K'), parts)

  // The parent tree maps a page's number to the structure elements of its marked content.
  const parents = tree.lookup(key('ParentTree'), PDFDict)
  const numbers = parents.lookup(key('Nums'), PDFArray)
  const otherNumbers = otherTree.lookup(key('ParentTree'), PDFDict).lookup(key('Nums'), PDFArray)
  const first = tree.lookup(key('ParentTreeNextKey'), PDFNumber).asNumber()
  for (let at = 0; at < otherNumbers.size(); at += 2) {
    const number = otherNumbers.lookup(at, PDFNumber).asNumber()
    numbers.push(PDFNumber.of(first + number))
    numbers.push(copier.copy(otherNumbers.get(at + 1)))
  }
  // No longer correct, and optional at a root.
  parents.delete(key('Limits'))
  for (const page of pages) {
    const number = page.lookup(key('StructParents'), PDFNumber).asNumber()
    page.set(key('StructParents'), PDFNumber.of(first + number))
  }
  tree.set(key('ParentTreeNextKey'), PDFNumber.of(first + pages.length))
}

/**
 * Renders the signed waiver: the document exactly as it was shown, followed by a tagged signature page. The page is appended as
 * an incremental update, so the file begins with the shown document and anyone can verify its hash.
 * The same signature gives the same bytes. CPU-bound for up to seconds: see `Typesetter`.
 * @param shown the document whose hash is in the signature.
 */
export async function renderSignedWaiver(signature: Signature, shown: Uint8Array): Promise<Uint8Array> {
  if (signature.documentSha256 !== createHash('sha256').update(shown).digest('hex'))
    throw new Error(`This is no document with the hash ${signature.documentSha256}.`)
  const signed = await Pdf.load(shown, { forIncrementalUpdate: true, updateMetadata: false })
  const page = await Pdf.load(await renderSignaturePage(signature, shown.length), { updateMetadata: false })
  append(signed, page)
  const title = signed.getTitle()
  if (title !== undefined) signed.setTitle(`Signed: ${title}`)
  return signed.commit({ useObjectStreams: false })
}
