import type { RegistrationView } from './bff.ts'
import { formatClassTime, formatDay } from './class-date.ts'
import { classDetail, familyDetails, startDay, type Detail, type KnownFamily, type Mark } from './details.ts'
import { disputedNote, shortDisputeText, type Note } from './disputes.ts'
import { formatMeetingDates } from './meeting-dates.ts'
import { formatMoney } from './pricing.ts'
import { schoolDate, schoolTime } from './school-date.ts'
import { endedTitle, isEnded, splitRefunds, toDisplayStatus } from './display-status.ts'

/** The heading of a receipt, printed and in its file. */
export const receiptTitle = 'Robo Kids Learning receipt'

/** The name of the detail that the page also shows in the reader's time zone. */
export const startName = 'Start date'

/** The registration data that the browser stored, shown until the server responds. */
export interface StoredReceipt extends KnownFamily {
  startDate: string
  /** When the registration was made: an ISO string, or milliseconds. */
  timestamp: string | number | null
}

/** Formats an instant in the school's time zone, as the mails do. */
function formatMoment(timestamp: string | number): string {
  const moment = new Date(timestamp)
  if (Number.isNaN(moment.getTime())) return String(timestamp)
  const instant = moment.toISOString()
  return `${formatDay(schoolDate(instant))} at ${formatClassTime(schoolTime(instant))} Pacific`
}

/** Returns the calculation of the amount, such as `1 × $400.00, a sibling joins free`. */
function seatsText({ unitAmount, paidSeats, currency }: NonNullable<RegistrationView['checkout']>, children: number) {
  if (unitAmount === null || paidSeats === null || children === 1) return undefined
  const price = `${paidSeats} × ${formatMoney({ amount: unitAmount, currency })}`
  const free = children - paidSeats
  if (free <= 0) return price
  return `${price}, ${free === 1 ? 'a sibling joins free' : `${free} siblings join free`}`
}

function moneyDetails({ checkout, status, children }: RegistrationView): [string, string][] {
  if (!checkout) return []
  if (!checkout.paidAt)
    return [['Payment', status === 'confirmed' || status === 'waiver_signed' ? 'Received' : 'Not received yet']]
  const { ofPayment, ofOtherPayments, owed } = splitRefunds(checkout)
  const seats = seatsText(checkout, children.length)
  const details: [string, string][] = [['Amount paid', formatMoney(checkout)]]
  if (seats !== undefined) details.push(['Seats', seats])
  if (checkout.receiptNumber) details.push(['Receipt number', checkout.receiptNumber])
  for (const refund of ofPayment)
    details.push([refund.status === 'succeeded' ? 'Refunded' : 'Refund on its way', formatMoney(refund)])
  if (owed > 0 && status === 'cancelled') {
    const money = formatMoney({ amount: owed, currency: checkout.currency })
    details.push(['Failed refund', `${money}, still owed to you`])
  }
  // Duplicate payments: their refunds are not part of the amount above.
  for (const refund of ofOtherPayments) {
    const name = refund.status === 'succeeded' ? 'Extra payment, refunded' : 'Extra payment, refund on its way'
    details.push([name, formatMoney(refund)])
  }
  for (const dispute of checkout.disputes)
    details.push(['Disputed', `${formatMoney(dispute)}, ${shortDisputeText(dispute)}`])
  return details
}

function toStoredReceipt(view: RegistrationView): StoredReceipt {
  const { guardianName, email, children, address, startDate } = view
  return { guardianName, email, children, ...address, startDate, timestamp: view.checkout?.paidAt ?? null }
}

/**
 * Returns the details of a receipt, in order; the page and the file both use them.
 * @param view the registration from the server, which has precedence over `kept`, the browser's copy.
 */
export function receiptDetails(
  view: RegistrationView | undefined,
  kept: StoredReceipt | undefined,
  mark: Mark,
): Detail[] {
  const known = view ? toStoredReceipt(view) : kept
  if (!known) return []
  const { startDate } = known
  const timestamp = known.timestamp ?? kept?.timestamp ?? null
  const time = view ? `, ${formatClassTime(view.startTime)} Pacific` : ''
  const details = familyDetails(known, mark)
  details.push([startName, [`${startDay(startDate)}${time}`]])
  const { meetings = [] } = view ?? {}
  if (meetings.length > 1) details.push([`All ${meetings.length} dates`, [formatMeetingDates(meetings)]])
  if (view) details.push(classDetail(view.classType))
  if (timestamp !== null) details.push(['Date', [formatMoment(timestamp)]])
  if (view) for (const [name, value] of moneyDetails(view)) details.push([name, [value]])
  if (view?.waiverSignedAt) details.push(['Waiver signed', [formatMoment(view.waiverSignedAt)]])
  return details
}

/** Returns a note for the receipt if the registration has ended or its payment is disputed. */
export function receiptNote(view: RegistrationView): Note | undefined {
  const status = toDisplayStatus(view)
  if (isEnded(status))
    return { title: `${endedTitle(status)}.`, text: 'Nothing more will be signed or shipped for it.' }
  return status.kind === 'registered' && status.disputed ? disputedNote : undefined
}
