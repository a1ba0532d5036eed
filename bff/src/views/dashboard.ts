import { meetingsOf, nextMeeting } from '@robokids/contracts/class-link-times'
import type { Checkout } from '@robokids/contracts/billing'
import {
  familyClassesSchema,
  familyPurchasesSchema,
  type Dashboard,
  type DashboardCard,
  type DashboardPast,
  type FamilyClasses,
  type FamilyPurchases,
} from '@robokids/contracts/dashboard'
import { isEnded, toDisplayStatus } from '@robokids/contracts/display-status'
import { familyEvents } from '@robokids/contracts/events'
import type { Order } from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import type { LiveView } from '../live-streams.ts'
import type { Services } from '../upstream.ts'
import { presentRegistration } from './registration.ts'

/** The account whose family it is, with its verified address. */
export interface FamilyAccount {
  userId: string
  email: string
}

/** What an account's home shows. */
type DashboardParts = Omit<Dashboard, 'now' | 'account'>

interface ViewOptions {
  siteUrl: string
  now: Temporal.Instant
  signal?: AbortSignal
}

/** How long a hold that ended unpaid is shown, for a parent who comes back for it. */
const endedHoldFor = Temporal.Duration.from({ hours: 72 })
/** How long an order that was shipped is shown as on its way. */
const onItsWayFor = Temporal.Duration.from({ hours: 24 * 14 })

/** Returns undefined if the service is unavailable. */
async function orUndefined<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof DomainError && error.code === 'upstream_unavailable') return undefined
    throw error
  }
}

/** Asks each service once, side by side. */
async function readFamily({ enrollment, billing }: Services, account: FamilyAccount, signal: AbortSignal | undefined) {
  const [classes, purchases] = await Promise.all([
    orUndefined(enrollment.call('GET', `/accounts/${account.userId}/classes`, { answer: familyClassesSchema, signal })),
    orUndefined(billing.call('POST', '/purchases/find', { body: account, answer: familyPurchasesSchema, signal })),
  ])
  return { classes, purchases }
}

function cardOf(
  registration: FamilyClasses['registrations'][number],
  checkout: Checkout | undefined,
  siteUrl: string,
): DashboardCard {
  const { startsAt, durationMinutes, updatedAt, waiver, kit, payment, meetings, coachName } = registration
  return {
    ...presentRegistration(registration, checkout ?? null, siteUrl),
    startsAt,
    durationMinutes,
    updatedAt,
    waiver,
    kit,
    payment,
    meetings,
    coachName,
  }
}

const isBefore = (one: Temporal.Instant, other: Temporal.Instant) => Temporal.Instant.compare(one, other) < 0

function cardsOf(
  { registrations }: FamilyClasses,
  purchases: FamilyPurchases | undefined,
  { siteUrl, now }: ViewOptions,
): { current: DashboardCard[]; past: DashboardCard[] } {
  const checkouts = new Map(purchases?.checkouts.map((checkout) => [checkout.registrationId, checkout]))
  const cards = registrations.map((one) => cardOf(one, checkouts.get(one.registrationId), siteUrl))
  const shown = cards.filter((card) => isShown(card, cards, now))
  const { past = [], current = [] } = Object.groupBy(shown, (card) => (isPast(card, now) ? 'past' : 'current'))
  const nextStart = (card: DashboardCard) =>
    nextMeeting(meetingsOf(card), now.epochMilliseconds)?.startsAt ?? card.startsAt
  return {
    current: current.toSorted((one, other) => nextStart(one).localeCompare(nextStart(other))),
    past: past.toSorted((one, other) => endOf(other).localeCompare(endOf(one))),
  }
}

/** When the last meeting begins. */
const endOf = (card: DashboardCard) => meetingsOf(card).at(-1)?.startsAt ?? card.startsAt

/** Leaves out what a parent has replaced or given up, unless money is involved. */
function isShown(card: DashboardCard, all: readonly DashboardCard[], now: Temporal.Instant): boolean {
  if (card.payment !== null || card.checkout?.paidAt || (card.checkout?.refunds.length ?? 0) > 0) return true
  if (card.status === 'cancelled') return false
  if (card.status !== 'expired') return true
  const isRecent = isBefore(now, Temporal.Instant.from(card.updatedAt).add(endedHoldFor))
  return isRecent && isBefore(now, Temporal.Instant.from(card.startsAt)) && !all.some((other) => replaces(other, card))
}

