import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { MembershipPlan, Profile } from '@robokids/contracts/auth'
import type { Membership as MembershipData, SwitchQuote } from '@robokids/contracts/billing'
import { formatClassDate } from '@robokids/contracts/class-date'
import { formatMoney } from '@robokids/contracts/pricing'
import { periodOf } from '@robokids/contracts/renewal-terms'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { api } from '../api/api.ts'
import { isRefusal } from '../api/refusals.ts'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { type WayOn as Way, wayOnFrom } from '../checkout/way-on.ts'
import { WayOn } from '../checkout/WayOn.tsx'
import { timeForReader } from '../classes/class-time.ts'
import { MessageLine, Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { recordOfMembership, saveSessionRecord } from '../registration/record.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { formatMoment } from '../ui/format-moment.ts'
import { Notice } from '../ui/Notice.tsx'
import { Item, Items, Section } from '../ui/Section.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import { portal, switchQuote } from './answers.ts'
import { changeMembership, membershipQuery, memberSeatQuery } from './queries.ts'

// Only in an open question.
const WhatStays = lazy(async () => ({ default: (await import('./WhatStays.tsx')).WhatStays }))

const dollars = (amount: number) => formatMoney({ amount, currency: 'usd' })
const other: Record<MembershipPlan, MembershipPlan> = { monthly: 'yearly', yearly: 'monthly' }
const priceOf = (plan: MembershipPlan, amount: number) => `${dollars(amount)} a ${periodOf(plan)}`

export function MembershipSection({ userId, profile }: { userId: string; profile: Profile }) {
  const { data, isError, isFetching, refetch } = useQuery(membershipQuery(userId))
  const others = data?.others?.map((membership) => (
    <Other key={membership.membershipId} userId={userId} membership={membership} />
  ))
  if (data?.membership)
    return (
      <>
        <Known userId={userId} membership={data.membership} profile={profile} />
        {others}
      </>
    )
  return (
    <>
      <Section title="Your membership">
        {data ? (
          <>
            <p>You’re not a member yet. Members have a session of their own on each class date.</p>
            <div>
              <ButtonLink to="/membership" variant="secondary">
                See membership plans
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
            <TakesLonger />
          </div>
        )}
      </Section>
      {others}
    </>
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
  const [refused, setRefused] = useState<{ way: Way; agreed: AgreementTerms | undefined } | null>(null)
  const state = useSubmit('Something went wrong.')
  const queryClient = useQueryClient()
  const { leaving, leaveFor } = useExternalRedirect()
  const { status, plan, amount, nextPlan, endsAt } = membership
  const busy = state.pending || leaving

  const change = (what: 'cancel' | 'resume', done: (changed: MembershipData) => string) =>
    state.submit(async () => {
      setAsking(null)
      state.showSuccess(done(await changeMembership(queryClient, userId, what)))
    })
  const openPortal = () =>
    state.submit(async () => leaveFor((await api('/api/membership/portal', { method: 'POST', answer: portal })).url))
  const quoteOf = (wanted: MembershipPlan) =>
    api('/api/membership/quote', { method: 'POST', body: { plan: wanted }, answer: switchQuote })
  const askSwitch = (wanted: MembershipPlan) =>
    state.submit(async () => setAsking({ what: 'switch', quote: await quoteOf(wanted) }))
  const switchTo = (wanted: SwitchTo) =>
    state.submit(async () => {
      setAsking(null)
      try {
        await changeMembership(queryClient, userId, 'switch', wanted)
        state.showSuccess('Your plan has changed.')
      } catch (error) {
        const way = wayOnFrom(error)
        if (way) setRefused({ way, agreed: wanted.agreed })
        // The amount has changed: show the new one before the user agrees to it.
        else if (isRefusal(error, 'quote_outdated')) setAsking({ what: 'switch', quote: await quoteOf(wanted.plan) })
        else throw error
      }
    })
  if (status === 'ended') {
    return (
      <Section title="Your membership">
        <MessageLine message={state.message} />
        <p>{`Your membership ended${endsAt ? ` on ${formatMoment(endsAt)}` : ''}. You’re welcome back anytime.`}</p>
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
        <Unpaid unpaid={membership.unpaid} busy={busy} onConfirm={leaveFor} onUpdateCard={openPortal} />
      )}
      {endsAt && (
        <Notice title={`Your membership ends on ${formatMoment(endsAt)}.`}>
          <p>It stays active until then, and you won’t be charged again.</p>
        </Notice>
      )}
      <Items label="Membership" facts>
        <Item name="Plan" detail={priceOf(plan, amount)}>
          {!endsAt && status === 'active' && !nextPlan && (
            <Button
              variant="quiet"
              disabled={busy}
              onClick={() => askSwitch(other[plan])}
            >{`Pay by the ${periodOf(other[plan])}`}</Button>
          )}
        </Item>
        {nextPlan && membership.nextCharge && (
          <Item
            name="Next plan"
            detail={`${priceOf(nextPlan, membership.nextCharge.amount)}, from ${formatMoment(membership.paidUntil)}`}
          >
            <Button
              variant="quiet"
              disabled={busy}
              onClick={() => askSwitch(plan)}
            >{`Keep paying by the ${periodOf(plan)}`}</Button>
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
            onClick={() => change('resume', () => 'Your membership continues. Good to have you back.')}
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
        <p>{`It stays active until ${formatMoment(membership.paidUntil)}, and you won’t be charged again. You can change your mind here until then.`}</p>
        <Suspense fallback={<Skeleton height="3rem" />}>
          <WhatStays userId={userId} membershipId={membership.membershipId} until={membership.paidUntil} />
        </Suspense>
        <Row>
          <Button
            onClick={() =>
              change(
                'cancel',
                (changed) => `Your membership is canceled. It ends on ${formatMoment(changed.endsAt ?? '')}.`,
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
        title={asking?.what === 'switch' ? `Pay by the ${periodOf(asking.quote.plan)}?` : ''}
        onClose={() => setAsking(null)}
      >
        {asking?.what === 'switch' && (
          <SwitchTerms
            quote={asking.quote}
            onAgree={() => switchTo(agreedOf(asking.quote))}
            onCancel={() => setAsking(null)}
          />
        )}
      </Dialog>
      <WayOn
        from="profile"
        wayOn={refused?.way ?? null}
        agreed={refused?.agreed}
        onAgree={(terms) => {
          setRefused(null)
          const { renewal, dueNow, reckonedAt } = terms
          if (renewal) switchTo({ plan: renewal.plan, dueNow, reckonedAt: reckonedAt ?? 0, agreed: terms })
        }}
        onClose={() => {
          setRefused(null)
          // The bank's confirmation may have happened in another tab.
          void queryClient.invalidateQueries(membershipQuery(userId))
        }}
      />
    </Section>
  )
}

/** The body of a request to switch the plan, with the user's consent. */
type SwitchTo = Pick<SwitchQuote, 'plan' | 'dueNow' | 'reckonedAt'> & { agreed?: AgreementTerms }

function agreedOf({ plan, dueNow, reckonedAt, agreement }: SwitchQuote): SwitchTo {
  return { plan, dueNow, reckonedAt, ...(agreement ? { agreed: agreement.terms } : {}) }
}

interface UnpaidProps {
  unpaid: NonNullable<MembershipData['unpaid']>
  busy: boolean
  onConfirm: (url: string) => void
  onUpdateCard: () => void
}

function Unpaid({ unpaid: { amount, nextTryAt, confirmUrl }, busy, onConfirm, onUpdateCard }: UnpaidProps) {
  const next = nextTryAt
    ? `We’ll try again on ${formatMoment(nextTryAt)}. Your membership stays active until then.`
    : 'We won’t try again automatically.'
  if (!confirmUrl) {
    return (
      <Notice kind="error" title={`Your payment of ${dollars(amount)} did not go through.`}>
        <p>{`${next} Please update your card.`}</p>
      </Notice>
    )
  }
  return (
    <Notice kind="error" title={`Your bank needs you to confirm the payment of ${dollars(amount)}.`}>
      <p>{`It wants to be sure it’s you. Confirm on our payment provider’s page, perhaps with your banking app. ${next}`}</p>
      <Row>
        <Button disabled={busy} onClick={() => onConfirm(confirmUrl)}>
          Confirm the payment
        </Button>
        <Button variant="secondary" disabled={busy} onClick={onUpdateCard}>
          Update card
        </Button>
      </Row>
    </Notice>
  )
}

/** A second active membership, of an email that now belongs to this account: shown so that the user can end one of them. */
function Other({ userId, membership }: Omit<KnownProps, 'profile'>) {
  const [asking, setAsking] = useState(false)
  const state = useSubmit('Something went wrong.')
  const queryClient = useQueryClient()
  const { membershipId, plan, amount, classDate, endsAt, paidUntil, nextCharge } = membership
  const change = (what: 'cancel' | 'resume', done: (changed: MembershipData) => string) =>
    state.submit(async () => {
      setAsking(false)
      state.showSuccess(done(await changeMembership(queryClient, userId, what, { membershipId })))
    })
  return (
    <Section
      title="Your second membership"
      lead="It was made with another email address that now belongs to your account. You’re paying for both. End this one if you need only one."
    >
      <MessageLine message={state.message} />
      <Items label="Second membership" facts>
        <Item name="Plan" detail={priceOf(plan, amount)} />
        <Item name="Members’ session" detail={formatClassDate(classDate)} />
        <Item
          name="Next payment"
          detail={nextCharge ? `${dollars(nextCharge.amount)} on ${formatMoment(nextCharge.at)}` : 'None'}
        />
        {endsAt && <Item name="Ends" detail={formatMoment(endsAt)} />}
      </Items>
      <div>
        {endsAt ? (
          <Button
            variant="secondary"
            pending={state.pending}
            onClick={() => change('resume', () => 'Your second membership continues.')}
          >
            Keep it after all
          </Button>
        ) : (
          <Button variant="secondary" pending={state.pending} onClick={() => setAsking(true)}>
            End it
          </Button>
        )}
      </div>
      <Dialog open={asking} title="End your second membership?" onClose={() => setAsking(false)}>
        <p>{`Only this one ends, on ${formatMoment(paidUntil)}, when its paid time is over. You won’t be charged for it again. Your other membership stays the same.`}</p>
        <Row>
          <Button
            onClick={() =>
              change(
                'cancel',
                (changed) =>
                  `Your second membership ends on ${formatMoment(changed.endsAt ?? changed.paidUntil)}. You won’t be charged for it again.`,
              )
            }
          >
            Yes, end it
          </Button>
          <Button variant="secondary" onClick={() => setAsking(false)}>
            Keep it
          </Button>
        </Row>
      </Dialog>
    </Section>
  )
}

/** The membership's class session, with its time. */
function SessionItem({ membership: { membershipId, classDate } }: Pick<KnownProps, 'membership'>) {
  const { data: seat } = useQuery(memberSeatQuery(membershipId))
  // It may have been moved, or another one booked, since the sign-up.
  const date = seat?.classDate ?? classDate
  const time = seat?.startTime ? `, ${timeForReader(date, seat.startTime)}` : ''
  return (
    <Item name="Members’ session" detail={`${formatClassDate(date)}${time}: a live class on a video call`}>
      <ButtonLink to="/dashboard/book" variant="quiet">
        Book or move
      </ButtonLink>
    </Item>
  )
}

/** Renders nothing until it is known whether the waiver is signed. */
function WaiverItem({ membership: { membershipId }, profile }: Omit<KnownProps, 'userId'>) {
  const { data: seat } = useQuery(memberSeatQuery(membershipId))
  if (seat?.status !== 'seated') return null
  const { givenName, familyName, email, address } = profile
  const remember = () =>
    saveSessionRecord(
      recordOfMembership(membershipId, {
        guardianName: `${givenName} ${familyName}`.trim(),
        email,
        addressLine1: address,
        startDate: seat.classDate,
      }),
    )
  const signed = seat.signed ? ` by ${seat.signed.guardianName}, for ${seat.signed.childNames.join(', ')}` : ''
  return (
    <Item
      name="Waiver"
      detail={seat.waiverSignedAt ? `Signed on ${formatMoment(seat.waiverSignedAt)}${signed}` : 'Not signed yet'}
    >
      {(!seat.waiverSignedAt || seat.signed) && (
        <ButtonLink to="/waiver" search={{ membership: membershipId }} variant="secondary" onClick={remember}>
          {seat.waiverSignedAt ? 'Sign it again' : 'Complete Waiver Form'}
        </ButtonLink>
      )}
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

/** The exact amounts, before the user agrees. */
function SwitchTerms({ quote, onAgree, onCancel }: SwitchTermsProps) {
  const { plan, dueNow, credit, amount, nextChargeAt } = quote
  return (
    <>
      {dueNow > 0 ? (
        <>
          <Items label="What is charged" facts>
            <Item name={`The ${periodOf(plan)}`} detail={dollars(amount)} />
            {credit > 0 && <Item name="Credit for unused time" detail={`−${dollars(credit)}`} />}
            <Item name="Charged to your card now" detail={dollars(dueNow)} />
          </Items>
          <p>{`Then ${priceOf(plan, amount)}, from ${formatMoment(nextChargeAt)}, until you cancel.`}</p>
        </>
      ) : (
        <p>{`You aren’t charged now, and you don’t lose any time you’ve paid for. From ${formatMoment(nextChargeAt)} you pay ${priceOf(plan, amount)}, until you cancel.`}</p>
      )}
      <Row>
        <Button onClick={onAgree}>{dueNow > 0 ? `Pay ${dollars(dueNow)} now` : `Pay by the ${periodOf(plan)}`}</Button>
        <Button variant="secondary" onClick={onCancel}>
          Keep it as is
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
