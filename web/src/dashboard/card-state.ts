import { formatClassDate, formatClassTime } from '@robokids/contracts/class-date'
import { meetingsOf, meetingTimes, nextMeeting } from '@robokids/contracts/class-link-times'
import type { DashboardCard } from '@robokids/contracts/dashboard'
import {
  splitRefunds,
  toDisplayStatus,
  type DisplayStatus,
  type RefundProgress,
} from '@robokids/contracts/display-status'
import type { Money } from '@robokids/contracts/fields'
import type { Meeting } from '@robokids/contracts/meetings'
import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate, schoolTime } from '@robokids/contracts/school-date'
import { clockTimeOf, dateOf, momentOf, nearnessOf, timeOf } from './moments.ts'

export type Tone = 'done' | 'note' | 'wrong'

type CardKind =
  | 'held'
  | 'processing'
  | 'hold ended'
  | 'no seat'
  | 'waiver missing'
  | 'disputed'
  | 'ready'
  | 'today'
  | 'soon'
  | 'live'
  | 'refund'
  | 'canceled'
  | 'choice'
  | 'moving'
  | 'finished'

/** What a card says of itself. */
export interface CardState {
  kind: CardKind
  badge: string
  tone: Tone
  sentence?: string | undefined
  /** What there is to pay, if it is known. */
  due?: Money | undefined
  /** The meeting that comes next or is running; for a family with a seat. */
  meeting?: Meeting | undefined
}

const usd = (amount: number): Money => ({ amount, currency: 'usd' })

/**
 * The display status, with what enrollment knows of the money where billing is away: otherwise a payment that is on its way back
 * would look like one that is kept.
 */
function statusOf(card: DashboardCard): DisplayStatus {
  const status = toDisplayStatus(card)
  const { checkout, payment } = card
  if (checkout || !payment || (status.kind !== 'registered' && status.kind !== 'cancelled')) return status
  const money = usd(payment.amount)
  const refunds: Partial<Record<NonNullable<typeof payment.state>, RefundProgress>> = {
    refund_under_way: { state: 'underway', money },
    refunded: { state: 'done', money },
    refund_failed: { state: 'failed', money },
    lost: { state: 'done', money },
  }
  const refund = refunds[payment.state ?? 'paid']
  if (status.kind === 'cancelled') return refund ? { ...status, refund } : status
  if (refund) return { kind: 'returning', refund, byBank: payment.state === 'lost' }
  return { ...status, disputed: payment.state === 'disputed' }
}

const amountOf = (money: Money | null) => (money ? formatMoney(money) : 'Your money')

/** @param why a sentence before that of the refund. */
function refundState({ state, money, at }: RefundProgress, why?: string): CardState {
  const told = (sentence: string) => (why === undefined ? sentence : `${why} ${sentence}`)
  switch (state) {
    case 'underway':
      return {
        kind: 'refund',
        badge: 'Refund on its way',
        tone: 'note',
        sentence: told(`${amountOf(money)} goes back to your card. Banks take 5 to 10 days.`),
      }
    case 'done':
      return {
        kind: 'refund',
        badge: 'Refunded',
        tone: 'done',
        sentence: told(`${amountOf(money)} went back ${at ? `on ${dateOf(schoolDate(at))}` : 'to your card'}.`),
      }
    case 'failed':
      return {
        kind: 'refund',
        badge: 'Refund needs us',
        tone: 'wrong',
        sentence: told('Your bank did not take the refund. We are on it and will write to you.'),
      }
  }
}

const whyNoSeat = {
  class_full: 'The last seat went while you paid.',
  class_started: 'The class had started when your payment arrived.',
  registration_cancelled: 'The registration had ended when your payment arrived.',
}

const holdEnded = (sentence: string): CardState => ({ kind: 'hold ended', badge: 'Hold ended', tone: 'note', sentence })

function heldState(card: DashboardCard, lastDecline: string | null, now: number): CardState {
  const { heldUntil, children, checkout } = card
  const until = heldUntil === null ? undefined : Date.parse(heldUntil)
  // Even before the server says so: the button must not outlive the hold.
  if (until !== undefined && until <= now) return holdEnded('The seat is free again.')
  const declined = lastDecline ? `${lastDecline} You weren’t charged. ` : ''
  const seats = children.length === 1 ? 'Your seat is' : `Your ${children.length} seats are`
  return {
    kind: 'held',
    badge: 'Not paid yet',
    tone: 'note',
    sentence: `${declined}${seats} held ${until === undefined ? 'for a while' : `until ${clockTimeOf(until)}`}.`,
    due: checkout ? usd(checkout.amount) : undefined,
  }
}

