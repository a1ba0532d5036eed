import { inOneLine } from '../checkout/Ticket.tsx'
import { Row } from '../forms/Form.tsx'
import { AddToCalendar } from '../registration/AddToCalendar.tsx'
import { AsWritten } from '../ui/AsWritten.tsx'
import { namesOf } from './ClassCard.tsx'
import { Moment } from './Moment.tsx'
import { momentOf, nearnessOf } from './moments.ts'
import styles from './Next.module.css'
import type { MemberClass, Upcoming } from './upcoming.ts'

/** Who a member's class is for, once its waiver names the children. */
export function memberNames({ signed }: MemberClass): string {
  return signed ? inOneLine(signed.childNames) : ''
}

/** The family's next class: what a parent opens the page for. */
export function Next({ next, now, incomplete }: { next: Upcoming | undefined; now: number; incomplete: boolean }) {
  if (!next) return null
  const near = next.kind === 'card' ? next.state.sentence : nearnessOf(next.startsAt, now)
  // The state of a card that is not in order has a sentence of its own, which the card and To do say.
  const isInOrder = next.kind === 'member' || ['ready', 'today', 'soon', 'live'].includes(next.state.kind)
  const nearness = isInOrder ? near : nearnessOf(next.startsAt, now)
  const who = next.kind === 'card' ? namesOf(next.card.children) : memberNames(next.seat)
  const what = next.kind === 'card' ? next.card.levelTitle : 'Members’ class'
  return (
    <section className={styles.next} aria-labelledby="next-heading">
      <div className={styles.words}>
        <h2 id="next-heading" className={styles.label}>
          Next
        </h2>
        <p className={styles.what}>
          {who === '' ? <span>{what}</span> : <AsWritten>{who}</AsWritten>}
          {who !== '' && <span>{` · ${what}`}</span>}
        </p>
        <p className={styles.day}>{momentOf(next.startsAt).day}</p>
        <p>
          <Moment of={next.startsAt} />
        </p>
        {nearness && <p className={styles.near}>{nearness}</p>}
        {incomplete && <p className={styles.near}>This may not be complete.</p>}
      </div>
      {next.kind === 'card' && isInOrder && (
        <Row>
          <AddToCalendar registrationId={next.card.registrationId} />
        </Row>
      )}
    </section>
  )
}
