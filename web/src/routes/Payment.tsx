import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { RegistrationView } from '@robokids/contracts/bff'
import { registrationTerms } from '@robokids/contracts/offers'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useRef, useState } from 'react'
import { registerAnswer } from '../answers.ts'
import { ApiError } from '../api.ts'
import { prepareProof, provenApi } from '../proof/proven.ts'
import { timeOfReader } from '../class-time.ts'
import { classRow, Details, familyRows, startRow } from '../components/Details.tsx'
import { Actions, EnrollmentLoading, EnrollmentPage } from '../components/EnrollmentPage.tsx'
import { LongWait } from '../components/LongWait.tsx'
import { EndedOutcome } from '../components/Outcome.tsx'
import { HoldNote } from '../components/HoldNote.tsx'
import { PayBar } from '../components/PayBar.tsx'
import { StartAgain } from '../components/StartAgain.tsx'
import { WayOn } from '../components/WayOn.tsx'
import { isLevel } from '../content/levels.ts'
import { classesQuery } from '../queries.ts'
import { offerOf, totalOf } from '../registration/class-offer.ts'
import { registrationAlert } from '../registration/failure.ts'
import { recordOfView, type RegistrationRecord, savedRecord, saveRecords } from '../registration/record.ts'
import { endedTitle, isEnded, toDisplayStatus } from '@robokids/contracts/display-status'
import { useExternalRedirect } from '../registration/use-external-redirect.ts'
import { registrationQuery, useRegistration } from '../registration/use-registration.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Notice } from '../ui/Notice.tsx'
import { type WayOn as Way, wayOnFrom } from '../way-on.ts'
import styles from './Payment.module.css'

export function Payment() {
  const search = useSearch({ strict: false })
  const [saved] = useState(savedRecord)
  const reference = search['reference'] || saved?.registrationId
  if (reference) return <PaymentOf reference={reference} />
  return saved ? <PaymentOfRecord record={saved} /> : <NothingSaved />
}

/** Of what this browser remembers without a reference to ask about: whether it is paid, nobody can tell here. */
function PaymentOfRecord({ record }: { record: RegistrationRecord }) {
  const { classType } = record
  const classes = useQuery(classesQuery)
  const offer = classes.data && isLevel(classType) ? offerOf(classes.data, classType) : undefined
  const due = offer && totalOf(offer, 1 + record.siblings.length).total
  return (
    <EnrollmentPage step="pay" title="Payment">
      <Notice title="We have not checked these details.">
        <p>
          They come from this browser. If you have paid, use the link in the email that we sent you: it leads to your
          registration. If you have not, go on with the form, which is filled in already.
        </p>
      </Notice>
      <Card>
        <Details rows={[...familyRows(record), startRow(record.startDate), classRow(classType)]} />
        {due && <Due>{formatMoney(due)}</Due>}
      </Card>
      <Actions>
        <StartAgain record={record}>Go on to register and pay</StartAgain>
      </Actions>
    </EnrollmentPage>
  )
}

function Due({ children }: { children: string }) {
  return (
    <p className={styles['due']}>
      <span>To pay</span>
      <strong>{children}</strong>
    </p>
  )
}

function NothingSaved() {
  return (
    <EnrollmentPage step="register" title="Payment">
      <Notice kind="error" title="Registration info not found. Please go back and try again." />
      <Actions>
        <ButtonLink to="/robokids">Go to registration</ButtonLink>
      </Actions>
    </EnrollmentPage>
  )
}

function PaymentOf({ reference }: { reference: string }) {
  const watched = useRegistration(reference)
  switch (watched.state) {
    case 'loading':
      return <EnrollmentLoading step="pay" />
    case 'unknown':
      return <NothingSaved />
    case 'unreachable':
      return (
        <EnrollmentPage step="pay" title="Payment">
          <Notice title="We cannot reach our registration desk right now." live>
            <p>Nothing is lost. This page asks again by itself.</p>
          </Notice>
          <LongWait reference={reference} />
        </EnrollmentPage>
      )
    case 'known':
      return <PaymentFor view={watched.view} />
  }
}