/** The state of a card by the server's clock. */
export function cardStateOf(card: DashboardCard, now: number): CardState {
  const status = statusOf(card)
  switch (status.kind) {
    case 'processing':
      return {
        kind: 'processing',
        badge: 'Payment on its way',
        tone: 'note',
        sentence: 'Your bank is still checking. This page changes by itself.',
      }
    case 'awaiting':
      return heldState(card, status.lastDecline, now)
    case 'unpaid':
      return heldState(card, null, now)
    case 'expired':
      if (status.refund) return refundState(status.refund)
      return holdEnded(
        status.charged === 'no'
          ? 'Nothing was charged. The seat is free again.'
          : 'No payment arrived in time. The seat is free again.',
      )
    case 'rejected': {
      const why = whyNoSeat[status.reason ?? 'class_full']
      if (status.refund.state !== 'underway') return refundState(status.refund, why)
      return {
        kind: 'no seat',
        badge: 'No seat',
        tone: 'note',
        sentence: `${why} ${amountOf(status.refund.money)} goes back by itself.`,
      }
    }
    case 'returning':
      if (!status.byBank) return refundState(status.refund)
      return {
        kind: 'refund',
        badge: 'Refunded',
        tone: 'done',
        sentence: `Your bank returned ${amountOf(status.refund.money)} to you.`,
      }
    case 'cancelled':
      return status.refund ? refundState(status.refund, canceledOn(card)) : canceledState(card)
    case 'registered': {
      const cancelled = card.places?.find(({ classCancelled }) => classCancelled)?.classCancelled
      if (cancelled) return choiceState(card, cancelled, now)
      return movingState(card, now) ?? seatedState(card, now, status.disputed)
    }
  }
}

/** When the family gave up these places, or that the school had cancelled their class. */
function canceledOn({ places = [] }: DashboardCard): string | undefined {
  const place = places.find(({ cancelledAt }) => cancelledAt !== null)
  if (!place?.cancelledAt) return undefined
  if (place.cancelledBySchool === 'deadline') return 'We canceled this class, and had not heard from you.'
  if (place.cancelledBySchool) return 'We canceled this class, and you chose your money.'
  return `You canceled on ${dateOf(schoolDate(place.cancelledAt))}.`
}

/** @param card of single children, what went back for them is what they have no longer paid. */
function canceledState(card: DashboardCard): CardState {
  const { places = [], payment } = card
  const isAll = payment !== null && places.reduce((sum, { paidAmount }) => sum + paidAmount, 0) === payment.amount
  const bySchool = places.some(({ cancelledBySchool }) => cancelledBySchool)
  const nothing = isAll && !bySchool ? ' By our terms $0.00 went back.' : ''
  const on = canceledOn(card)
  return { kind: 'canceled', badge: 'Canceled', tone: 'note', sentence: on && `${on}${nothing}` }
}

/** The school has cancelled the class, and the family can choose. */
function choiceState(
  { places = [] }: DashboardCard,
  { chooseUntil, back }: { chooseUntil: string; back: number },
  now: number,
): CardState {
  const paid = places.reduce((sum, { paidAmount }) => sum + paidAmount, 0)
  const due = usd(Math.min(paid, back))
  // A sibling who joined free can be the only one in the class.
  const refund = due.amount > 0 ? `all ${formatMoney(due)} goes back` : 'nothing is refunded, as nothing was paid'
  const isOpen = now < Date.parse(chooseUntil)
  const ask = `Choose by ${pacificOf(chooseUntil)}. If we hear nothing, ${refund}.`
  return {
    kind: 'choice',
    badge: 'Canceled by us',
    tone: 'note',
    sentence: `We had to cancel this class, and we are sorry. ${isOpen ? ask : due.amount > 0 ? `All ${formatMoney(due)} goes back by itself.` : 'Nothing was paid for it.'}`,
    due,
  }
}

/** `Friday, January 29, 5:00 PM Pacific` */
const pacificOf = (instant: string) =>
  `${formatClassDate(schoolDate(instant)).replace(/, \d{4}$/, '')}, ${formatClassTime(schoolTime(instant))} Pacific`

