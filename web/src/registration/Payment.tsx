import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { RegistrationView } from '@robokids/contracts/bff'
import { endedTitle, isEnded, toDisplayStatus } from '@robokids/contracts/display-status'
import { registrationTerms } from '@robokids/contracts/offers'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useRef, useState } from 'react'
import { isRefusal } from '../api/refusals.ts'
import { HoldNote } from '../checkout/HoldNote.tsx'
import { LongWait } from '../checkout/LongWait.tsx'
import { PayBar } from '../checkout/PayBar.tsx'
import { Actions, StatusLoading, StatusPage } from '../checkout/StatusPage.tsx'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { type WayOn as Way, wayOnFrom } from '../checkout/way-on.ts'
import { WayOn } from '../checkout/WayOn.tsx'
import { offerOf, totalOf } from '../classes/class-offer.ts'
import { timeOfReader } from '../classes/class-time.ts'
import { classesQuery } from '../classes/classes-query.ts'
import { isLevel } from '../classes/level-looks.ts'
import { useSubmit } from '../forms/use-submit.ts'
import { prepareProof, provenApi } from '../proof-of-work/proven.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Details } from '../ui/Details.tsx'
import { Notice } from '../ui/Notice.tsx'
import { registerAnswer } from './answers.ts'
import { registrationAlert } from './failure.ts'
import { JoinWaitlist } from './JoinWaitlist.tsx'
import { EndedOutcome } from './Outcome.tsx'
import styles from './Payment.module.css'
import { recordOfView, type RegistrationRecord, savedRecord, saveRecords } from './record.ts'
import { classRow, datesRows, familyRows, startRow } from './registration-rows.tsx'
import { StartAgain } from './StartAgain.tsx'
import { registrationQuery, useRegistration } from './use-registration.ts'

export function Payment() {
  const search = useSearch({ from: '/robokids-payment' })
  const [saved] = useState(savedRecord)
  const reference = search.reference || saved?.registrationId
  if (reference) return <PaymentOf reference={reference} />
  return saved ? <PaymentOfRecord record={saved} /> : <NothingSaved />
}

/** A stored record without a reference: whether it is paid is unknown. */
function PaymentOfRecord({ record }: { record: RegistrationRecord }) {
  const { classType } = record
  const classes = useQuery(classesQuery)
  const offer = classes.data && isLevel(classType) ? offerOf(classes.data, classType) : undefined
  const due = offer && totalOf(offer, 1 + record.siblings.length).total
  return (
    <StatusPage step="pay" title="Payment">
      <Notice title="We haven’t checked these details.">
        <p>
          They come from this browser. If you’ve paid, use the link in the email we sent you to see your registration.
          If you haven’t, continue with the form, which is already filled in.
        </p>
      </Notice>
      <Card>
        <Details rows={[...familyRows(record), startRow(record.startDate), classRow(classType)]} />
        {due && <Due>{formatMoney(due)}</Due>}
      </Card>
      <Actions>
        <StartAgain record={record}>Continue to register and pay</StartAgain>
      </Actions>
    </StatusPage>
  )
}

function Due({ children }: { children: string }) {
  return (
    <p className={styles.due}>
      <span>Amount due</span>
      <strong>{children}</strong>
    </p>
  )
}

function NothingSaved() {
  return (
    <StatusPage step="register" title="Payment">
      <Notice kind="error" title="Registration info not found. Please go back and try again." />
      <Actions>
        <ButtonLink to="/robokids">Go to registration</ButtonLink>
      </Actions>
    </StatusPage>
  )
}

function PaymentOf({ reference }: { reference: string }) {
  const watched = useRegistration(reference)
  switch (watched.state) {
    case 'loading':
      return <StatusLoading step="pay" />
    case 'unknown':
      return <NothingSaved />
    case 'unreachable':
      return (
        <StatusPage step="pay" title="Payment">
          <Notice title="We can’t check your registration right now." live>
            <p>Nothing is lost. This page keeps checking.</p>
          </Notice>
          <LongWait reference={reference} />
        </StatusPage>
      )
    case 'known':
      return <PaymentFor view={watched.view} />
  }
}

function PaymentFor({ view }: { view: RegistrationView }) {
  const displayStatus = toDisplayStatus(view)
  const summary = (
    <Details
      rows={[
        ...familyRows(recordOfView(view)),
        startRow(view.startDate, view.startTime),
        ...datesRows(view.meetings),
        classRow(view.classType),
      ]}
    />
  )
  if (isEnded(displayStatus)) {
    const again = displayStatus.kind === 'expired'
    return (
      <StatusPage step="pay" title={endedTitle(displayStatus)}>
        <EndedOutcome view={view} displayStatus={displayStatus}>
          {again && (
            <Payable view={view} lastDecline={null}>
              {summary}
            </Payable>
          )}
        </EndedOutcome>
        {!again && <Card>{summary}</Card>}
      </StatusPage>
    )
  }
  if (displayStatus.kind === 'registered' || displayStatus.kind === 'processing') {
    const paid = displayStatus.kind === 'registered'
    return (
      <StatusPage
        step={paid ? 'waiver' : 'pay'}
        title={paid ? 'This registration is paid' : 'Your payment is being processed'}
      >
        <Notice
          kind={paid ? 'success' : 'info'}
          title={paid ? 'There’s nothing left to pay.' : 'Please don’t pay again.'}
          live
        >
          <p>{paid ? 'Your seat is confirmed.' : 'We’re waiting for your payment and seat to be confirmed.'}</p>
        </Notice>
        {!paid && <LongWait reference={view.registrationId} />}
        <Card>{summary}</Card>
        <Actions>
          <ButtonLink to="/robokids/success" search={{ reference: view.registrationId }}>
            Go to your confirmation
          </ButtonLink>
        </Actions>
      </StatusPage>
    )
  }
  return (
    <StatusPage step="pay" title="Pay for your seat">
      <Payable view={view} lastDecline={displayStatus.kind === 'awaiting' ? displayStatus.lastDecline : null}>
        {summary}
      </Payable>
    </StatusPage>
  )
}

