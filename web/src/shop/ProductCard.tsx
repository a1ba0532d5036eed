import type { Money } from '@robokids/contracts/fields'
import type { PagePath } from '@robokids/contracts/pages'
import { formatMoney } from '@robokids/contracts/pricing'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Accent } from '../ui/Card.tsx'
import type { DrawingName } from '../ui/drawing-names.ts'
import { Drawing } from '../ui/Drawing.tsx'
import styles from './ProductCard.module.css'

interface ProductCardProps {
  name: string
  /** Its own page. */
  to?: PagePath
  drawing: DrawingName
  /** It is at the top of the page. */
  first?: boolean
  accent: Accent
  price: Money
  /** Whole dollars are shown without cents. */
  wholePrice: boolean
  /** The price is the lowest of several. */
  from?: boolean
  /** A short status. */
  marks: string[]
  text: string
  points: string[]
  /** Actions. */
  children: ReactNode
}

/** A product: name, status and price. */
export function ProductCard({
  name,
  to,
  drawing,
  first = false,
  accent,
  price,
  wholePrice,
  from = false,
  marks,
  text,
  points,
  children,
}: ProductCardProps) {
  return (
    <article className={styles.card} data-accent={accent}>
      <div className={styles.picture}>
        <Drawing of={drawing} first={first} />
      </div>
      <div className={styles.words}>
        <h2 className={styles.title}>{to ? <Link to={to}>{name}</Link> : name}</h2>
        <p className={styles.priceLine}>
          <span className={styles.price}>{`${from ? 'From ' : ''}${formatMoney(price, wholePrice)}`}</span>
          {marks.map((mark) => (
            <span key={mark} className={styles.mark}>
              {mark}
            </span>
          ))}
        </p>
        <p className={styles.text}>{text}</p>
        <ul className={styles.points}>
          {points.map((point) => (
            <li key={point}>{point}</li>
          ))}
        </ul>
        <div className={styles.actions}>{children}</div>
      </div>
    </article>
  )
}
