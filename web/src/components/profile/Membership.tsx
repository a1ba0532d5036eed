import type { MembershipPlan, Profile } from '@robokids/contracts/auth'
import type { Membership as MembershipData, SwitchQuote } from '@robokids/contracts/billing'
import { formatClassDate, formatClassTime } from '@robokids/contracts/class-date'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api.ts'
import { isRefusal } from '../../identity/messages.ts'
import { useSending } from '../../identity/use-sending.ts'
import { portal, switchQuote } from '../../membership/answers.ts'
import { changeMembership, membershipQuery, memberSeatQuery } from '../../membership/queries.ts'
import { recordOfMembership, saveSessionRecord } from '../../registration/record.ts'
import { useLeaveFor } from '../../registration/use-leave-for.ts'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Notice } from '../../ui/Notice.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { MessageLine, Row } from '../Form.tsx'
import { formatMoment } from './format-moment.ts'
import { Item, Items, Section } from './Section.tsx'

const dollars = (amount: number) => formatMoney({ amount, currency: 'usd' })
const periods: Record<MembershipPlan, string> = { monthly: 'month', yearly: 'year' }
const other: Record<MembershipPlan, MembershipPlan> = { monthly: 'yearly', yearly: 'monthly' }
const priceOf = (plan: MembershipPlan, amount: number) => `${dollars(amount)} a ${periods[plan]}`

export function Membership({ userId, profile }: { userId: string; profile: Profile }) {
  const { data, isError, isFetching, refetch } = useQuery(membershipQuery(userId))
  if (data?.membership) return <Known userId={userId} membership={data.membership} profile={profile} />
  return (
    <Section title="Your membership">
      {data ? (
        <>
          <p>You are not a member yet. Members have a session of their own on each class date.</p>
          <div>
            <ButtonLink to="/membership" variant="secondary">
              See the membership
            </ButtonLink>
          </div>
        </>
      ) : isError ? (
        <Notice kind="error" title="We could not load your membership." live>
          <Button variant="secondary" onClick={() => void refetch()} pending={isFetching} pendingLabel="Loading...">
            Try again
          </Button>
        </Notice>
      ) : (
        <div aria-busy="true">
          <p className="visually-hidden" aria-live="polite">
            Loading your membership...
          </p>
          <Skeleton height="9rem" />
        </div>
      )}
    </Section>
  )
}

type Asking = { what: 'cancel' } | { what: 'switch'; quote: SwitchQuote } | null

interface KnownProps {
  userId: string
  membership: MembershipData
  profile: Profile
}

