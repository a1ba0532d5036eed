import type { LevelClassType } from '@robokids/contracts/enrollment'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { Inline, Text } from '../../content/blocks.ts'
import { classesQuery } from '../../queries.ts'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { OutsideLink } from './OutsideLink.tsx'

export function RichText({ text }: { text: Text }) {
  if (typeof text === 'string') return text
  return text.map((piece, index) => (
    <Fragment key={index}>
      <Piece piece={piece} />
    </Fragment>
  ))
}

function Piece({ piece }: { piece: Inline }) {
  if (typeof piece === 'string') return piece
  if ('strong' in piece) return <strong>{piece.strong}</strong>
  if ('code' in piece) return <code>{piece.code}</code>
  if ('mail' in piece) return <a href={`mailto:${piece.mail}`}>{piece.mail}</a>
  if ('href' in piece) return <OutsideLink href={piece.href}>{piece.text}</OutsideLink>
  if ('priceOf' in piece) return <Price of={piece.priceOf} />
  // Within the page the browser's own way: it takes the keyboard along.
  if (isAnchor(piece.to)) return <a href={piece.to}>{piece.text}</a>
  return <Link to={piece.to}>{piece.text}</Link>
}

function isAnchor(to: string): to is `#${string}` {
  return to.startsWith('#')
}

/** As the server has it: prices stand in no article. */
function Price({ of }: { of: LevelClassType }) {
  const { data, isError } = useQuery(classesQuery)
  const level = data?.levels.find(({ classType }) => classType === of)
  if (level) return formatMoney(level.price, true)
  return isError ? 'On its page' : <Skeleton width="4ch" />
}
