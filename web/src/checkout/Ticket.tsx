import type { ReactNode } from 'react'
import { type Accent, Card } from '../ui/Card.tsx'
import { Actions } from './StatusPage.tsx'
import styles from './Ticket.module.css'

interface TicketProps {
  /** The children, if known. */
  who: ReactNode
  what: string
  when?: ReactNode
  picture: ReactNode
  accent?: Accent | undefined
  /** Actions; the first is due now. */
  children: ReactNode
}

/** The paid purchase, shown as a ticket. */
export function Ticket({ who, what, when, picture, accent, children }: TicketProps) {
  return (
    <Card as="section" accent={accent} aria-labelledby="ticket-heading" className={styles.ticket ?? ''}>
      <div className={styles.picture}>{picture}</div>
      <div className={styles.words}>
        <h2 id="ticket-heading" className={styles.who}>
          <bdi>{who}</bdi>
        </h2>
        <p className={styles.what}>{what}</p>
      </div>
      {when && <div className={styles.when}>{when}</div>}
      <div className={styles.actions}>
        <Actions>{children}</Actions>
      </div>
    </Card>
  )
}

/** `Ivo`, `Ivo and Noa`, `Ivo, Noa and Kim`. */
export function inOneLine(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${last}` : last
}
