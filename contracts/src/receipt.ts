import type { RegistrationView } from './bff.ts'
import { formatClassTime, formatDay } from './class-date.ts'
import { classDetail, familyDetails, startDay, type Detail, type KnownFamily, type Mark } from './details.ts'
import { disputedNote, disputeInShort, type Note } from './disputes.ts'
import { formatMoney } from './pricing.ts'
import { schoolDate, schoolTime } from './school-date.ts'
import { endedTitle, isEnded, moneyBack, standingOf } from './standing.ts'

/** The heading of a receipt, on paper and in its file. */
export const receiptTitle = 'Robo Kids Learning receipt'

/** The detail that a page tells in its reader's time zone as well. */
export const startName = 'Start date'

/** What is known of a registration while the server has not told it: what a browser kept. */
export interface KeptReceipt extends KnownFamily {
  startDate: string
  /** When it was made: an ISO string, or milliseconds. */
  timestamp: string | number | null
}

/** As the mails tell it, wherever the reader is. */
function momentOf(timestamp: string | number): string {
  const moment = new Date(timestamp)
  if (Number.isNaN(moment.getTime())) return String(timestamp)
  const instant = moment.toISOString()
  return `${formatDay(schoolDate(instant))} at ${formatClassTime(schoolTime(instant))} Pacific`
}

/** Why several children cost what one does. */
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
  const { ofThePayment, besides, owed } = moneyBack(checkout)
  const seats = seatsText(checkout, children.length)
  const details: [string, string][] = [['Amount paid', formatMoney(checkout)]]
  if (seats !== undefined) details.push(['Seats', seats])
  if (checkout.receiptNumber) details.push(['Receipt number', checkout.receiptNumber])
  for (const refund of ofThePayment)
    details.push([refund.status === 'succeeded' ? 'Refunded' : 'Refund on its way', formatMoney(refund)])
  if (owed > 0 && status === 'cancelled') {
    const money = formatMoney({ amount: owed, currency: checkout.currency })
    details.push(['Refund that failed', `${money}, we still owe it to you`])
  }
  // Beside what was paid for this registration: it takes nothing from the amount above.
  for (const refund of besides) {
    const name = refund.status === 'succeeded' ? 'Paid beside it and returned' : 'Paid beside it, on its way back'
    details.push([name, formatMoney(refund)])
  }
  for (const dispute of checkout.disputes)
    details.push(['Disputed', `${formatMoney(dispute)}, ${disputeInShort(dispute)}`])
  return details
}

function whatIsKnown(view: RegistrationView): KeptReceipt {
  const { guardianName, email, children, address, startDate } = view
  return { guardianName, email, children, ...address, startDate, timestamp: view.checkout?.paidAt ?? null }
}

/**
 * What a receipt says, in its order: the one source of the page's and the file's words and figures.
 * @param view the registration as the server tells it, which goes before what was kept of it.
 */
export function receiptDetails(
  view: RegistrationView | undefined,
  kept: KeptReceipt | undefined,
  mark: Mark,
): Detail[] {
  const known = view ? whatIsKnown(view) : kept
  if (!known) return []
  const { startDate } = known
  const timestamp = known.timestamp ?? kept?.timestamp ?? null
  const time = view ? `, ${formatClassTime(view.startTime)} Pacific` : ''
  const details = familyDetails(known, mark)
  details.push([startName, [`${startDay(startDate)}${time}`]])
  if (view) details.push(classDetail(view.classType))
  if (timestamp !== null) details.push(['Date', [momentOf(timestamp)]])
  if (view) for (const [name, value] of moneyDetails(view)) details.push([name, [value]])
  if (view?.waiverSignedAt) details.push(['Waiver signed', [momentOf(view.waiverSignedAt)]])
  return details
}

/** What is to be known of a registration beside what was paid: that it is over, or that its payment is disputed. */
export function receiptNote(view: RegistrationView): Note | undefined {
  const standing = standingOf(view)
  if (isEnded(standing))
    return { title: `${endedTitle(standing)}.`, text: 'Nothing is signed or shipped for it any more.' }
  return standing.kind === 'registered' && standing.disputed ? disputedNote : undefined
}
