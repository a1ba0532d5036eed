import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import bidiFactory, { type Bidi } from 'bidi-js'
import { create, type Font } from 'fontkit'

type Doc = PDFKit.PDFDocument

/** A face of `fonts/`, read and parsed when the first text needs it: the Han face alone is 8 MB. */
class Face {
  readonly file: string
  #loaded: { bytes: Buffer; font: Font; characters: Set<number> } | undefined

  constructor(file: string) {
    this.file = file
  }

  #load() {
    if (this.#loaded) return this.#loaded
    const bytes = readFileSync(fileURLToPath(new URL(`../fonts/${this.file}`, import.meta.url)))
    const font = create(bytes)
    if (!('characterSet' in font)) throw new Error(`${this.file} holds more than one font`)
    this.#loaded = { bytes, font, characters: new Set(font.characterSet) }
    return this.#loaded
  }

  get bytes(): Buffer {
    return this.#load().bytes
  }

  has(codePoint: number): boolean {
    return this.#load().characters.has(codePoint)
  }

  /** The width of a run in ems. Kept apart from pdfkit's own, which parses a face anew for every document. */
  widthOf(run: Run): number {
    const { font } = this.#load()
    return font.layout(run.text, featuresOf(run).features).advanceWidth / font.unitsPerEm
  }
}

export const regular = new Face('noto-sans-regular.ttf')
export const bold = new Face('noto-sans-bold.ttf')

const emoji = new Face('noto-emoji.ttf')

/** Tried in this order, after the style's own face. The emoji face is last: it has digits of its own. */
const fallbacks = [
  regular,
  ...[
    'noto-sans-hebrew.ttf',
    'noto-sans-arabic.ttf',
    'noto-sans-korean.ttf',
    'noto-sans-han.otf',
    'noto-sans-devanagari.ttf',
    'noto-sans-bengali.ttf',
    'noto-sans-tamil.ttf',
    'noto-sans-telugu.ttf',
    'noto-sans-gujarati.ttf',
    'noto-sans-gurmukhi.ttf',
    'noto-sans-kannada.ttf',
    'noto-sans-malayalam.ttf',
    'noto-sans-oriya.ttf',
    'noto-sans-sinhala.ttf',
    'noto-sans-thai.ttf',
    'noto-sans-lao.ttf',
    'noto-sans-myanmar.ttf',
    'noto-sans-khmer.ttf',
    'noto-sans-armenian.ttf',
    'noto-sans-georgian.ttf',
    'noto-sans-ethiopic.ttf',
    'noto-serif-tibetan.ttf',
    'noto-sans-mongolian.ttf',
    'noto-sans-syriac.ttf',
    'noto-sans-thaana.ttf',
    'noto-sans-cherokee.ttf',
  ].map((file) => new Face(file)),
  emoji,
]

export interface Style {
  face: Face
  size: number
  color: string
}

interface Run {
  /** In the order in which the layout engine wants it. */
  text: string
  face: Face
  level: number
  /** Letters of which each stands for several characters. */
  stacked: boolean
}

// Its types describe an ES module, Node gets its CommonJS one.
const bidi = (bidiFactory as unknown as () => Bidi)()
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Variation selectors, joiners and the like: drawn as nothing, so a face need not have them. */
const ignorable = /\p{Default_Ignorable_Code_Point}/u

/** Steer the order of the runs and are never drawn. */
const directionControl = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

function codePoints(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0)
}

function faceOf(grapheme: string, style: Style): Face | undefined {
  const visible = codePoints(grapheme).filter((codePoint) => !ignorable.test(String.fromCodePoint(codePoint)))
  return [style.face, ...fallbacks].find((face) => visible.every((codePoint) => face.has(codePoint)))
}

/** `[U+1F9EC]`: what is printed for a character that none of the faces has, so that it is neither lost nor an empty box. */
function spelledOut(text: string): string {
  return codePoints(text)
    .map((codePoint) => `[U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}]`)
    .join('')
}

/** Composes what can be composed, and replaces what no face can draw. */
function drawable(text: string, style: Style): string {
  return Array.from(graphemes.segment(text.normalize('NFC')), ({ segment }) => {
    if (faceOf(segment, style)) return segment
    return Array.from(segment, (character) => (faceOf(character, style) ? character : spelledOut(character))).join('')
  }).join('')
}

const firstScripted = /[^\p{Script=Common}\p{Script=Inherited}\p{Script=Unknown}]/u
const rightToLeftScript = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/**
 * fontkit takes a run's direction from its first letter. Where Unicode's algorithm says otherwise (brackets in Hebrew,
 * Persian digits), the characters are handed over reversed.
 */
function inLayoutOrder(text: string, level: number): string {
  const rightToLeft = level % 2 === 1
  const mirrored = rightToLeft
    ? Array.from(text, (character) => bidi.getMirroredCharacter(character) ?? character).join('')
    : text
  const letter = firstScripted.exec(text)?.[0]
  const laidOutRightToLeft = letter !== undefined && rightToLeftScript.test(letter)
  if (laidOutRightToLeft === rightToLeft) return mirrored
  return Array.from(graphemes.segment(mirrored), ({ segment }) => segment)
    .toReversed()
    .join('')
}

/** Scripts whose glyphs stand in another order than their letters. */
const reorderingScript =
  /[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Oriya}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u

