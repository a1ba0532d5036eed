import { buffer } from 'node:stream/consumers'
import PdfKit from 'pdfkit'
import { bold, regular, widthOf, writeText, type Style } from './typeset.ts'

/** A fact by its name, in lines below each other. */
export interface Fact {
  name: string
  lines: readonly string[]
  /** Set small: what is there to be compared, and not to be read. */
  fine?: boolean
}

/** A sheet of paper that tells facts, one below the other. */
export interface FactSheet {
  /** Whose it is, above the title. */
  brand?: string
  title: string
  facts: readonly Fact[]
  /** Said below the facts, for what is not to be overlooked. */
  note?: { title: string; text: string } | undefined
  /** Said at the foot of the last page. */
  foot?: string
  /** RFC 3339. Also what the file's id is derived from: the same sheet is the same file. */
  createdAt: string
  /** What readers and screen readers call the file. Left out of one whose pages go into another file. */
  file?: { title: string; author: string; language: string }
}

const ink = '#14213d'
const signal = '#c2410c'
const quiet = '#475569'
const margin = 60
const width = 612 - 2 * margin
const narrowestLabels = 118

const label: Style = { face: bold, size: 9, color: quiet }
const value: Style = { face: regular, size: 10.5, color: ink }
const fine: Style = { face: regular, size: 8.5, color: ink }

/**
 * Makes a sheet a tagged PDF: screen readers read it in the order of what it says. The same sheet makes the same bytes. It takes
 * the processor for up to seconds: see `Typesetter`.
 */
export async function renderFactSheet(sheet: FactSheet): Promise<Uint8Array> {
  const { file } = sheet
  const doc = new PdfKit({
    size: 'LETTER',
    margins: { top: 54, bottom: 84, left: margin, right: margin },
    pdfVersion: '1.5',
    tagged: true,
    ...(file ? { lang: file.language, displayTitle: true } : {}),
    info: {
      ...(file ? { Title: file.title, Author: file.author } : {}),
      CreationDate: new Date(sheet.createdAt),
    },
  })
  const pages = buffer(doc)
  // What screen readers go by: each part is added when it is drawn, so that they read in this order.
  const structure = doc.struct(file ? 'Document' : 'Sect')
  doc.addStructure(structure)
  const { brand, title, foot, note } = sheet
  if (brand !== undefined) {
    const write = () => writeText(doc, brand, { face: bold, size: 9, color: signal }, margin, 64, width)
    structure.add(doc.struct('P', {}, write))
  }
  const writeTitle = () => writeText(doc, title, { face: bold, size: 17, color: ink }, margin, 88, width)
  structure.add(doc.struct('H1', {}, writeTitle))
  doc.markContent('Artifact', { type: 'Layout' })
  doc
    .moveTo(margin, 100)
    .lineTo(margin + width, 100)
    .lineWidth(1)
    .strokeColor(signal)
    .stroke()
  doc.endMarkedContent()
  const list = doc.struct('L')
  structure.add(list)
  let y = 126
  const labelWidth = Math.max(narrowestLabels, ...sheet.facts.map(({ name }) => Math.ceil(widthOf(name, label)) + 14))
  const keepOnPage = (style: Style, lines = 1) => {
    if (y + (lines - 1) * style.size * 1.4 <= doc.page.height - doc.page.margins.bottom) return
    doc.addPage()
    y = doc.page.margins.top + style.size
  }
  for (const { name, lines, fine: isFine = false } of sheet.facts) {
    const style = isFine ? fine : value
    keepOnPage(style)
    const values = lines.map((line) =>
      doc.struct('P', {}, () => {
        y = writeText(doc, line, style, margin + labelWidth, y, width - labelWidth)
      }),
    )
    const nameOf = doc.struct('Lbl', {}, () => writeText(doc, name, label, margin, y, labelWidth))
    list.add(doc.struct('LI', {}, [nameOf, doc.struct('LBody', {}, values)]))
    y += 8
  }
  if (note) {
    y += 10
    keepOnPage(value, 2)
    for (const [text, style] of [
      [note.title, { ...value, face: bold }],
      [note.text, value],
    ] as const) {
      structure.add(
        doc.struct('P', {}, () => {
          y = writeText(doc, text, style, margin, y, width)
        }),
      )
    }
  }
  if (foot !== undefined) {
    doc.page.margins.bottom = 0
    const write = () => writeText(doc, foot, { ...fine, size: 7.5, color: quiet }, margin, 740, width)
    structure.add(doc.struct('P', {}, write))
  }
  doc.end()
  return pages
}
