import { type ReactNode, useId } from 'react'
import { Card } from './Card.tsx'
import styles from './Section.module.css'

interface SectionProps {
  title: string
  /** A short introduction. */
  lead?: ReactNode
  children: ReactNode
}

/** A section of the profile page. */
export function Section({ title, lead, children }: SectionProps) {
  const headingId = useId()
  return (
    <Card as="section" aria-labelledby={headingId} className={styles.section ?? ''}>
      <h2 id={headingId} className={styles.title}>
        {title}
      </h2>
      {lead && <p className={styles.lead}>{lead}</p>}
      {children}
    </Card>
  )
}

interface ItemProps {
  name: ReactNode
  /** Its state, in a word. */
  badge?: string | undefined
  /** The badge is about something unsettled. */
  open?: boolean
  detail?: ReactNode
  /** A note below it. */
  note?: string | undefined
  children?: ReactNode
}

/** A list item with its actions. */
export function Item({ name, badge, open = false, detail, note, children }: ItemProps) {
  return (
    <li className={styles.item}>
      <div className={styles.what}>
        <span className={styles.name}>
          <span>{name}</span>
          {badge && <span className={`${styles.badge} ${open ? styles.open : ''}`}>{badge}</span>}
        </span>
        {detail && <span className={styles.detail}>{detail}</span>}
        {note && <span className={styles.note}>{note}</span>}
      </div>
      {children && <div className={styles.do}>{children}</div>}
    </li>
  )
}

interface ItemsProps {
  label: string
  /** The details are more important than the names. */
  facts?: boolean
  children: ReactNode
}

export function Items({ label, facts = false, children }: ItemsProps) {
  return (
    <ul className={`${styles.items} ${facts ? styles.facts : ''}`} aria-label={label}>
      {children}
    </ul>
  )
}

/** A form that opens within a section. */
export function Inset({ children }: { children: ReactNode }) {
  return <div className={styles.inset}>{children}</div>
}
