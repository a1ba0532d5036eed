import { meetingsOf } from '@robokids/contracts/class-link-times'
import { inOneLine } from '../checkout/Ticket.tsx'
import { Row } from '../forms/Form.tsx'
import { AddToCalendar } from '../registration/AddToCalendar.tsx'
import { AsWritten } from '../ui/AsWritten.tsx'
import { Join, linkOfCard, Passcode, useClassLink } from './class-link.tsx'
import { linkMissing, namesOf } from './ClassCard.tsx'
import { Moment } from './Moment.tsx'
import { momentOf, nearnessOf } from './moments.ts'
import styles from './Next.module.css'
import { isLinkOpen, type MemberClass, type Upcoming } from './upcoming.ts'

/** Who a member's class is for, once its waiver names the children. */
export function memberNames({ signed }: MemberClass): string {
  return signed ? inOneLine(signed.childNames) : ''
}

interface NextProps {
  next: Upcoming
  now: number
  /** Whether classes may be missing, as their service does not answer. */
  incomplete: boolean
}

/** The family's next meeting: what a parent opens the page for. Its way in is the page's most pressing button. */
export function Next({ next, now, incomplete }: NextProps) {
  const { state, meeting } = next
  const isOpen = isLinkOpen(state)
  const link = useClassLink(
    next.kind === 'card' ? linkOfCard(next.card) : `member-seats/${next.seat.membershipId}/link`,
    isOpen,
  )
  const who = next.kind === 'card' ? namesOf(next.card.children) : memberNames(next.seat)
  const what = next.kind === 'card' ? next.card.levelTitle : 'Members’ class'
  const count = next.kind === 'card' ? meetingsOf(next.card).length : 1
  const nearness = isOpen ? state.sentence?.replace(/\.$/, '') : nearnessOf(meeting.startsAt, now)
  const facts = [nearness, count > 1 ? `meeting ${meeting.number} of ${count}` : undefined]
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
        <p className={styles.day}>{momentOf(meeting.startsAt).day}</p>
        <p>
          <Moment of={meeting.startsAt} />
        </p>
        <p className={styles.near}>{sentenceOf(facts)}</p>
        {link.state === 'missing' && <p>{linkMissing}</p>}
        <Passcode link={link} />
        {incomplete && <p className={styles.near}>This may not be complete.</p>}
      </div>
      <Row>
        {isOpen ? (
          <Join link={link} variant="primary" who={who} />
        ) : (
          next.kind === 'card' && <AddToCalendar registrationId={next.card.registrationId} />
        )}
      </Row>
    </section>
  )
}

/** `In 3 days · meeting 3 of 6` */
function sentenceOf(facts: readonly (string | undefined)[]): string {
  const text = facts.filter((fact) => fact !== undefined).join(' · ')
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
