import type { RegistrationView } from '@robokids/contracts/bff'
import type { EndedStatus, RefundProgress, DisplayStatus } from '@robokids/contracts/display-status'
import { disputedNote } from '@robokids/contracts/disputes'
import { formatMoney } from '@robokids/contracts/pricing'
import type { ReactNode } from 'react'
import { Actions } from '../checkout/StatusPage.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import { JoinWaitlist } from './JoinWaitlist.tsx'
import { recordOfView } from './record.ts'
import { StartAgain } from './StartAgain.tsx'

const whyRejected = {
  class_full: 'The last seat went to another family before your payment arrived.',
  class_started: 'The class had already started when your payment arrived.',
  registration_cancelled: 'The registration had been canceled when your payment arrived.',
}

function refundText({ state, money }: RefundProgress): { title: string; detail: string } {
  const amount = money ? formatMoney(money) : 'Your money'
  switch (state) {
    case 'done':
      return { title: `${amount} was refunded to your card.`, detail: 'Your bank may take a few days to show it.' }
    case 'underway':
      return { title: `${amount} is being refunded to your card.`, detail: 'You don’t need to do anything.' }
    case 'failed':
      return {
        title: `Your bank didn’t accept the refund of ${amount}.`,
        detail: 'We still owe you this money and will send it another way.',
      }
  }
}

function returningText({ refund, byBank }: Extract<DisplayStatus, { kind: 'returning' }>): string {
  return byBank && refund.money ? `Your bank returned ${formatMoney(refund.money)} to you.` : refundText(refund).title
}

function expiredText({ charged, refund }: Extract<DisplayStatus, { kind: 'expired' }>): string {
  if (refund) return refundText(refund).title
  return charged === 'no' ? 'You weren’t charged.' : 'No payment arrived in time.'
}

/** The payment is disputed; the registration keeps its seat. */
export function DisputedNotice({ children }: { children?: ReactNode }) {
  return (
    <Notice title={disputedNote.title} live>
      <p>{disputedNote.text}</p>
      {children}
    </Notice>
  )
}

interface EndedOutcomeProps {
  view: RegistrationView
  displayStatus: EndedStatus
  /** Further actions for an expired registration, above the link to the form. */
  children?: ReactNode
}

export function EndedOutcome({ view, displayStatus, children }: EndedOutcomeProps) {
  const record = recordOfView(view)
  switch (displayStatus.kind) {
    case 'rejected': {
      const isFull = (displayStatus.reason ?? 'class_full') === 'class_full'
      return (
        <>
          <Notice title={refundText(displayStatus.refund).title} live>
            <p>{`${whyRejected[displayStatus.reason ?? 'class_full']} We’re sorry. ${refundText(displayStatus.refund).detail}`}</p>
          </Notice>
          <Actions>
            {isFull && <JoinWaitlist record={record} />}
            <StartAgain record={record} variant={isFull ? 'secondary' : 'primary'}>
              Choose another date
            </StartAgain>
            <ButtonLink to="/robokidslanding" variant="secondary">
              See all classes
            </ButtonLink>
          </Actions>
        </>
      )
    }
    case 'expired':
      return (
        <>
          <Notice title={expiredText(displayStatus)} live>
            <p>
              We hold seats only for a while, so that other families get a chance. Yours was released, but we kept your
              details.
            </p>
          </Notice>
          {children}
          <Actions>
            <StartAgain record={record} variant={children ? 'secondary' : 'primary'}>
              Start again with my details
            </StartAgain>
            {!children && (
              <ButtonLink to="/robokids-payment" search={{ reference: view.registrationId }} variant="secondary">
                Pay for the same class
              </ButtonLink>
            )}
          </Actions>
        </>
      )
    case 'returning':
      return (
        <>
          <Notice title={returningText(displayStatus)} live>
            <p>
              This ends your registration: there’s nothing to sign, and no kit ships. You don’t need to do anything.
            </p>
          </Notice>
          <Actions>
            <ButtonLink to="/robokidslanding" variant="secondary">
              See all classes
            </ButtonLink>
          </Actions>
        </>
      )
    case 'cancelled':
      return (
        <>
          <Notice
            title={displayStatus.refund ? refundText(displayStatus.refund).title : 'We no longer hold a seat for you.'}
            live
          >
            {displayStatus.refund && <p>{refundText(displayStatus.refund).detail}</p>}
          </Notice>
          <Actions>
            <StartAgain record={record}>Register again</StartAgain>
          </Actions>
        </>
      )
  }
}