/** Whether a registration is for one of the same children and the same class as one whose hold has ended. */
function replaces(one: DashboardCard, ended: DashboardCard): boolean {
  const isForOneOf = one.children.some(({ childName }) => ended.children.some((child) => child.childName === childName))
  const isNewer = one.registrationId !== ended.registrationId && one.updatedAt > ended.updatedAt
  return isForOneOf && isNewer && one.classType === ended.classType && one.startDate === ended.startDate
}

/** An ended registration stays with the current ones while its money is on its way. */
function isPast(card: DashboardCard, now: Temporal.Instant): boolean {
  const status = toDisplayStatus(card)
  if (nextMeeting(meetingsOf(card), now.epochMilliseconds)) return false
  const refund = isEnded(status) ? status.refund : null
  return refund === null || refund.state === 'done'
}

/** Whether something is still to come of an order: the parcel, or money. */
function isOpen({ paymentState = 'paid', owed = 0, shippedAt }: Order, now: Temporal.Instant): boolean {
  if (paymentState === 'refund_under_way' || paymentState === 'refund_failed' || owed > 0) return true
  if (paymentState === 'refunded' || paymentState === 'lost') return false
  return shippedAt === null || isBefore(now, Temporal.Instant.from(shippedAt).add(onItsWayFor))
}

function lastFinishedOf(past: DashboardCard[]): NonNullable<Dashboard['classes']>['lastFinished'] {
  const card = past.find((one) => toDisplayStatus(one).kind === 'registered')
  return card ? { ...card, endedAt: endOf(card) } : null
}

/** The parts of the signed-in account's home. A part whose service is unavailable is null, and named. */
export async function dashboardView(
  services: Services,
  account: FamilyAccount,
  options: ViewOptions,
): Promise<DashboardParts> {
  const { classes, purchases } = await readFamily(services, account, options.signal)
  const cards = classes && cardsOf(classes, purchases, options)
  const orders =
    purchases && Object.groupBy(purchases.orders, (order) => (isOpen(order, options.now) ? 'open' : 'past'))
  return {
    unavailable: [
      ...(classes ? [] : ['classes' as const]),
      ...(purchases ? [] : (['money', 'membership', 'orders'] as const)),
    ],
    classes:
      classes && cards
        ? {
            cards: cards.current,
            memberClasses: classes.memberClasses,
            past: cards.past.length,
            lastFinished: lastFinishedOf(cards.past),
          }
        : null,
    membership: purchases ? { membership: purchases.membership, others: purchases.others } : null,
    orders: orders ? { open: orders.open ?? [], past: orders.past?.length ?? 0 } : null,
  }
}

/** How often a stream asks, for what no event tells: meetings that pass, and orders. */
const pollEveryMs = 15_000

/** The stream of an account's home: its parts by name. Its id is the account with its verified address. */
export function dashboardStream(
  services: Services,
  { siteUrl, now }: Pick<ViewOptions, 'siteUrl'> & { now: () => Temporal.Instant },
): LiveView<DashboardParts> {
  return {
    fetch: (id) => dashboardView(services, accountOfStream(id), { siteUrl, now: now() }),
    events: familyEvents,
    concerns({ data }, id, view) {
      const { ownerId, registrationId, orderId } = (data ?? {}) as Partial<Record<string, string | null>>
      if (ownerId === accountOfStream(id).userId) return true
      return (
        (view?.classes?.cards.some((card) => card.registrationId === registrationId) ?? false) ||
        (view?.orders?.open.some((order) => order.orderId === orderId) ?? false)
      )
    },
    partsOf: (parts) => ({ ...parts }),
    pollEveryMs,
  }
}

export const streamOfAccount = ({ userId, email }: FamilyAccount): string => `${userId} ${email}`

function accountOfStream(id: string): FamilyAccount {
  const [userId = '', email = ''] = id.split(' ', 2)
  return { userId, email }
}

/** What is over. */
export async function dashboardPastView(
  services: Services,
  account: FamilyAccount,
  options: ViewOptions,
): Promise<DashboardPast> {
  const { classes, purchases } = await readFamily(services, account, options.signal)
  return {
    cards: classes ? cardsOf(classes, purchases, options).past : null,
    orders: purchases ? purchases.orders.filter((order) => !isOpen(order, options.now)) : null,
  }
}
