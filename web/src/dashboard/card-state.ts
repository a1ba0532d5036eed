import type { DashboardCard } from '@robokids/contracts/dashboard'
import {
  splitRefunds,
  toDisplayStatus,
  type DisplayStatus,
  type RefundProgress,
} from '@robokids/contracts/display-status'
import type { Money } from '@robokids/contracts/fields'
import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate } from '@robokids/contracts/school-date'
import { clockTimeOf, dateOf, momentOf, nearnessOf, timeOf } from './moments.ts'

/** How long before a class its link opens, and how long it works after it. */
export const opensBeforeMs = 30 * 60_000
export const worksAfterMs = 15 * 60_000

export type Tone = 'done' | 'note' | 'wrong'

export type CardKind =
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
  | 'finished'

/** What a card says of itself. */
export interface CardState {
  kind: CardKind
  badge: string
  tone: Tone
  sentence?: string | undefined
  /** What there is to pay, if it is known. */
  due?: Money | undefined
}

const usd = (amount: number): Money => ({ amount, currency: 'usd' })

/**
 * The display status, with what enrollment knows of the money where billing is away: then a payment that is on its way back
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
  if (refund)
    return status.kind === 'cancelled'
      ? { ...status, refund }
      : { kind: 'returning', refund, byBank: payment.state === 'lost' }
  return status.kind === 'registered' ? { ...status, disputed: payment.state === 'disputed' } : status
}

const amountOf = (money: Money | null) => (money ? formatMoney(money) : 'Your money')

function refundState({ state, money }: RefundProgress, why = ''): CardState {
  const says = (text: string) => (why === '' ? text : `${why} ${text}`)
  switch (state) {
    case 'underway':
      return {
        kind: 'refund',
        badge: 'Refund on its way',
        tone: 'note',
        sentence: says(`${amountOf(money)} goes back to your card. Banks take 5 to 10 days.`),
      }
    case 'done':
      return {
        kind: 'refund',
        badge: 'Refunded',
        tone: 'done',
        sentence: says(`${amountOf(money)} went back to your card.`),
      }
    case 'failed':
      return {
        kind: 'refund',
        badge: 'Refund needs us',
        tone: 'wrong',
        sentence: says('Your bank did not take the refund. We are on it and will write to you.'),
      }
  }
}

const whyNoSeat = {
  class_full: 'The last seat went while you paid.',
  class_started: 'The class had started when your payment arrived.',
  registration_cancelled: 'The registration had ended when your payment arrived.',
}

const holdEnded = (sentence = 'Nothing was charged. The seat is free again.'): CardState => ({
  kind: 'hold ended',
  badge: 'Hold ended',
  tone: 'note',
  sentence,
})

/** The seats of a card, as the subject of a sentence. */
const seatsAre = ({ children }: DashboardCard) =>
  children.length === 1 ? 'Your seat is' : `Your ${children.length} seats are`

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
    case 'unpaid': {
      const until = Date.parse(card.heldUntil ?? '')
      // Before the server is heard: the buttons must not outlive the hold.
      if (until <= now) return holdEnded('The seat is free again.')
      const declined =
        status.kind === 'awaiting' && status.lastDecline ? `${status.lastDecline} You weren’t charged. ` : ''
      const held = Number.isNaN(until)
        ? `${seatsAre(card)} held for a while.`
        : `${seatsAre(card)} held until ${clockTimeOf(until)}.`
      return {
        kind: 'held',
        badge: 'Not paid yet',
        tone: 'note',
        sentence: declined + held,
        due: card.checkout ? usd(card.checkout.amount) : undefined,
      }
    }
    case 'expired':
      if (status.refund) return refundState(status.refund)
      return holdEnded(status.charged === 'no' ? undefined : 'No payment arrived in time. The seat is free again.')
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
      if (status.byBank) {
        return {
          kind: 'refund',
          badge: 'Refunded',
          tone: 'done',
          sentence: `Your bank returned ${amountOf(status.refund.money)} to you.`,
        }
      }
      return refundState(status.refund)
    case 'cancelled':
      return status.refund ? refundState(status.refund) : { kind: 'canceled', badge: 'Canceled', tone: 'note' }
    case 'registered':
      return registeredState(card, now, status.disputed)
  }
}

function registeredState(card: DashboardCard, now: number, disputed: boolean): CardState {
  const { startsAt, durationMinutes } = card
  const start = Date.parse(startsAt)
  const end = start + durationMinutes * 60_000
  if (now >= end + worksAfterMs) {
    return {
      kind: 'finished',
      badge: 'Finished',
      tone: 'done',
      sentence: `Ended ${dateOf(schoolDate(new Date(end).toISOString()))}.`,
    }
  }
  if (disputed) {
    return {
      kind: 'disputed',
      badge: 'Payment disputed',
      tone: 'note',
      sentence: 'Nothing can be signed or shipped until your bank decides. We’re keeping your seat until then.',
    }
  }
  if (card.waiver === null) {
    return {
      kind: 'waiver missing',
      badge: 'Waiver missing',
      tone: 'note',
      sentence:
        now >= start - opensBeforeMs
          ? 'The class is starting. Sign the waiver and the link appears here.'
          : 'Sign it and we send the kit and show the class link. It takes two minutes.',
    }
  }
  if (now >= start) {
    const minutes = Math.floor((now - start) / 60_000)
    return {
      kind: 'live',
      badge: 'Live now',
      tone: 'done',
      sentence: minutes < 1 ? 'It starts now. Come right in.' : `Started ${minutesText(minutes)} ago. Come right in.`,
    }
  }
  if (now >= start - opensBeforeMs) {
    return {
      kind: 'soon',
      badge: 'Starts soon',
      tone: 'note',
      sentence: `Starts in ${minutesText(Math.max(1, Math.ceil((start - now) / 60_000)))}.`,
    }
  }
  const nearness = nearnessOf(startsAt, now)
  if (nearness === 'Today') {
    return {
      kind: 'today',
      badge: 'Today',
      tone: 'note',
      sentence: `Today at ${timeOf(momentOf(startsAt))}. The link opens at ${clockTimeOf(start - opensBeforeMs)}.`,
    }
  }
  return { kind: 'ready', badge: 'Ready', tone: 'done', sentence: nearness }
}

const minutesText = (minutes: number) => (minutes === 1 ? '1 minute' : `${minutes} minutes`)

/** Whether the family sits in the class: what is refused, refunded or ended has no next meeting. */
export function isSeated({ kind }: CardState): boolean {
  return ['waiver missing', 'disputed', 'ready', 'today', 'soon', 'live'].includes(kind)
}

/** Cents of a seat's payment that went back, are on their way, or failed to, while the seat is kept. */
export function partBackOf({ checkout }: DashboardCard): string | undefined {
  if (!checkout) return undefined
  const { ofPayment, owed } = splitRefunds(checkout)
  const sum = (done: boolean) =>
    ofPayment.filter(({ status }) => (status === 'succeeded') === done).reduce((cents, { amount }) => cents + amount, 0)
  const [back, coming] = [sum(true), sum(false)]
  const parts = [
    ...(back > 0 ? [`${formatMoney(usd(back))} went back`] : []),
    ...(coming > 0 ? [`${formatMoney(usd(coming))} is on its way back`] : []),
    ...(owed > 0 ? [`${formatMoney(usd(owed))} could not be sent back yet`] : []),
  ]
  return parts.length > 0 ? parts.join(', ') : undefined
}
