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
  /** It stands where the page begins. */
  first?: boolean
  accent: Accent
  price: Money
  /** Without cents where there are none. */
  wholePrice: boolean
  /** There are dearer ones. */
  from?: boolean
  /** Short words about how it stands. */
  marks: string[]
  text: string
  points: string[]
  /** What can be done about it. */
  children: ReactNode
}

/** A thing of the shop: what it is, how it stands, what it costs. */
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
