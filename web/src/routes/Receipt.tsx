import { formatMoney } from '@robokids/contracts/pricing'
import type { RegistrationView } from '@robokids/contracts/bff'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { classRow, Details, familyRows, startRow } from '../components/Details.tsx'
import { Actions, EnrollmentLoading, EnrollmentPage } from '../components/EnrollmentPage.tsx'
import { DisputedNotice, endedTitle, isEnded } from '../components/Outcome.tsx'
import { disputeInShort } from '../registration/disputes.ts'
import { forgetDraft } from '../registration/draft.ts'
import { forgetReceipt, readReceipt, type ReceiptRecord, receiptOf } from '../registration/receipt.ts'
import { forgetRecords, readSessionRecord, recordOfView } from '../registration/record.ts'
import { moneyBack, type Standing, standingOf } from '../registration/standing.ts'
import { useRegistration } from '../registration/use-registration.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Notice } from '../ui/Notice.tsx'
import styles from './Receipt.module.css'

/** How long after the print dialog the saved data goes and the page leads home. */
const closeAfterMs = 1_000

function savedReceipt(): ReceiptRecord | undefined {
  const receipt = readReceipt()
  if (receipt) return receipt
  const stored = readSessionRecord()
  return stored.state === 'found' ? receiptOf(stored.record) : undefined
}

export function Receipt() {
  const search = useSearch({ strict: false })
  const [saved] = useState(savedReceipt)
  const reference = search['reference'] || saved?.registrationId || null
  const own = saved?.registrationId === reference || !reference ? saved : undefined
  const watched = useRegistration(reference)
  const view = watched.state === 'known' ? watched.view : undefined
  const receipt = own ?? (view && receiptOf(recordOfView(view)))

  if (receipt?.guardianName) return <Paper receipt={receipt} view={view} />
  if (reference && (watched.state === 'loading' || watched.state === 'unreachable'))
    return <EnrollmentLoading step="kit" />
  return <BackToForm />
}

/** Without saved data there is no receipt, and nothing to say about it. */
function BackToForm() {
  const navigate = useNavigate()
  useEffect(() => {
    void navigate({ to: '/robokids', replace: true })
  }, [navigate])
  return null
}

/** As the mails tell it, wherever the browser is. */
const timeZone = 'America/Los_Angeles'
const dayOf = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone })
const timeOf = new Intl.DateTimeFormat('en-US', { timeStyle: 'short', timeZone })

function momentOf(timestamp: string | number): ReactNode {
  const moment = new Date(timestamp)
  if (Number.isNaN(moment.getTime())) return String(timestamp)
  return `${dayOf.format(moment)} at ${timeOf.format(moment)} Pacific`.replaceAll('\u202f', ' ')
}

/** Why several children cost what one does. */
function seatsText({ unitAmount, paidSeats, currency }: NonNullable<RegistrationView['checkout']>, children: number) {
  if (unitAmount === null || paidSeats === null || children === 1) return undefined
  const price = `${paidSeats} × ${formatMoney({ amount: unitAmount, currency })}`
  const free = children - paidSeats
  if (free <= 0) return price
  return `${price}, ${free === 1 ? 'a sibling joins free' : `${free} siblings join free`}`
}

