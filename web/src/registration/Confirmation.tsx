import type { RegistrationView } from '@robokids/contracts/bff'
import { formatClassDate } from '@robokids/contracts/class-date'
import {
  endedTitle,
  isEnded,
  type RefundProgress,
  type DisplayStatus,
  toDisplayStatus,
} from '@robokids/contracts/display-status'
import { disputeText } from '@robokids/contracts/disputes'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate } from '@robokids/contracts/school-date'
import { useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { LongWait } from '../checkout/LongWait.tsx'
import { type NextStep, NextSteps } from '../checkout/NextSteps.tsx'
import { Actions, StatusLoading, StatusPage } from '../checkout/StatusPage.tsx'
import { inOneLine, Ticket } from '../checkout/Ticket.tsx'
import { ClassMoment } from '../classes/ClassMoment.tsx'
import { isLevel, levels } from '../classes/level-looks.ts'
import { LevelRobot } from '../classes/LevelRobot.tsx'
import { asWritten } from '../ui/AsWritten.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Details } from '../ui/Details.tsx'
import { Drawing } from '../ui/Drawing.tsx'
import { Notice } from '../ui/Notice.tsx'
import { AddToCalendar } from './AddToCalendar.tsx'
import { recordPaymentStarted } from './draft.ts'
import { DisputedNotice, EndedOutcome } from './Outcome.tsx'
import { type RegistrationRecord, recordOfSearch, recordOfView, savedRecord, saveSessionRecord } from './record.ts'
import { classRow, datesRows, familyRows, startRow } from './registration-rows.tsx'
import { useRegistration } from './use-registration.ts'

/** The server says what is paid; without a reference the page shows the record that it was given. */
export function Confirmation() {
  // The page has two addresses.
  const search = useSearch({ strict: false })
  const [saved] = useState(savedRecord)
  const record = saved ?? recordOfSearch(search)
  const reference = search.reference || record?.registrationId
  if (reference)
    return (
      <ConfirmationLoader reference={reference} saved={record?.registrationId === reference ? record : undefined} />
    )
  if (record) return <UnverifiedConfirmation record={record} />
  return <NoData />
}

function NoData() {
  return (
    <StatusPage step="register" title="Your registration">
      <Notice kind="error" title="No user data found. Please register again." />
      <Actions>
        <ButtonLink to="/robokids">Go to registration</ButtonLink>
      </Actions>
    </StatusPage>
  )
}

/** The record is unverified: anyone can write such a link. */
function UnverifiedConfirmation({ record }: { record: RegistrationRecord }) {
  const [given] = useState(record)
  useEffect(() => {
    // Without an email it cannot be signed.
    if (given.email !== '') saveSessionRecord({ ...given, timestamp: new Date().toISOString() })
  }, [given])
  return (
    // The heading is specified.
    <StatusPage step="register" title="You're Registered">
      <Notice title="We haven’t checked these details.">
        <p>
          They came from the link or from this browser. To see whether your seat is paid and confirmed, use the link in
          the email we sent you.
        </p>
      </Notice>
      <p>
        Once we have your payment, the waiver is the last step before we ship the kit. If you registered in this
        browser, you can sign it here.
      </p>
      <Actions>
        <ButtonLink to="/robokids/waiver">Read and sign the waiver</ButtonLink>
      </Actions>
      <RecordCard record={given} />
    </StatusPage>
  )
}

function RecordCard({ record, view }: { record: RegistrationRecord; view?: RegistrationView }) {
  return (
    <Card>
      <Details
        rows={[
          ...familyRows(record),
          startRow(record.startDate, view?.startTime),
          ...datesRows(view?.meetings),
          classRow(record.classType),
        ]}
      />
    </Card>
  )
}

function ConfirmationLoader({ reference, saved }: { reference: string; saved: RegistrationRecord | undefined }) {
  const watched = useRegistration(reference, { paid: true })
  switch (watched.state) {
    case 'loading':
      return <StatusLoading step="pay" />
    case 'unknown':
      return <NoData />
    case 'unreachable':
      return (
        <StatusPage step="pay" title="Your payment is being processed">
          <Notice title="We can’t check your registration right now." live>
            <p>
              If you’ve paid, your payment is safe with us. This page keeps checking, and we’ll email you the
              confirmation too.
            </p>
          </Notice>
          <LongWait reference={reference} />
          {saved && <RecordCard record={saved} />}
        </StatusPage>
      )
    case 'known':
      return <ConfirmationDetails view={watched.view} />
  }
}

function MoneyBack({
  displayStatus: { refunded, returned },
}: {
  displayStatus: Extract<DisplayStatus, { kind: 'registered' }>
}) {
  const verb = ({ state }: RefundProgress) => (state === 'done' ? 'was refunded' : 'is being refunded')
  return (
    <>
      {refunded?.money && <p>{`${formatMoney(refunded.money)} of it ${verb(refunded)} to your card.`}</p>}
      {returned?.money && (
        <p>{`You paid ${formatMoney(returned.money)} too much. It ${verb(returned)} to your card, and your seat stays paid.`}</p>
      )}
    </>
  )
}

const picturesOf = (classType: string) =>
  isLevel(classType)
    ? { picture: <LevelRobot classType={classType} />, accent: levels[classType].accent }
    : { picture: <Drawing of="class-scene" /> }

/** The steps from the payment to the first class. */
function stepsOf({ waiverSignedAt, address, startDate, startTime, classType }: RegistrationView): NextStep[] {
  const signed = waiverSignedAt !== null
  const to = address.city === '' ? '' : ` to ${address.city}, ${address.state}`
  const day = formatClassDate(startDate)
  const length = isLevel(classType) ? ` The program runs for ${openingLevels[classType].programLength}.` : ''
  return [
    {
      title: signed ? 'The waiver is signed' : 'Sign the waiver',
      done: signed,
      text: signed
        ? 'We email you a copy.'
        : 'Read and sign it as the parent or guardian. It takes a few minutes, and then we ship the kit.',
    },
    { title: 'The kit arrives', text: `We ship it${to}, so that it arrives before ${day}.` },
    {
      title: 'The first class',
      text: (
        <>
          <ClassMoment date={startDate} time={startTime} />
          <p>{`Live on a video call. We email you the link ${signed ? 'before the class' : 'once the waiver is signed'}.${length}`}</p>
        </>
      ),
    },
  ]
}

function ConfirmationDetails({ view }: { view: RegistrationView }) {
  const displayStatus = toDisplayStatus(view)
  const record = recordOfView(view)
  const details = <RecordCard record={record} view={view} />
  const search = { reference: view.registrationId }
  const toPayment = (
    <Actions>
      <ButtonLink to="/robokids-payment" search={search}>
        Go to payment
      </ButtonLink>
    </Actions>
  )

  useEffect(() => {
    // The record for the waiver page, which is removed once the waiver is signed.
    if (view.status === 'confirmed') saveSessionRecord(recordOfView(view))
    recordPaymentStarted(view.registrationId)
  }, [view])

  if (isEnded(displayStatus)) {
    return (
      <StatusPage step="pay" title={endedTitle(displayStatus)}>
        <EndedOutcome view={view} displayStatus={displayStatus} />
        {details}
      </StatusPage>
    )
  }
  switch (displayStatus.kind) {
    case 'registered': {
      const { choice } = view
      if (choice) {
        return (
          <StatusPage title="This class was canceled">
            <Notice title="We had to cancel this class, and we are sorry." live>
              <p>{`Choose a new date or a refund until ${formatClassDate(schoolDate(choice.chooseUntil))}, 5:00 PM Pacific. After that, what you paid is refunded.`}</p>
              {choice.choiceId && (
                <ButtonLink to="/choice" search={{ reference: choice.choiceId }}>
                  Your choice
                </ButtonLink>
              )}
            </Notice>
            {details}
          </StatusPage>
        )
      }
      const signed = view.waiverSignedAt !== null
      const { disputed } = displayStatus
      const facts = (
        <>
          {view.checkout?.receiptNumber && (
            <p>{`${formatMoney(view.checkout)} paid, receipt ${view.checkout.receiptNumber}.`}</p>
          )}
          <MoneyBack displayStatus={displayStatus} />
          {view.checkout?.disputes.map((dispute, index) => (
            <p key={index}>{disputeText(dispute)}</p>
          ))}
        </>
      )
      const receipt = (
        <ButtonLink to="/robokids/receipt" search={search} variant={disputed ? 'secondary' : 'primary'}>
          See your receipt
        </ButtonLink>
      )
      if (disputed) {
        return (
          <StatusPage step="pay" title="Your payment is disputed">
            <DisputedNotice>{facts}</DisputedNotice>
            <Actions>{receipt}</Actions>
            {details}
          </StatusPage>
        )
      }
      return (
        <StatusPage step={signed ? 'kit' : 'waiver'} title="You're Registered">
          <Notice
            kind="success"
            title={
              signed
                ? 'Your waiver is signed, and we’re getting the kit ready.'
                : view.children.length === 1
                  ? 'Your seat is paid and confirmed.'
                  : 'Your seats are paid and confirmed.'
            }
            live
          >
            {facts}
          </Notice>
          <Ticket
            who={asWritten(inOneLine(view.children.map(({ childName }) => childName)))}
            what={view.levelTitle}
            when={<ClassMoment date={view.startDate} time={view.startTime} />}
            {...picturesOf(view.classType)}
          >
            {signed ? (
              receipt
            ) : (
              <ButtonLink to="/robokids/waiver" search={search}>
                Read and sign the waiver
              </ButtonLink>
            )}
            <AddToCalendar registrationId={view.registrationId} />
          </Ticket>
          <NextSteps steps={stepsOf(view)} />
          {details}
        </StatusPage>
      )
    }
    case 'processing':
      return (
        <StatusPage step="pay" title="Your payment is being processed">
          <Notice title="We’re waiting for your payment and seat to be confirmed." live>
            <p>This page updates automatically. You can also close it: we’ll email you.</p>
          </Notice>
          <LongWait reference={view.registrationId} />
          {details}
        </StatusPage>
      )
    case 'awaiting':
      if (displayStatus.lastDecline) {
        return (
          <StatusPage step="pay" title="Your payment did not go through">
            <Notice kind="error" title="Your card was declined, and you weren’t charged." live>
              <p>{`${displayStatus.lastDecline} You can try again, with this card or another one.`}</p>
            </Notice>
            {toPayment}
            {details}
          </StatusPage>
        )
      }
      return (
        <StatusPage step="pay" title="Your payment is being processed">
          <Notice title="We haven’t received your payment yet." live>
            <p>If you just paid, this page will update in a moment. You can also close it: we’ll email you.</p>
          </Notice>
          <LongWait reference={view.registrationId} />
          {details}
          <Actions>
            <ButtonLink to="/robokids-payment" search={search} variant="secondary">
              I haven’t paid yet
            </ButtonLink>
          </Actions>
        </StatusPage>
      )
    case 'unpaid':
      return (
        <StatusPage step="pay" title="Your payment did not go through">
          <Notice title="You weren’t charged." live>
            <p>The card page was closed before a payment was made. Your seat is still held for a moment.</p>
          </Notice>
          {toPayment}
          {details}
        </StatusPage>
      )
  }
}
