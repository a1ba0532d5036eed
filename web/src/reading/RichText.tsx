import { Link } from '@tanstack/react-router'
import { createContext, Fragment, useContext } from 'react'
import type { Content } from './blocks.ts'
import { OutsideLink } from './OutsideLink.tsx'
import type { Inline, Text } from './text.ts'

/** What shows a price: content whose texts name prices brings it along. */
export const PriceContext = createContext<Content['showPrice']>(undefined)

export function RichText({ text }: { text: Text }) {
  if (typeof text === 'string') return text
  return text.map((piece, index) => (
    <Fragment key={index}>
      <Piece piece={piece} />
    </Fragment>
  ))
}

function Piece({ piece }: { piece: Inline }) {
  const showPrice = useContext(PriceContext)
  if (typeof piece === 'string') return piece
  if ('strong' in piece) return <strong>{piece.strong}</strong>
  if ('code' in piece) return <code>{piece.code}</code>
  if ('mail' in piece) return <a href={`mailto:${piece.mail}`}>{piece.mail}</a>
  if ('href' in piece) return <OutsideLink href={piece.href}>{piece.text}</OutsideLink>
  if ('priceOf' in piece) return showPrice?.(piece.priceOf)
  // Within the page the browser's own way: it takes the keyboard along. And a file is no page.
  if (!isPage(piece.to)) return <a href={piece.to}>{piece.text}</a>
  return <Link to={piece.to}>{piece.text}</Link>
}

function isPage<To extends string>(to: To): to is Exclude<To, `#${string}` | '/waiver.pdf'> {
  return !/^#|pdf$/.test(to)
}