/**
 * A letter with marks that nothing composes, all or some of them: m̃, ọ̀. It is laid out from its parts. As it is, the face
 * takes ọ̀ apart, and its o would be copied as ọ wherever else an o is drawn.
 */
const stackedLetter = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]\p{M}/u

/** Splits one line into runs of one face and one direction, in the order in which they stand from left to right. */
function runsOf(line: string, style: Style): Run[] {
  const { levels } = bidi.getEmbeddingLevels(line)
  const runs: Run[] = []
  for (const { segment, index } of graphemes.segment(line)) {
    const previous = runs.at(-1)?.face
    // A blank between two words belongs to their face: a run that is not torn is copied and searched as a whole.
    const stays =
      previous && !firstScripted.test(segment) && codePoints(segment).every((codePoint) => previous.has(codePoint))
    const face = (stays ? previous : faceOf(segment, style)) ?? style.face
    const level = levels[index] ?? 0
    const stacked = stackedLetter.test(segment)
    const text = Array.from(stacked ? segment.normalize('NFD') : segment)
      .filter((character) => !directionControl.test(character))
      .filter((character) => !ignorable.test(character) || face.has(character.codePointAt(0) ?? 0))
      .join('')
    const last = runs.at(-1)
    if (last && last.face === face && last.level === level && last.stacked === stacked) last.text += text
    else runs.push({ text, face, level, stacked })
  }
  // Rule L2 of UAX 9: from the highest level down to the lowest odd one, reverse every sequence at that level or above.
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level -= 1) {
    for (let start = 0; start < runs.length; start += 1) {
      let end = start
      while ((runs[end]?.level ?? -1) >= level) end += 1
      if (end > start) runs.splice(start, end - start, ...runs.slice(start, end).toReversed())
      start = end
    }
  }
  return runs.map((run) => ({ ...run, text: inLayoutOrder(run.text, run.level) }))
}

type Features = PDFKit.Mixins.OpenTypeFeatures[]

const shaped: Features = []
/** fontkit takes an object too, which its types do not say. */
const plain = Object.fromEntries(
  ['ccmp', 'locl', 'rlig', 'mark', 'mkmk', 'calt', 'clig', 'liga', 'rclt', 'curs', 'kern'].map((feature) => [
    feature,
    false,
  ]),
) as unknown as Features
const simpleScripts =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hangul}\p{Script=Mongolian}\p{Script=Common}]*$/u

/**
 * Scripts that set letter after letter are laid out without any feature: it is three times as fast, and Noto Sans would
 * draw a composed letter (ị) as its parts, which are then copied as one another. Naming the features, even none, also
 * makes pdfkit lay a run out as a whole instead of word by word, which right-to-left text needs. Mongolian is among them
 * because fontkit cannot read how the face joins its letters: they stand side by side.
 */
function featuresOf(run: Run): { features: Features } {
  return { features: run.face !== emoji && simpleScripts.test(run.text) ? plain : shaped }
}

function setFace(doc: Doc, face: Face, style: Style): void {
  doc.registerFont(face.file, face.bytes)
  doc.font(face.file, style.size)
}

/** How wide a line is, in points. */
export function widthOf(line: string, style: Style): number {
  return runsOf(line, style).reduce((width, run) => width + run.face.widthOf(run) * style.size, 0)
}

/** Breaks after blanks where it can, else between characters as readers see them. */
function linesOf(text: string, style: Style, width: number): string[] {
  const fits = (candidate: string) => widthOf(candidate.trimEnd(), style) <= width
  if (fits(text)) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.match(/\S+\s*|\s+/gu) ?? []) {
    if (fits(line + word)) {
      line += word
      continue
    }
    if (line !== '') lines.push(line.trimEnd())
    line = ''
    for (const { segment } of graphemes.segment(word)) {
      if (line !== '' && !fits(line + segment)) {
        lines.push(line.trimEnd())
        line = ''
      }
      line += segment
    }
  }
  return [...lines, line.trimEnd()]
}

/**
 * Writes text in any script, each run in the first face that has it, in the order of the Unicode bidirectional
 * algorithm, wrapped to `width`; goes on on a new page where this one is full.
 * @param y the first line's baseline.
 * @returns the baseline below the last line.
 */
export function writeText(doc: Doc, text: string, style: Style, x: number, y: number, width: number): number {
  const leading = style.size * 1.4
  let baseline = y
  for (const line of linesOf(drawable(text, style), style, width)) {
    if (baseline > doc.page.height - doc.page.margins.bottom) {
      // With the tags that are open.
      doc.continueOnNewPage()
      baseline = doc.page.margins.top + style.size
    }
    const runs = runsOf(line, style)
    // Readers turn right-to-left text around by themselves; letters that shaping moved they cannot put back.
    const reordered = reorderingScript.test(line) && runs.every((run) => run.level === 0)
    if (reordered) doc.markContent('Span', { actual: line })
    let left = x
    for (const run of runs) {
      setFace(doc, run.face, style)
      doc.fillColor(style.color)
      doc.text(run.text, left, baseline, { ...featuresOf(run), lineBreak: false, baseline: 'alphabetic' })
      left += run.face.widthOf(run) * style.size
    }
    if (reordered) doc.endMarkedContent()
    baseline += leading
  }
  return baseline
}
