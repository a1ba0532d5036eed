import type { Dashboard } from '@robokids/contracts/dashboard'
import { formatMoney } from '@robokids/contracts/pricing'
import { seatCount } from '@robokids/contracts/waitlist-texts'
import type { ReactNode } from 'react'
import { ButtonLink } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Section } from '../ui/Section.tsx'
import { timeLeft } from '../waitlist/offer-time.ts'
import { namesOf, PayButton } from './ClassCard.tsx'
import { clockTimeOf } from './moments.ts'
import styles from './ToDo.module.css'
import type { StatedCard, StatedSeat } from './upcoming.ts'
import { isOffered } from './WaitlistPart.tsx'

interface Task {
  key: string
  /** By when, in milliseconds: the first in time has the page's orange button. */
  deadline: number
  text: string
  button: (variant: 'primary' | 'secondary') => ReactNode
}

/** What a parent has to do, the most pressing first. */
export function tasksOf(
  { membership, waitlist }: Dashboard,
  cards: readonly StatedCard[],
  seats: readonly StatedSeat[],
  now: number,
): Task[] {
  const tasks = cards.flatMap(({ card, state }): Task[] => {
    const reference = { reference: card.registrationId }
    const names = namesOf(card.children)
    switch (state.kind) {
      case 'held': {
        const until = Date.parse(card.heldUntil ?? '')
        const seats = card.children.length === 1 ? 'the seat' : 'the seats'
        return [
          {
            key: card.cardId,
            deadline: until,
            text: `Pay for ${seats} of ${names}, held until ${clockTimeOf(until)}`,
            button: (variant) => <PayButton card={card} state={state} variant={variant} />,
          },
        ]
      }
      case 'waiver missing':
        return [
          {
            key: card.cardId,
            deadline: Date.parse(state.meeting?.startsAt ?? card.startsAt),
            text: `Sign the waiver for ${names}`,
            button: (variant) => (
              <ButtonLink to="/robokids/waiver" search={reference} variant={variant}>
                Sign<span className="visually-hidden">{` the waiver for ${names}`}</span>
              </ButtonLink>
            ),
          },
        ]
      case 'choice': {
        const place = card.places?.find(({ classCancelled }) => classCancelled)?.classCancelled
        const reference = place?.choiceId
        if (!place || !reference) return []
        return [
          {
            key: card.cardId,
            deadline: Date.parse(place.chooseUntil),
            text: `Choose a new date or your money for ${names}`,
            button: (variant) => (
              <ButtonLink to="/choice" search={{ reference }} variant={variant}>
                Choose<span className="visually-hidden">{` for ${names}`}</span>
              </ButtonLink>
            ),
          },
        ]
      }
      default:
        return []
    }
  })
  for (const { seat } of seats) {
    // One waiver is for all classes of a membership.
    if (seat.waiverSignedAt !== null || tasks.some(({ key }) => key === seat.membershipId)) continue
    tasks.push({
      key: seat.membershipId,
      deadline: Date.parse(seat.startsAt),
      text: 'Sign the waiver for the members’ class',
      button: (variant) => (
        <ButtonLink to="/waiver" search={{ membership: seat.membershipId }} variant={variant}>
          Sign<span className="visually-hidden"> the waiver for the members’ class</span>
        </ButtonLink>
      ),
    })
  }
  for (const entry of waitlist ?? []) {
    const { entryId, offerEndsAt, children } = entry
    if (!isOffered(entry, now) || offerEndsAt === null) continue
    tasks.push({
      key: entryId,
      deadline: Date.parse(offerEndsAt),
      text: `${seatCount(children.length)} offered, ${(timeLeft(offerEndsAt, now) ?? '').replace(/\.$/, '')}`,
      button: (variant) => (
        <ButtonLink to="/waitlist" search={{ offer: entryId }} variant={variant}>
          Look<span className="visually-hidden"> at the offer</span>
        </ButtonLink>
      ),
    })
  }
  const unpaid = membership?.membership?.unpaid
  if (unpaid) {
    tasks.push({
      key: 'membership',
      deadline: Date.parse(unpaid.nextTryAt ?? '') || now,
      text: `Your membership’s payment of ${formatMoney({ amount: unpaid.amount, currency: 'usd' })} did not go through`,
      button: (variant) => (
        <ButtonLink to="/profile" variant={variant}>
          Look<span className="visually-hidden"> at your membership</span>
        </ButtonLink>
      ),
    })
  }
  // Not `toSorted`, which older phones lack.
  return tasks.sort((one, other) => one.deadline - other.deadline)
}

interface ToDoProps {
  tasks: readonly Task[]
  incomplete: boolean
  /** Whether its first button is the most pressing one of the page. */
  pressing: boolean
}

export function ToDo({ tasks, incomplete, pressing }: ToDoProps) {
  if (tasks.length === 0) return null
  return (
    <Section title={`To do (${tasks.length})`} lead={incomplete ? 'This may not be complete.' : undefined}>
      <ul className={styles.tasks}>
        {tasks.map(({ key, text, button }, index) => (
          <li key={key} className={styles.task}>
            <span className={styles.sign}>
              <Icon name="warning" size={20} />
            </span>
            <span className={styles.text}>{text}</span>
            {button(index === 0 && pressing ? 'primary' : 'secondary')}
          </li>
        ))}
      </ul>
    </Section>
  )
}