function PaymentFor({ view }: { view: RegistrationView }) {
  const standing = toDisplayStatus(view)
  const summary = (
    <Details
      rows={[...familyRows(recordOfView(view)), startRow(view.startDate, view.startTime), classRow(view.classType)]}
    />
  )
  if (isEnded(standing)) {
    const again = standing.kind === 'expired'
    return (
      <EnrollmentPage step="pay" title={endedTitle(standing)}>
        <EndedOutcome view={view} standing={standing}>
          {again && (
            <Payable view={view} lastDecline={null}>
              {summary}
            </Payable>
          )}
        </EndedOutcome>
        {!again && <Card>{summary}</Card>}
      </EnrollmentPage>
    )
  }
  if (standing.kind === 'registered' || standing.kind === 'processing') {
    const paid = standing.kind === 'registered'
    return (
      <EnrollmentPage
        step={paid ? 'waiver' : 'pay'}
        title={paid ? 'This registration is paid' : 'Your payment is being processed'}
      >
        <Notice
          kind={paid ? 'success' : 'info'}
          title={paid ? 'There is nothing left to pay.' : 'Please do not pay again.'}
          live
        >
          <p>{paid ? 'Your seat is yours.' : 'We are waiting for the final word on your payment and your seat.'}</p>
        </Notice>
        {!paid && <LongWait reference={view.registrationId} />}
        <Card>{summary}</Card>
        <Actions>
          <ButtonLink to="/robokids/success" search={{ reference: view.registrationId }}>
            Go to your confirmation
          </ButtonLink>
        </Actions>
      </EnrollmentPage>
    )
  }
  return (
    <EnrollmentPage step="pay" title="Pay for your seat">
      <Payable view={view} lastDecline={standing.kind === 'awaiting' ? standing.lastDecline : null}>
        {summary}
      </Payable>
    </EnrollmentPage>
  )
}

/** What is agreed to by paying: frozen in a checkout that is open; the price of the day where a new one is made. */
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
  const [sending, setSending] = useState(false)
  const [alert, setAlert] = useState<string | null>(null)
  const [full, setFull] = useState<string | null>(null)
  const [refused, setRefused] = useState<{ way: Way; agreed: AgreementTerms | undefined } | null>(null)
  const payButton = useRef<HTMLButtonElement>(null)
  const underWay = useRef(false)
  const record = recordOfView(view)
  const { registrationId } = view

  const pay = async (agreed: AgreementTerms | undefined) => {
    if (underWay.current || leaving) return
    underWay.current = true
    setSending(true)
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
      else if (error instanceof ApiError && error.code === 'class_full') setFull(error.message)
      else setAlert(registrationAlert(error))
      void queryClient.invalidateQueries(registrationQuery(registrationId))
      void queryClient.invalidateQueries(classesQuery)
    } finally {
      underWay.current = false
      setSending(false)
    }
  }

  return (
    <>
      {lastDecline && (
        <Notice kind="error" title="Your card was declined, and nothing was charged.">
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
            <p>Nothing was charged. You can choose another date; what you typed is kept.</p>
          </Notice>
          <Actions>
            <StartAgain record={record}>Choose another date</StartAgain>
          </Actions>
        </>
      ) : (
        <>
          <div className={styles['notes']}>
            <HoldNote />
            <p className={styles['aside']}>Nothing has been charged yet. You confirm the payment on the card page.</p>
          </div>
          <PayBar
            total={
              <>
                <span>To pay</span>
                <strong>{due ? formatMoney(due) : 'Shown on the card page'}</strong>
              </>
            }
          >
            <Button
              ref={payButton}
              onPointerEnter={() => prepareProof('payment')}
              onFocus={() => prepareProof('payment')}
              onClick={() => void pay(terms)}
              pending={sending || leaving}
            >{`${view.status === 'expired' ? 'Hold a seat again and pay' : 'Pay'} ${due ? formatMoney(due) : ''} by card`}</Button>
          </PayBar>
        </>
      )}
      <Alert message={alert} onClose={() => setAlert(null)} />
      <WayOn
        from="payment"
        wayOn={refused?.way ?? null}
        agreed={refused?.agreed}
        onAgree={(now) => {
          setRefused(null)
          void pay(now)
        }}
        onClose={() => {
          setRefused(null)
          // After the dialog has given the focus back: the button was disabled when it took it.
          setTimeout(() => payButton.current?.focus())
        }}
      />
    </>
  )
}
