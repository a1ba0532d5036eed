import type { ReactNode } from 'react'
import { type Accent, Card } from '../ui/Card.tsx'
import { Actions } from './StatusPage.tsx'
import styles from './Ticket.module.css'

interface TicketProps {
  /** Whom it is for: the children, where they are known. */
  who: ReactNode
  what: string
  when?: ReactNode
  picture: ReactNode
  accent?: Accent | undefined
  /** What to do now; the first is the one that is due. */
  children: ReactNode
}

/** What has been paid for, as something to look forward to. */
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
