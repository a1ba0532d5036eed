/**
 * Writes the waiver's PDF beside this file. The result is under version control, because the shown document and its hash in
 * signatures must not depend on the versions of a font or library. If the file changes but its words do not, the previous one
 * stays in `waiver-document.ts`, so that those who have read it can sign it.
 */
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type { WaiverBlock } from '@robokids/contracts/enrollment'
import { bold, regular } from '@robokids/typesetting/typeset'
import PdfKit from 'pdfkit'
import { waiverBlocks, waiverWords } from '../src/waivers/waiver-words.ts'

const ink = '#14213d'
const signal = '#c2410c'
const quiet = '#475569'
const margin = 60
const width = 612 - 2 * margin

const doc = new PdfKit({
  size: 'LETTER',
  margins: { top: 54, bottom: 60, left: margin, right: margin },
  bufferPages: true,
  // The oldest version with every kind of tag used below.
  pdfVersion: '1.5',
  tagged: true,
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

/** The structure tree for screen readers: each part is added when it is drawn, so that they read in this order. */
const structure = doc.struct('Document')
doc.addStructure(structure)

/** Draws decoration, which screen readers skip. */
function decorate(type: 'Layout' | 'Pagination', draw: () => void): void {
  doc.markContent('Artifact', { type })
  draw()
  doc.endMarkedContent()
}

const body = { width, lineGap: 1.5, paragraphGap: 3 }
const paragraphs = () => doc.font('text', 9.25).fillColor(ink)

const draw: Record<WaiverBlock['kind'], (lines: string[]) => void> = {
  company([text = '']) {
    // Letter spacing would make screen readers spell the letters.
    const write = () => doc.font('strong', 9).fillColor(signal).text(text.toUpperCase(), margin, doc.y)
    structure.add(doc.struct('P', {}, write))
    doc.moveDown(0.4)
  },
  title([text = '']) {
    const write = () => doc.font('strong', 17).fillColor(ink).text(text, margin, doc.y, { width, lineGap: 0 })
    structure.add(doc.struct('H1', {}, write))
    doc.moveDown(0.25)
  },
  edition([text = '']) {
    structure.add(doc.struct('P', {}, () => doc.font('text', 9.5).fillColor(quiet).text(text, margin, doc.y)))
    doc.moveDown(0.6)
    decorate('Layout', () =>
      doc
        .moveTo(margin, doc.y)
        .lineTo(margin + width, doc.y)
        .lineWidth(1)
        .strokeColor(signal)
        .stroke(),
    )
    doc.moveDown(0.7)
  },
  heading([text = '']) {
    // Keeps the heading with the first lines of its section.
    if (doc.y > 792 - 60 - 50) doc.addPage()
    doc.moveDown(0.55)
    structure.add(
      doc.struct('H2', {}, () => doc.font('strong', 10.25).fillColor(ink).text(text, margin, doc.y, { width })),
    )
    doc.moveDown(0.15)
  },
  paragraph([text = '']) {
    structure.add(doc.struct('P', {}, () => paragraphs().text(text, margin, doc.y, body)))
  },
  list(lines) {
    const list = doc.struct('L')
    structure.add(list)
    for (const point of lines) {
      const sign = () =>
        paragraphs()
          .fillColor(signal)
          .text('•', margin + 4, doc.y, { lineBreak: false })
      const write = () => paragraphs().text(point, margin + 16, doc.y, { ...body, width: width - 16 })
      list.add(doc.struct('LI', {}, [doc.struct('Lbl', {}, sign), doc.struct('LBody', {}, write)]))
    }
  },
  closing([text = '']) {
    doc.moveDown(0.8)
    structure.add(
      doc.struct('P', {}, () => doc.font('strong', 9.5).fillColor(ink).text(text, margin, doc.y, { width })),
    )
  },
}
for (const { kind, lines } of waiverBlocks) draw[kind](lines)

const { count } = doc.bufferedPageRange()
for (let page = 0; page < count; page += 1) {
  doc.switchToPage(page)
  doc.page.margins.bottom = 0
  const foot = `${waiverWords.company} · Participation Agreement · Version of ${waiverWords.version} · Page ${page + 1} of ${count}`
  decorate('Pagination', () =>
    doc.font('text', 7.5).fillColor(quiet).text(foot, margin, 752, { width, align: 'center', lineBreak: false }),
  )
}
doc.end()
await finished(output)
