import type { LevelClassType } from '@robokids/contracts/enrollment'
import type { PagePath } from '@robokids/contracts/pages'

/** A page of this site; `/guides` redirects to the hub. */
export type Place = PagePath | '/guides'

export type Priced = LevelClassType | 'membership'

/** A part of a sentence: plain text, or marked up. */
export type Inline =
  | string
  | { strong: string }
  /** Code, or a label on a part: `HIGH`, `IN1`. */
  | { code: string }
  /** A page of this site, or with `#` a section of the same page. */
  | { to: Place | '/waiver.pdf' | `#${string}`; text: string }
  /** A mail to us. */
  | { mail: string }
  /** Another site; it opens in a new tab. */
  | { href: string; text: string }
  /** A current price from the server: a level's, or a membership's per month and per year. */
  | { priceOf: Priced }

export type Text = string | readonly Inline[]

/** A text without its markup. */
export function plain(text: Text): string {
  if (typeof text === 'string') return text
  return text
    .map((piece) => {
      if (typeof piece === 'string') return piece
      if ('text' in piece) return piece.text
      if ('strong' in piece) return piece.strong
      if ('code' in piece) return piece.code
      return 'mail' in piece ? piece.mail : ''
    })
    .join('')
}
