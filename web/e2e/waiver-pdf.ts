import { createHash } from 'node:crypto'
import type { WaiverDocument } from '@robokids/contracts/enrollment'

/** A minimal one-page PDF; readers rebuild its cross-reference table. */
const content =
  'BT /F1 20 Tf 72 720 Td (Participation waiver) Tj 0 -40 Td /F1 12 Tf (I sign for my child as parent or guardian.) Tj ET'

const objects = [
  '<< /Type /Catalog /Pages 2 0 R >>',
  '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
  `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
]

function write(): Buffer {
  let pdf = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = pdf.length
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const start = pdf.length
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  pdf += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`
  pdf += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`
  return Buffer.from(pdf, 'latin1')
}

export const waiverPdf = write()

/** Its text, as from the server. */
export const sampleWaiver: WaiverDocument = {
  sha256: createHash('sha256').update(waiverPdf).digest('hex'),
  blocks: [
    { kind: 'company', lines: ['Robo Kids Learning'] },
    { kind: 'title', lines: ['Participation waiver'] },
    { kind: 'edition', lines: ['Live online classes · Version of August 23, 2025'] },
    { kind: 'heading', lines: ['1. The risks'] },
    { kind: 'paragraph', lines: ['I sign for my child as parent or guardian.'] },
    { kind: 'list', lines: ['Small parts can be swallowed.', 'Batteries can overheat.'] },
    { kind: 'closing', lines: ['I have read it, and I sign it freely.'] },
  ],
}
