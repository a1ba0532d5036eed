import type { ComponentProps, ElementType } from 'react'
import styles from './Card.module.css'

export type Accent = 'green' | 'blue' | 'violet' | 'orange'

interface CardProps extends ComponentProps<'div'> {
  as?: ElementType
  /** A level's color, as a band along the top. */
  accent?: Accent | undefined
}

export function Card({ as: Element = 'div', accent, className = '', ...rest }: CardProps) {
  return (
    <Element {...rest} data-accent={accent} className={`${styles.card} ${accent ? styles.banded : ''} ${className}`} />
  )
}
