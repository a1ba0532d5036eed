import type { Membership } from '@robokids/contracts/billing'
import type { Dashboard } from '@robokids/contracts/dashboard'
import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate } from '@robokids/contracts/school-date'
import { ButtonLink } from '../ui/Button.tsx'
import { Section } from '../ui/Section.tsx'
import styles from './ClassCard.module.css'
import { FactRow } from './ClassCard.tsx'
import { Moment } from './Moment.tsx'
import { dateOf } from './moments.ts'
import { memberNames } from './Next.tsx'
import type { StatedSeat } from './upcoming.ts'

const day = (instant: string) => dateOf(schoolDate(instant))
const plans = { monthly: 'Monthly', yearly: 'Yearly' }

/** What a parent needs to know of a membership's money, in a sentence or two. */
function membershipSentence({ unpaid, endsAt, nextCharge, plan, amount, currency }: Membership): string {
  const price = `${plans[plan]}, ${formatMoney({ amount, currency })}.`
  if (unpaid) {
    const missing = `Your payment of ${formatMoney({ amount: unpaid.amount, currency })} did not go through.`
    return unpaid.nextTryAt
      ? `${missing} We try again on ${day(unpaid.nextTryAt)}. What you have booked stays.`
      : `${missing} What you have booked stays.`
  }
  if (endsAt) return `Ends on ${day(endsAt)}. What you have booked stays.`
  return nextCharge ? `${price} Next payment ${day(nextCharge.at)}.` : price
}

/** The membership, with its class; a family without one sees nothing of it. */
export function MembershipPart({ dashboard, seats }: { dashboard: Dashboard; seats: readonly StatedSeat[] }) {
  const { membership: found } = dashboard
  const membership = found?.membership
  if (!membership || (membership.status === 'ended' && seats.length === 0)) return null
  const ended = membership.status === 'ended'
  const more = found.others.filter(({ status }) => status !== 'ended').length
  return (
    <Section title="Membership">
      <p>{ended && membership.endsAt ? `Ended on ${day(membership.endsAt)}.` : membershipSentence(membership)}</p>
      {more > 0 && <p>You have a second membership, and pay for both. End one of them if you need only one.</p>}
      {seats.length > 0 && (
        <dl className={styles.rows}>
          {seats.map(({ seat }) => (
            <FactRow
              key={seat.membershipId}
              name={memberNames(seat) || 'Members’ class'}
              value={<Moment of={seat.startsAt} withDay />}
            />
          ))}
        </dl>
      )}
      <div>
        <ButtonLink to="/profile" variant="secondary">
          {membership.unpaid ? 'Update card' : membership.endsAt && !ended ? 'Keep my membership' : 'Manage it'}
        </ButtonLink>
      </div>
    </Section>
  )
}