function Known({ userId, membership, profile }: KnownProps) {
  const [asking, setAsking] = useState<Asking>(null)
  const state = useSending('Something went wrong.')
  const queryClient = useQueryClient()
  const { leaving, leaveFor } = useLeaveFor()
  const { status, plan, amount, nextPlan, endsAt } = membership
  const busy = state.sending || leaving

  const change = (what: 'cancel' | 'resume', done: (changed: MembershipData) => string) =>
    state.send(async () => {
      setAsking(null)
      state.succeed(done(await changeMembership(queryClient, userId, what)))
    })
  const openPortal = () =>
    state.send(async () => leaveFor((await api('/api/membership/portal', { method: 'POST', answer: portal })).url))
  const askSwitch = (wanted: MembershipPlan) =>
    state.send(async () => {
      const quote = await api('/api/membership/quote', { method: 'POST', body: { plan: wanted }, answer: switchQuote })
      setAsking({ what: 'switch', quote })
    })
  const switchTo = ({ plan: wanted, dueNow, reckonedAt }: SwitchQuote) =>
    state.send(async () => {
      setAsking(null)
      try {
        await changeMembership(queryClient, userId, 'switch', { plan: wanted, dueNow, reckonedAt })
        state.succeed('Your plan is changed.')
      } catch (error) {
        if (!isRefusal(error, 'quote_outdated')) throw error
        // It costs another amount by now, which is shown before anybody agrees to it.
        const quote = await api('/api/membership/quote', {
          method: 'POST',
          body: { plan: wanted },
          answer: switchQuote,
        })
        setAsking({ what: 'switch', quote })
      }
    })

  if (status === 'ended') {
    return (
      <Section title="Your membership">
        <MessageLine message={state.message} />
        <p>Your membership ended{endsAt && ` on ${formatMoment(endsAt)}`}. You are welcome back at any time.</p>
        <div>
          <ButtonLink to="/membership/register">Become a member again</ButtonLink>
        </div>
        <Payments payments={membership.payments} />
      </Section>
    )
  }
  return (
    <Section title="Your membership">
      <MessageLine message={state.message} />
      {membership.unpaid && (
        <Notice kind="error" title={`Your payment of ${dollars(membership.unpaid.amount)} did not go through.`}>
          <p>
            {membership.unpaid.nextTryAt
              ? `We try again on ${formatMoment(membership.unpaid.nextTryAt)}. Until then your membership runs on.`
              : 'We do not try again by ourselves.'}{' '}
            Please update your card.
          </p>
        </Notice>
      )}
      {endsAt && (
        <Notice title={`Your membership ends on ${formatMoment(endsAt)}.`}>
          <p>Until then you keep it. Nothing more is charged.</p>
        </Notice>
      )}
      <Items label="Membership" facts>
        <Item name="Plan" detail={priceOf(plan, amount)}>
          {!endsAt && status === 'active' && !nextPlan && (
            <Button variant="quiet" disabled={busy} onClick={() => askSwitch(other[plan])}>
              Pay by the {periods[other[plan]]}
            </Button>
          )}
        </Item>
        {nextPlan && membership.nextCharge && (
          <Item
            name="Next plan"
            detail={`${priceOf(nextPlan, membership.nextCharge.amount)}, from ${formatMoment(membership.paidUntil)}`}
          >
            <Button variant="quiet" disabled={busy} onClick={() => askSwitch(plan)}>
              Keep paying by the {periods[plan]}
            </Button>
          </Item>
        )}
        <SessionItem membership={membership} />
        <WaiverItem membership={membership} profile={profile} />
        <Item
          name="Next payment"
          detail={
            membership.nextCharge
              ? `${dollars(membership.nextCharge.amount)} on ${formatMoment(membership.nextCharge.at)}`
              : 'None'
          }
        />
        <Item name="Card" detail={cardOf(membership)}>
          <Button variant="quiet" disabled={busy} onClick={openPortal}>
            Update card
          </Button>
        </Item>
      </Items>
      <div>
        {endsAt ? (
          <Button
            pending={busy}
            onClick={() => change('resume', () => 'Your membership goes on. Good to have you back.')}
          >
            Keep my membership
          </Button>
        ) : (
          <Button variant="secondary" disabled={busy} onClick={() => setAsking({ what: 'cancel' })}>
            Cancel membership
          </Button>
        )}
      </div>
      <Payments payments={membership.payments} />

      <Dialog open={asking?.what === 'cancel'} title="Cancel your membership?" onClose={() => setAsking(null)}>
        <p>
          You keep it until {formatMoment(membership.paidUntil)}, which is paid. Nothing more is charged. Until then you
          can change your mind here.
        </p>
        <Row>
          <Button
            onClick={() =>
              change(
                'cancel',
                (changed) => `Your membership is cancelled. It ends on ${formatMoment(changed.endsAt ?? '')}.`,
              )
            }
          >
            Yes, cancel it
          </Button>
          <Button variant="secondary" onClick={() => setAsking(null)}>
            Keep it
          </Button>
        </Row>
      </Dialog>
      <Dialog
        open={asking?.what === 'switch'}
        title={asking?.what === 'switch' ? `Pay by the ${periods[asking.quote.plan]}?` : ''}
        onClose={() => setAsking(null)}
      >
        {asking?.what === 'switch' && (
          <SwitchTerms quote={asking.quote} onAgree={() => switchTo(asking.quote)} onCancel={() => setAsking(null)} />
        )}
      </Dialog>
    </Section>
  )
}

