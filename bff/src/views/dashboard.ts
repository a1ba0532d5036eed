import { classTimeZone } from '@robokids/contracts/class-date'
import {
  familyClassesSchema,
  familyPurchasesSchema,
  type Dashboard,
  type DashboardPast,
} from '@robokids/contracts/dashboard'
import { familyEvents } from '@robokids/contracts/events'
import type { Order } from '@robokids/contracts/shop'
import type { WaitlistEntry } from '@robokids/contracts/waitlist'
import { DomainError } from '@robokids/runtime/errors'
import type { LiveView } from '../live-streams.ts'
import type { Services } from '../upstream.ts'
import { dashboardCards, lastFinishedOf } from './dashboard-cards.ts'

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

const isBefore = (one: Temporal.Instant, other: Temporal.Instant) => Temporal.Instant.compare(one, other) < 0

/** Whether something is still to come of an order: the parcel, or money. */
function isOpen({ paymentState = 'paid', owed = 0, shippedAt }: Order, now: Temporal.Instant): boolean {
  if (paymentState === 'refund_under_way' || paymentState === 'refund_failed' || owed > 0) return true
  if (paymentState === 'refunded' || paymentState === 'lost') return false
  return shippedAt === null || isBefore(now, Temporal.Instant.from(shippedAt).add(onItsWayFor))
}

/** What a family ended itself, or turned into a registration, it need not be told. */
function isShown({ status, startDate, closedReason }: WaitlistEntry, now: Temporal.Instant): boolean {
  if (status === 'waiting' || status === 'offered') return true
  const isAhead = startDate >= now.toZonedDateTimeISO(classTimeZone).toPlainDate().toString()
  return isAhead && (status === 'expired' || closedReason === 'class_cancelled')
}

/** The parts of the signed-in account's home. A part whose service is unavailable is null, and named. */
export async function dashboardView(
  services: Services,
  account: FamilyAccount,
  options: ViewOptions,
): Promise<DashboardParts> {
  const { classes, purchases } = await readFamily(services, account, options.signal)
  const cards = classes && dashboardCards(classes, purchases?.checkouts, options)
  const orders =
    purchases && Object.groupBy(purchases.orders, (order) => (isOpen(order, options.now) ? 'open' : 'past'))
  return {
    unavailable: [
      ...(classes ? [] : (['classes', 'waitlist'] as const)),
      ...(purchases ? [] : (['money', 'membership', 'orders'] as const)),
    ],
    classes:
      classes && cards
        ? {
            cards: cards.current,
            memberClasses: classes.memberClasses,
            memberCredits: classes.memberCredits,
            past: cards.past.length,
            lastFinished: lastFinishedOf(cards.past),
          }
        : null,
    waitlist: classes ? (classes.waitlist ?? []).filter((entry) => isShown(entry, options.now)) : null,
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
    cards: classes ? dashboardCards(classes, purchases?.checkouts, options).past : null,
    orders: purchases ? purchases.orders.filter((order) => !isOpen(order, options.now)) : null,
  }
}
