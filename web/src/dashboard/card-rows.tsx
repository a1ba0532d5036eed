import { meetingTimes } from '@robokids/contracts/class-link-times'
import type { DashboardCard } from '@robokids/contracts/dashboard'
import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate } from '@robokids/contracts/school-date'
import { trackingUrl } from '@robokids/contracts/tracking'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { AsWritten } from '../ui/AsWritten.tsx'
import { FileButton } from '../ui/FileButton.tsx'
import { type CardState, isSeated, partBackOf } from './card-state.ts'
import styles from './ClassCard.module.css'
import { dateOf, daysUntil, shortDayOf, shortMomentOf } from './moments.ts'

export interface CardRow {
  name: string
  value: ReactNode
  action?: ReactNode
}

/** Families are nervous when a kit has not left by then. */
const kitIsLateDays = 5

const shortDate = (instant: string) => shortDayOf(schoolDate(instant)).split(', ')[1] ?? ''

function Shipped({ kit }: { kit: NonNullable<DashboardCard['kit']> }) {
  const { carrier = '', trackingNumber = '', shippedAt } = kit
  const url = trackingUrl(carrier, trackingNumber)
  const number = <AsWritten>{trackingNumber}</AsWritten>
  return (
    <>
      <span>{shippedAt ? `Shipped ${dateOf(schoolDate(shippedAt))}` : 'Shipped'}</span>
      {trackingNumber !== '' && (
        <>
          <span>{` · ${carrier} `}</span>
          {url ? (
            <a href={url} target="_blank" rel="noreferrer" className={styles.tracking}>
              {number}
            </a>
          ) : (
            <span className={styles.tracking}>{number}</span>
          )}
        </>
      )}
    </>
  )
}

function kitRow({ kit, waiver, address, startsAt }: DashboardCard, now: number): ReactNode {
  if (kit?.status === 'shipped') return <Shipped kit={kit} />
  const days = daysUntil(startsAt, now)
  if (days >= 0 && days < kitIsLateDays && waiver) return 'Not shipped yet. We know, and are on it.'
  if (kit) {
    const street = `${address.addressLine1}, ${address.city}`
    return (
      <>
        <span>Being packed for </span>
        <AsWritten>{street}</AsWritten>
      </>
    )
  }
  return waiver ? undefined : 'Ships once the waiver is signed'
}

function linkRow({ waiver }: DashboardCard, { kind, meeting }: CardState): ReactNode {
  if (!meeting || kind === 'disputed' || kind === 'soon' || kind === 'live') return undefined
  if (!waiver) return 'Shown here once the waiver is signed'
  return `Opens ${shortMomentOf(meetingTimes(meeting).opens)}`
}

function waiverFile({ waiverId }: NonNullable<DashboardCard['waiver']>): ReactNode {
  return (
    <FileButton
      address={`/api/dashboard/waivers/${waiverId}.pdf`}
      variant="quiet"
      failure="The file is not ready. Please try again in a moment."
    >
      PDF<span className="visually-hidden"> of the signed waiver</span>
    </FileButton>
  )
}

function Receipt({ card: { registrationId, payment, checkout } }: { card: DashboardCard }) {
  const number = payment?.receiptNumber ?? checkout?.receiptNumber ?? ''
  const paid = payment ?? checkout
  return (
    <>
      <Link to="/robokids/receipt" search={{ reference: registrationId }}>
        {number === '' ? 'Receipt' : number}
      </Link>
      <span>{paid ? ` · ${formatMoney(paid)}` : ''}</span>
    </>
  )
}

function receiptFile({ registrationId }: DashboardCard): ReactNode {
  return (
    <FileButton
      address={`/api/registrations/${registrationId}/receipt.pdf`}
      variant="quiet"
      failure="We can’t make the file right now. Please try again in a moment."
    >
      PDF<span className="visually-hidden"> of the receipt</span>
    </FileButton>
  )
}

/** The facts of a card: those that say nothing are left out. */
export function cardRows(card: DashboardCard, state: CardState, now: number): CardRow[] {
  const { waiver, payment, checkout, kit } = card
  const seated = isSeated(state)
  const rows: CardRow[] = [
    {
      name: 'Kit',
      value:
        seated && state.kind !== 'disputed' ? kitRow(card, now) : kit?.status === 'shipped' && <Shipped kit={kit} />,
    },
    { name: 'Link', value: linkRow(card, state) },
    waiver
      ? { name: 'Waiver', value: `Signed ${shortDate(waiver.signedAt)}`, action: waiverFile(waiver) }
      : { name: 'Waiver', value: seated && 'Not signed yet' },
    { name: 'Receipt', value: (payment || checkout?.paidAt) && <Receipt card={card} />, action: receiptFile(card) },
    { name: 'Refund', value: seated || state.kind === 'finished' ? partBackOf(card) : undefined },
  ]
  return rows.filter(({ value }) => Boolean(value))
}