/** The terms that paying agrees to: those of an open checkout, or else the current price. */
function useTerms({ checkout, classType, startDate, children }: RegistrationView): AgreementTerms | undefined {
  const classes = useQuery(classesQuery)
  const level = classType === 'membership' ? undefined : classType
  const offer = classes.data && level && offerOf(classes.data, level)
  const isFrozen = checkout?.status === 'open' || checkout?.status === 'creating'
  if (isFrozen && checkout.unitAmount !== null && checkout.paidSeats !== null) {
    const { unitAmount, paidSeats } = checkout
    return registrationTerms({ classType, startDate, children: paidSeats, siblingJoinsFree: false, unitAmount })
  }
  if (!offer) return undefined
  const { siblingJoinsFree, price } = offer
  return registrationTerms({
    classType,
    startDate,
    children: children.length,
    siblingJoinsFree,
    unitAmount: price.amount,
  })
}

function Payable({
  view,
  lastDecline,
  children,
}: {
  view: RegistrationView
  lastDecline: string | null
  children: ReactNode
}) {
  const terms = useTerms(view)
  const due = terms && { amount: terms.dueNow, currency: terms.currency }
  const queryClient = useQueryClient()
  const { leaving, leaveFor } = useExternalRedirect()
  const { pending, message, showError, clear, submit } = useSubmit('Something went wrong. Please try again.')
  const [full, setFull] = useState<string | null>(null)
  const [refused, setRefused] = useState<{ way: Way; agreed: AgreementTerms | undefined } | null>(null)
  const payButton = useRef<HTMLButtonElement>(null)
  const record = recordOfView(view)
  const { registrationId } = view

  const startCheckout = async (agreed: AgreementTerms | undefined) => {
    try {
      const { checkoutUrl } = await provenApi(
        'payment',
        `/api/registrations/${encodeURIComponent(registrationId)}/checkout`,
        {
          method: 'POST',
          body: { agreed },
          answer: registerAnswer,
        },
      )
      saveRecords(record)
      leaveFor(checkoutUrl)
    } catch (error) {
      const way = wayOnFrom(error)
      if (way) setRefused({ way, agreed })
      else if (isRefusal(error, 'class_full')) setFull(error.message)
      else showError(registrationAlert(error))
      void queryClient.invalidateQueries(registrationQuery(registrationId))
      void queryClient.invalidateQueries(classesQuery)
    }
  }
  const pay = (agreed: AgreementTerms | undefined) => {
    if (!leaving) submit(() => startCheckout(agreed))
  }

  return (
    <>
      {lastDecline && (
        <Notice kind="error" title="Your card was declined, and you weren’t charged.">
          <p>{`${lastDecline} You can try again, with this card or another one.`}</p>
        </Notice>
      )}
      {view.status === 'held' && view.heldUntil !== null && (
        <p>
          <strong>{`Your seat is held until ${timeOfReader(view.heldUntil)}.`}</strong>
        </p>
      )}
      <Card>{children}</Card>
      {full ? (
        <>
          <Notice kind="error" title={full} live>
            <p>You weren’t charged. You can choose another date; we kept what you typed.</p>
          </Notice>
          <Actions>
            <JoinWaitlist record={record} />
            <StartAgain record={record} variant="secondary">
              Choose another date
            </StartAgain>
          </Actions>
        </>
      ) : (
        <>
          <div className={styles.notes}>
            <HoldNote />
            <p className={styles.aside}>You haven’t been charged yet. You confirm the payment on the card page.</p>
          </div>
          <PayBar
            total={
              <>
                <span>Amount due</span>
                <strong>{due ? formatMoney(due) : 'Shown on the card page'}</strong>
              </>
            }
          >
            <Button
              ref={payButton}
              onPointerEnter={() => prepareProof('payment')}
              onFocus={() => prepareProof('payment')}
              onClick={() => pay(terms)}
              pending={pending || leaving}
            >{`${view.status === 'expired' ? 'Hold a seat again and pay' : 'Pay'} ${due ? formatMoney(due) : ''} by card`}</Button>
          </PayBar>
        </>
      )}
      <Alert message={message?.text ?? null} onClose={clear} />
      <WayOn
        from="payment"
        wayOn={refused?.way ?? null}
        agreed={refused?.agreed}
        onAgree={(now) => {
          setRefused(null)
          pay(now)
        }}
        onClose={() => {
          setRefused(null)
          // After the dialog has returned the focus: the button was disabled when the dialog opened.
          setTimeout(() => payButton.current?.focus())
        }}
      />
    </>
  )
}
