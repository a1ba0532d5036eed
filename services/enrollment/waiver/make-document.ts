/**
 * Writes the waiver's PDF beside this file. The result is kept under version control: what parents are shown, and what
 * its fingerprint in a signature stands for, must not depend on the versions of a font or of a library.
 */
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import PdfKit from 'pdfkit'
import { bold, regular } from '../src/typeset.ts'
import { waiverWords } from './words.ts'

const ink = '#14213d'
const signal = '#c2410c'
const quiet = '#475569'
const margin = 60
const width = 612 - 2 * margin

const doc = new PdfKit({
  size: 'LETTER',
  margins: { top: 54, bottom: 60, left: margin, right: margin },
  bufferPages: true,
  lang: 'en-US',
  displayTitle: true,
  info: {
    Title: `${waiverWords.company}: ${waiverWords.title}`,
    Author: waiverWords.company,
    CreationDate: new Date('2025-08-23T00:00:00Z'),
  },
})
doc.registerFont('text', regular.bytes)
doc.registerFont('strong', bold.bytes)
const output = createWriteStream(fileURLToPath(new URL('waiver.pdf', import.meta.url)))
doc.pipe(output)

const body = { width, lineGap: 1.5, paragraphGap: 3 }

doc.font('strong', 9).fillColor(signal).text(waiverWords.company.toUpperCase(), { characterSpacing: 1.2 })
doc.moveDown(0.4)
doc.font('strong', 17).fillColor(ink).text(waiverWords.title, { width, lineGap: 0 })
doc.moveDown(0.25)
doc.font('text', 9.5).fillColor(quiet).text(`${waiverWords.subtitle} · Version of ${waiverWords.version}`)
doc.moveDown(0.6)
doc
  .moveTo(margin, doc.y)
  .lineTo(margin + width, doc.y)
  .lineWidth(1)
  .strokeColor(signal)
  .stroke()
doc.moveDown(0.7)
doc.font('text', 9.25).fillColor(ink).text(waiverWords.introduction, body)

waiverWords.sections.forEach(({ heading, paragraphs, points = [] }, index) => {
  // A heading stays with the first lines of its section.
  if (doc.y > 792 - 60 - 50) doc.addPage()
  doc.moveDown(0.55)
  doc
    .font('strong', 10.25)
    .fillColor(ink)
    .text(`${index + 1}. ${heading}`, margin, doc.y, { width })
  doc.moveDown(0.15)
  doc.font('text', 9.25)
  for (const paragraph of paragraphs) doc.text(paragraph, margin, doc.y, body)
  for (const point of points) {
    doc.fillColor(signal).text('•', margin + 4, doc.y, { lineBreak: false })
    doc.fillColor(ink).text(point, margin + 16, doc.y, { ...body, width: width - 16 })
  }
})
doc.moveDown(0.8)
doc.font('strong', 9.5).fillColor(ink).text(waiverWords.closing, margin, doc.y, { width })

const { count } = doc.bufferedPageRange()
for (let page = 0; page < count; page += 1) {
  doc.switchToPage(page)
  doc.page.margins.bottom = 0
  const foot = `${waiverWords.company} · Participation Agreement · Version of ${waiverWords.version} · Page ${page + 1} of ${count}`
  doc.font('text', 7.5).fillColor(quiet).text(foot, margin, 752, { width, align: 'center', lineBreak: false })
}
doc.end()
await finished(output)