function moneyRows({ checkout, status, children }: RegistrationView): [string, string][] {
  if (!checkout) return []
  if (!checkout.paidAt)
    return [['Payment', status === 'confirmed' || status === 'waiver_signed' ? 'Received' : 'Not received yet']]
  const { ofThePayment, besides, owed } = moneyBack(checkout)
  const seats = seatsText(checkout, children.length)
  return [
    ['Amount paid', formatMoney(checkout)],
    ...(seats === undefined ? [] : [['Seats', seats] as [string, string]]),
    ...(checkout.receiptNumber ? [['Receipt number', checkout.receiptNumber] as [string, string]] : []),
    ...ofThePayment.map((refund): [string, string] => [
      refund.status === 'succeeded' ? 'Refunded' : 'Refund on its way',
      formatMoney(refund),
    ]),
    ...(owed > 0 && status === 'cancelled'
      ? [
          [
            'Refund that failed',
            `${formatMoney({ amount: owed, currency: checkout.currency })}, we still owe it to you`,
          ] as [string, string],
        ]
      : []),
    // Beside what was paid for this registration: it takes nothing from the amount above.
    ...besides.map((refund): [string, string] => [
      refund.status === 'succeeded' ? 'Paid beside it and returned' : 'Paid beside it, on its way back',
      formatMoney(refund),
    ]),
    ...checkout.disputes.map((dispute): [string, string] => [
      'Disputed',
      `${formatMoney(dispute)}, ${disputeInShort(dispute)}`,
    ]),
  ]
}

/** Where the way has come to: nothing that comes after a payment which went back. */
function stepOf(standing: Standing | undefined, signed: boolean) {
  if (!standing) return 'kit'
  if (standing.kind !== 'registered' || standing.disputed) return 'pay'
  return signed ? 'kit' : 'waiver'
}

function Paper({ receipt, view }: { receipt: ReceiptRecord; view: RegistrationView | undefined }) {
  const navigate = useNavigate()
  const closing = useRef(false)
  const [unprintable, setUnprintable] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const close = () => {
      forgetReceipt()
      forgetRecords()
      forgetDraft()
      void navigate({ to: '/' })
    }
    // Not as soon as it was asked for: a phone draws the sheet while its dialog is open, and does not wait for it.
    const afterPrint = () => {
      clearTimeout(timer)
      if (closing.current) timer = setTimeout(close, closeAfterMs)
    }
    window.addEventListener('afterprint', afterPrint)
    return () => {
      window.removeEventListener('afterprint', afterPrint)
      clearTimeout(timer)
    }
  }, [navigate])

  const downloadAndClose = () => {
    // Browsers inside other apps cannot: what nobody could keep stays.
    if (!('print' in window)) {
      setUnprintable(true)
      return
    }
    closing.current = true
    window.print()
  }

  const standing = view && standingOf(view)
  const { address1: addressLine1, address2: addressLine2, zip: zipCode, ...rest } = receipt
  return (
    <EnrollmentPage step={stepOf(standing, view?.waiverSignedAt !== null)} title="Receipt">
      <Card className={styles['paper'] ?? ''}>
        <p className={styles['from']}>Robo Kids Learning receipt</p>
        <Details
          rows={[
            ...familyRows({ ...rest, addressLine1, addressLine2, zipCode }),
            startRow(receipt.startDate, view?.startTime),
            ...(view ? [classRow(view.classType)] : []),
            ...(receipt.timestamp === null
              ? []
              : ([['Date', momentOf(view?.checkout?.paidAt ?? receipt.timestamp)]] as const)),
            ...(view ? moneyRows(view) : []),
            ...(view?.waiverSignedAt ? ([['Waiver signed', momentOf(view.waiverSignedAt)]] as const) : []),
          ]}
        />
      </Card>
      {standing && isEnded(standing) && (
        <Notice title={`${endedTitle(standing)}.`}>
          <p>Nothing is signed or shipped for it any more.</p>
        </Notice>
      )}
      {standing?.kind === 'registered' && standing.disputed && <DisputedNotice />}
      {unprintable && (
        <Notice kind="error" title="This browser cannot print." live>
          <p>
            Open this page in the browser of your phone or computer and try again there, or take a picture of the
            screen. Your receipt stays here until then.
          </p>
        </Notice>
      )}
      <Actions>
        <Button onClick={downloadAndClose}>Download & Close</Button>
        <p className={styles['aside']}>
          In the print dialog, choose “Save as PDF” to keep a copy. This page then closes and forgets your data.
        </p>
      </Actions>
    </EnrollmentPage>
  )
}
