import type { PagePath } from '@robokids/contracts/pages'
import type { ReactNode } from 'react'
import type { Accent } from '../ui/Card.tsx'
import type { DrawingName } from '../ui/drawing-names.ts'
import type { Place, Priced, Text } from './text.ts'
import type { Wiring } from './wiring.ts'

/** A sketch's lines in pieces, each with the class of its colour. */
export type SketchLines = readonly (readonly (readonly [
  text: string,
  kind?: 'keyword' | 'function' | 'string' | 'number' | 'comment',
])[])[]

export interface Sketch {
  /** Its file's name, as a parent saves it. */
  name: string
  lines: SketchLines
}

/** A text alone is a paragraph. */
export type Block =
  | Text
  | { kind: 'list'; items: readonly Text[] }
  | { kind: 'steps'; items: readonly Text[] }
  /** Steps with a name each, one after the other. */
  | { kind: 'phases'; items: readonly { title: string; text: Text; points: readonly Text[] }[] }
  | { kind: 'note'; title?: string; text: Text }
  /** Names and what belongs to them. */
  | { kind: 'facts'; items: readonly (readonly [name: string, value: Text])[] }
  /** Questions, each with an anchor. */
  | { kind: 'questions'; items: readonly { id: string; question: string; answer: readonly Text[] }[] }
  | { kind: 'table'; caption: string; head: readonly string[]; rows: readonly (readonly Text[])[] }
  | { kind: 'picture'; of: DrawingName; caption: Text }
  | { kind: 'cards'; cards: readonly (Card | PlaceCard)[] }
  | OwnBlock

/** Blocks that few pages have, and only those import. */
export type OwnBlock = GuideBlock | { kind: 'message-form' }

type GuideBlock =
  | { kind: 'sketch'; sketch: Sketch }
  | { kind: 'wiring'; wiring: Wiring }
  /** Symptoms with their remedies. */
  | { kind: 'troubles'; items: readonly { symptom: string; help: Text }[] }

/** A card that links to something other than an article: a person's page, or another site. */
export interface PlaceCard {
  id: string
  title: string
  snippet: string
  /** The text of its link. */
  action: string
  link: PagePath | `https://${string}`
  picture: DrawingName
}

interface Section {
  /** Its anchor. */
  id: string
  title: string
  /** `YYYY-MM-DD`, where it was published on its own. */
  date?: string
  blocks: readonly Block[]
}

export interface Content {
  /** Above the title: what kind of page it is. */
  kicker: string
  title: string
  lead: Text
  /** `YYYY-MM-DD`, with the word before it. */
  date?: readonly [word: 'Published' | 'Effective', date: string]
  picture: DrawingName
  accent?: Accent
  /** The parent page. */
  parent?: { to: PagePath; text: string }
  /** Before the first heading. */
  opening?: readonly Block[]
  sections: readonly Section[]
  /** Many sections: a table of contents leads to them. */
  contents?: boolean
  /** Each of its sections is an article of its own. */
  articles?: boolean
  /** Its sections are counted: 1., 2., 3. */
  numbered?: boolean
  /** Shows the prices that its texts name. */
  showPrice?: (of: Priced) => ReactNode
  /** The next steps; the first is the main one. */
  next?: readonly { to: Place; text: string }[]
}

/** An article or a guide in a list. */
export interface Card {
  id: string
  title: string
  snippet: string
  link: PagePath
  category: 'News' | 'Guide'
  /** The day it was published, `YYYY-MM-DD`; guides have none. */
  date?: string
  picture: DrawingName
}
