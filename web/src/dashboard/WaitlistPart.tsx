import { formatMoney } from '@robokids/contracts/pricing'
import type { WaitlistView } from '@robokids/contracts/waitlist'
import { placeInLine, seatCount } from '@robokids/contracts/waitlist-texts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { offerOf, totalOf } from '../classes/class-offer.ts'
import { classesQuery } from '../classes/classes-query.ts'
import { isLevel } from '../classes/level-looks.ts'
import { Row } from '../forms/Form.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { Section } from '../ui/Section.tsx'
import { DeclineButton } from '../waitlist/DeclineButton.tsx'
import { LeaveButton } from '../waitlist/LeaveButton.tsx'
import { schoolMoment, schoolWeekday, timeLeft } from '../waitlist/offer-time.ts'
import { dateOf } from './moments.ts'
import styles from './Orders.module.css'

const toldForMs = 7 * 24 * 3_600_000

/** The places to show: the open ones, and those that ended lately without the family's doing. */
export function shownPlaces(entries: readonly WaitlistView[], now: number): WaitlistView[] {
  return entries.filter(({ status, closedReason, endedAt }) => {
    if (status === 'waiting' || status === 'offered') return true
    const isTold = status === 'expired' || closedReason === 'class_cancelled'
    return isTold && endedAt !== null && now - Date.parse(endedAt) < toldForMs
  })
}

/** The family's places in line and its offers; absent where there are none. */
export function WaitlistPart({ entries, now }: { entries: readonly WaitlistView[]; now: number }) {
  const shown = shownPlaces(entries, now)
  if (shown.length === 0) return null
  return (
    <Section title="Waitlist">
      <ul className={styles.orders}>
        {shown.map((entry) => (
          <li key={entry.entryId} className={styles.order}>
            <p className={styles.head}>
              <strong>{`${entry.levelTitle}, ${dateOf(entry.startDate)}`}</strong>
            </p>
            <Place entry={entry} now={now} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Place({ entry, now }: { entry: WaitlistView; now: number }) {
  const queryClient = useQueryClient()
  const again = () => void queryClient.invalidateQueries({ queryKey: ['dashboard'] })
  const { status, place, familiesWaiting, children, closedReason, offerEndsAt, classType, startDate } = entry
  const seats = seatCount(children.length)
  const left = offerEndsAt === null ? null : timeLeft(offerEndsAt, now)
  if (status === 'waiting') {
    return (
      <Told text={`${placeInLine(place ?? 1, familiesWaiting)} for ${seats}`}>
        <LeaveButton entryId={entry.entryId} onLeft={again} />
      </Told>
    )
  }
  if (status === 'offered' && offerEndsAt !== null && left !== null) {
    const are = children.length === 1 ? 'is' : 'are'
    return (
      <Told text={`${seats} ${are} yours until ${schoolMoment(offerEndsAt)}. ${left}`}>
        <TakeLink entry={entry} />
        <DeclineButton entry={entry} onDeclined={again} />
      </Told>
    )
  }
  if (closedReason === 'class_cancelled') {
    return (
      <Told text="This class was canceled, so the line is closed.">
        <ButtonLink to="/levels" variant="secondary">
          See other dates
        </ButtonLink>
      </Told>
    )
  }
  const when = offerEndsAt === null ? '' : ` on ${schoolWeekday(offerEndsAt)}`
  return (
    <Told text={`The offer ended${when}. The ${children.length === 1 ? 'seat' : 'seats'} went to the next family.`}>
      {isLevel(classType) && (
        <ButtonLink to="/waitlist" search={{ classType, startDate }} variant="secondary">
          Join the line again
        </ButtonLink>
      )}
    </Told>
  )
}

function Told({ text, children }: { text: string; children: ReactNode }) {
  return (
    <>
      <p className={styles.text} aria-live="polite">
        {text}
      </p>
      <Row>{children}</Row>
    </>
  )
}

/** Leads to the page of the offer, which asks for the address. The price is asked for only where there is an offer. */
function TakeLink({ entry: { entryId, classType, children } }: { entry: WaitlistView }) {
  const classes = useQuery(classesQuery)
  const level = classes.data && isLevel(classType) ? offerOf(classes.data, classType) : undefined
  const price = level ? `, ${formatMoney(totalOf(level, children.length).total)}` : ''
  return (
    <ButtonLink to="/waitlist" search={{ offer: entryId }} variant="secondary">
      {`Take the ${children.length === 1 ? 'seat' : 'seats'}${price}`}
    </ButtonLink>
  )
}
