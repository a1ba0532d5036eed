import type { Membership } from '@robokids/contracts/billing'
import type { Dashboard } from '@robokids/contracts/dashboard'
import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate } from '@robokids/contracts/school-date'
import { Row } from '../forms/Form.tsx'
import { creditSentence } from '../membership/credit-words.ts'
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

/** What it costs, where nothing more pressing is to be said. */
function priceSentence({ unpaid, endsAt, nextCharge, plan, amount, currency }: Membership): string | undefined {
  if (unpaid || endsAt) return undefined
  const price = `${plans[plan]}, ${formatMoney({ amount, currency })}.`
  return nextCharge ? `${price} Next payment ${day(nextCharge.at)}.` : price
}

/** The membership, with its class; a family without one sees nothing of it. */
export function MembershipPart({ dashboard, seats }: { dashboard: Dashboard; seats: readonly StatedSeat[] }) {
  const { membership: found } = dashboard
  const membership = found?.membership
  if (!membership || (membership.status === 'ended' && seats.length === 0)) return null
  const ended = membership.status === 'ended'
  const price = priceSentence(membership)
  const own = dashboard.classes?.memberCredits?.find(({ membershipId }) => membershipId === membership.membershipId)
  const more = found.others.filter(({ status }) => status !== 'ended').length
  return (
    <Section title="Membership">
      {price && !ended && <p>{price}</p>}
      {ended ? (
        <p>{`${membership.endsAt ? `Ended on ${day(membership.endsAt)}. ` : ''}What you have booked stays.`}</p>
      ) : (
        // While its classes are unknown, nothing is said of their number.
        (own || membership.unpaid || membership.endsAt) && <p>{creditSentence(own?.credits ?? 0, membership)}</p>
      )}
      {more > 0 && <p>You have a second membership, and pay for both. End one of them if you need only one.</p>}
      {seats.length > 0 && (
        <dl className={styles.rows}>
          {seats.map(({ seat }) => (
            <FactRow
              key={seat.bookingId ?? seat.membershipId}
              name={memberNames(seat) || 'Members’ class'}
              value={<Moment of={seat.startsAt} withDay />}
            />
          ))}
        </dl>
      )}
      <Row>
        {own && (own.credits > 0 || own.booked.length > 0) && (
          <ButtonLink to="/dashboard/book" variant="secondary">
            {own.credits > 0 ? 'Book a class' : 'Move a class'}
          </ButtonLink>
        )}
        <ButtonLink to="/profile" variant="secondary">
          {membership.unpaid ? 'Update card' : membership.endsAt && !ended ? 'Keep my membership' : 'Manage it'}
        </ButtonLink>
      </Row>
    </Section>
  )
}