/** A move that is not paid yet: until its seat is gone, the card asks for that first. */
function movingState({ pendingMove }: DashboardCard, now: number): CardState | undefined {
  const until = Date.parse(pendingMove?.heldUntil ?? '')
  if (!pendingMove || !(now < until)) return undefined
  const { lines, due } = pendingMove.terms
  const seats = lines.length === 1 ? 'seat is' : 'seats are'
  const names = new Intl.ListFormat('en-US').format(lines.map(({ childName }) => childName))
  const sentence = `${names}’s new ${seats} held until ${clockTimeOf(until)}. Nothing changes until you pay ${formatMoney(usd(due))}.`
  return { kind: 'moving', badge: 'Move not finished', tone: 'note', sentence, due: usd(due) }
}

function seatedState(card: DashboardCard, now: number, disputed: boolean): CardState {
  const meetings = meetingsOf(card)
  const meeting = nextMeeting(meetings, now)
  if (!meeting) {
    const last = schoolDate(meetings.at(-1)?.startsAt ?? card.startsAt)
    const count = meetings.length > 1 ? `${meetings.length} of ${meetings.length} meetings. ` : ''
    return { kind: 'finished', badge: 'Finished', tone: 'done', sentence: `${count}Ended ${dateOf(last)}.` }
  }
  const { opens } = meetingTimes(meeting)
  if (disputed) {
    return {
      kind: 'disputed',
      badge: 'Payment disputed',
      tone: 'note',
      sentence: 'Nothing can be signed or shipped until your bank decides. We’re keeping your seat until then.',
      meeting,
    }
  }
  if (card.waiver === null) {
    return {
      kind: 'waiver missing',
      badge: 'Waiver missing',
      tone: 'note',
      sentence:
        now >= opens
          ? 'The class is starting. Sign the waiver and the link appears here.'
          : 'Sign it and we send the kit and show the class link. It takes two minutes.',
      meeting,
    }
  }
  return { ...timeState(meeting, now), meeting }
}

/** The state of a class that all is in order for, by the time until it. */
export function timeState(meeting: Meeting, now: number): CardState {
  const { opens, start } = meetingTimes(meeting)
  if (now >= start) {
    const minutes = Math.floor((now - start) / minuteMs)
    const begun = minutes === 0 ? 'It starts now' : `Started ${minutesText(minutes)} ago`
    return { kind: 'live', badge: 'Live now', tone: 'done', sentence: `${begun}. Come right in.` }
  }
  if (now >= opens) {
    return { kind: 'soon', badge: 'Starts soon', tone: 'note', sentence: `Starts in ${countdown(start - now)}.` }
  }
  const nearness = nearnessOf(meeting.startsAt, now)
  if (nearness !== 'Today') return { kind: 'ready', badge: 'Ready', tone: 'done', sentence: nearness }
  return {
    kind: 'today',
    badge: 'Today',
    tone: 'note',
    sentence: `Today at ${timeOf(momentOf(meeting.startsAt))}. The link opens at ${clockTimeOf(opens)}.`,
  }
}

const minuteMs = 60_000
/** From then on a countdown shows its seconds. */
export const secondsFromMs = 10 * minuteMs

const minutesText = (minutes: number) => (minutes === 1 ? '1 minute' : `${minutes} minutes`)

/** `24 minutes`; in the last ten minutes `9:41`. */
export function countdown(ms: number): string {
  if (ms >= secondsFromMs) return minutesText(Math.ceil(ms / minuteMs))
  const seconds = Math.ceil(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** Whether the family sits in the class: what is refused, refunded or ended has no next meeting. */
export const isSeated = ({ meeting }: CardState) => meeting !== undefined

/** What went back of a seat's payment, is on its way, or failed to, while the seat is kept. */
export function partBackOf({ checkout }: DashboardCard): string | undefined {
  if (!checkout) return undefined
  const { ofPayment, owed } = splitRefunds(checkout)
  const sum = (done: boolean) =>
    ofPayment.filter(({ status }) => (status === 'succeeded') === done).reduce((cents, { amount }) => cents + amount, 0)
  const [back, coming] = [sum(true), sum(false)]
  const parts = [
    ...(back > 0 ? [`${formatMoney(usd(back))} was refunded`] : []),
    ...(coming > 0 ? [`${formatMoney(usd(coming))} is being refunded`] : []),
    ...(owed > 0 ? [`${formatMoney(usd(owed))} could not be refunded yet`] : []),
  ]
  return parts.length > 0 ? parts.join(', ') : undefined
}