/** What the one date of a membership is: a class of its own, at its time. */
function SessionItem({ membership: { membershipId, classDate } }: Pick<KnownProps, 'membership'>) {
  const { data: seat } = useQuery(memberSeatQuery(membershipId))
  const time = seat?.startTime ? `, ${formatClassTime(seat.startTime)} Pacific` : ''
  return <Item name="Members’ session" detail={`${formatClassDate(classDate)}${time}: a live class on a video call`} />
}

/** Nothing until it is known whether the waiver is signed. */
function WaiverItem({ membership: { membershipId, classDate }, profile }: Omit<KnownProps, 'userId'>) {
  const { data: seat } = useQuery(memberSeatQuery(membershipId))
  if (seat?.status !== 'seated') return null
  if (seat.waiverSignedAt) return <Item name="Waiver" detail={`Signed on ${formatMoment(seat.waiverSignedAt)}`} />
  const { givenName, familyName, email, address } = profile
  const remember = () =>
    saveSessionRecord(
      recordOfMembership(membershipId, {
        guardianName: `${givenName} ${familyName}`.trim(),
        email,
        addressLine1: address,
        startDate: classDate,
      }),
    )
  return (
    <Item name="Waiver" detail="Not signed yet">
      <ButtonLink to="/waiver" search={{ membership: membershipId }} variant="secondary" onClick={remember}>
        Complete Waiver Form
      </ButtonLink>
    </Item>
  )
}

function cardOf({ card }: MembershipData): string {
  if (!card) return 'None'
  const { brand, last4, expMonth, expYear } = card
  const name = brand.slice(0, 1).toUpperCase() + brand.slice(1)
  return `${name} ending in ${last4}, valid until ${String(expMonth).padStart(2, '0')}/${String(expYear % 100).padStart(2, '0')}`
}

interface SwitchTermsProps {
  quote: SwitchQuote
  onAgree: () => void
  onCancel: () => void
}

/** The exact money, before anybody agrees to it. */
function SwitchTerms({ quote, onAgree, onCancel }: SwitchTermsProps) {
  const { plan, dueNow, credit, amount, nextChargeAt } = quote
  return (
    <>
      {dueNow > 0 ? (
        <>
          <Items label="What is charged" facts>
            <Item name={`The ${periods[plan]}`} detail={dollars(amount)} />
            {credit > 0 && <Item name="Taken off for unused time" detail={`−${dollars(credit)}`} />}
            <Item name="Charged to your card now" detail={dollars(dueNow)} />
          </Items>
          <p>
            Then {priceOf(plan, amount)}, from {formatMoment(nextChargeAt)}, until you cancel.
          </p>
        </>
      ) : (
        <p>
          Nothing is charged now, and no time that you have paid is lost. From {formatMoment(nextChargeAt)} you pay{' '}
          {priceOf(plan, amount)}, until you cancel.
        </p>
      )}
      <Row>
        <Button onClick={onAgree}>{dueNow > 0 ? `Pay ${dollars(dueNow)} now` : `Pay by the ${periods[plan]}`}</Button>
        <Button variant="secondary" onClick={onCancel}>
          Leave it as it is
        </Button>
      </Row>
    </>
  )
}

const reasons = { first: 'First payment', renewal: 'Renewal', switch: 'Change of plan' }

function Payments({ payments }: Pick<MembershipData, 'payments'>) {
  if (payments.length === 0) return null
  return (
    <>
      <h3>Receipts</h3>
      <Items label="Receipts">
        {payments.map(({ receiptNumber, paidAt, amount, reason, refunded, disputed }) => (
          <Item
            key={receiptNumber}
            name={`${receiptNumber}: ${dollars(amount)}`}
            badge={disputed ? 'Disputed' : undefined}
            open={disputed}
            detail={`${reasons[reason]}, ${formatMoment(paidAt)}${refunded > 0 ? `, ${dollars(refunded)} refunded` : ''}`}
          />
        ))}
      </Items>
    </>
  )
}
