import { and, asc, eq, inArray, isNotNull, isNull, lt, lte, min, or } from 'drizzle-orm'
import { refreshMembership } from '../membership/apply-membership.ts'
import { refundDoubleCarts } from '../orders/carts.ts'
import type { BillingContext } from '../config.ts'
import { fulfilCheckoutSession } from '../attempts/fulfil-checkout-session.ts'
import type { AttemptKind } from '../attempts/attempt-kind.ts'
import { openCheckoutSession } from '../attempts/open-checkout-session.ts'
import { purchaseAttemptKind } from '../checkout/apply-session.ts'
import { membershipAttemptKind } from '../membership/activate-membership.ts'
import { handleStripeEvent, handledEventTypes, type StripeEvent } from './handle-event.ts'
import { recordBalance } from '../ledger/record-balance.ts'
import { fetchRefund, recordRefund } from '../refunds/record-refund.ts'
import {
  checkoutAttempts,
  cursors,
  failedEvents,
  membershipAttempts,
  memberships,
  refunds,
  stripeEvents,
} from '../schema.ts'
import { callStripe, stripeTime } from '../stripe/client.ts'
import { nextTry, tryEach } from '../try-each.ts'

const sweepSize = 200
const cursorName = 'stripe_events'
/** Events become visible out of order: those of the last minutes are listed again. */
const overlapSeconds = 10 * 60
/** The provider lists events of the last 30 days; marks older than that have nothing left to prevent. */
const marksKept = Temporal.Duration.from({ hours: 40 * 24 })

/**
 * Finds out what no webhook told: asks after every checkout that is not settled, reads the provider's list of events,
 * and asks after refunds that are on their way. Goes by real time, as the provider does.
 * @throws Error once all of it was tried, where a part of it failed.
 */
export async function reconcile(context: BillingContext, signal: AbortSignal): Promise<void> {
  const parts: Record<string, () => Promise<unknown>> = {
    checkouts: () => sweepAttempts(context, signal, purchaseAttemptKind),
    'membership checkouts': () => sweepAttempts(context, signal, membershipAttemptKind),
    events: () => catchUpWithEvents(context, signal),
    'failed events': () => retryFailedEvents(context, signal),
    refunds: () => followRefunds(context, signal),
    carts: () => refundDoubleCarts(context, signal),
    memberships: () => followMemberships(context, signal),
    ledger: () => recordBalance(context, signal),
    'old marks': () =>
      context.db.delete(stripeEvents).where(lt(stripeEvents.handledAt, Temporal.Now.instant().subtract(marksKept))),
  }
  const failed: string[] = []
  for (const [part, run] of Object.entries(parts)) {
    if (signal.aborted) break
    try {
      await run()
    } catch (error) {
      context.log.error({ err: error, part }, 'a part of what is to be reconciled could not be')
      failed.push(part)
    }
  }
  if (failed.length > 0) throw new Error(`Not all was reconciled: ${failed.join(', ')}.`)
}

/** Attempts that nobody has asked after for half an interval, the longest unasked first. */
async function sweepAttempts(context: BillingContext, signal: AbortSignal, kind: AttemptKind): Promise<void> {
  const attempts = kind.table
  const { db, config, log } = context
  const before = Temporal.Now.instant().subtract({ milliseconds: Math.ceil(config.RECONCILE_EVERY_MS / 2) })
  const unsettled = await db
    .select({ id: attempts.id, checkoutSessionId: attempts.stripeSessionId })
    .from(attempts)
    .where(and(inArray(attempts.status, ['creating', 'open', 'processing']), lt(attempts.checkedAt, before)))
    .orderBy(asc(attempts.checkedAt))
    .limit(sweepSize)
  const checked = (id: string) =>
    db.update(attempts).set({ checkedAt: Temporal.Now.instant() }).where(eq(attempts.id, id))
  await tryEach(
    signal,
    unsettled,
    async ({ id, checkoutSessionId }) => {
      if (checkoutSessionId !== null) await fulfilCheckoutSession(context, kind, checkoutSessionId)
      else await openCheckoutSession(context, kind, id)
      await checked(id)
    },
    async ({ id }, error) => {
      log.warn({ err: error, attemptId: id }, 'a checkout could not be reconciled yet')
      await checked(id)
    },
  )
}

interface ListedEvent extends StripeEvent {
  /** In the provider's seconds. */
  created: number
}

async function catchUpWithEvents(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, log } = context
  const since = await startOfList(context)
  if (since === undefined) return
  const listed = await listEvents(context, signal, since)
  let position: number | undefined
  const handle = async ({ created, ...event }: ListedEvent) => {
    const outcome = await handleStripeEvent(context, event)
    if (outcome === 'handled') log.info({ ...event }, 'an event was found that no webhook had brought')
    position = created
  }
  // Written down, it keeps none of the later ones waiting.
  const putAside = async ({ created, ...event }: ListedEvent, error: unknown) => {
    log.warn({ err: error, ...event }, 'an event could not be handled yet')
    const { eventId: id, type, objectId } = event
    await db
      .insert(failedEvents)
      .values({ id, type, objectId, failedAt: Temporal.Now.instant(), ...nextTry(context, { tries: 0 }) })
      .onConflictDoNothing()
    position = created
  }
  const known = await knownEvents(context, listed)
  const news = listed.filter(({ eventId }) => !known.has(eventId))
  try {
    await tryEach(signal, news, handle, putAside)
    if (!signal.aborted) position = listed.at(-1)?.created
  } finally {
    if (position !== undefined) {
      await db
        .insert(cursors)
        .values({ name: cursorName, position })
        .onConflictDoUpdate({ target: cursors.name, set: { position } })
    }
  }
}

/** What happened since that second, oldest first. */
async function listEvents(context: BillingContext, signal: AbortSignal, since: number): Promise<ListedEvent[]> {
  const listed = await callStripe(context, async (stripe) => {
    const events: ListedEvent[] = []
    for await (const { id, type, created, data } of stripe.events.list({
      created: { gte: since },
      types: handledEventTypes,
      limit: 100,
    })) {
      if (signal.aborted) return []
      const { object } = data as { object: { id?: string } }
      events.push({ eventId: id, type, objectId: object.id ?? '', created })
    }
    return events
  })
  return listed.toReversed()
}

/** Those of them that have taken effect, or are tried again by themselves. */
async function knownEvents({ db }: BillingContext, events: ListedEvent[]): Promise<Set<string>> {
  const known = new Set<string>()
  for (let start = 0; start < events.length; start += 1_000) {
    const ids = events.slice(start, start + 1_000).map(({ eventId }) => eventId)
    const found = await db
      .select({ id: stripeEvents.id })
      .from(stripeEvents)
      .where(inArray(stripeEvents.id, ids))
      .union(db.select({ id: failedEvents.id }).from(failedEvents).where(inArray(failedEvents.id, ids)))
    for (const { id } of found) known.add(id)
  }
  return known
}

/** Tries those again that could not be handled when they were found, later and later. */
async function retryFailedEvents(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const due = await db
    .select()
    .from(failedEvents)
    .where(lte(failedEvents.nextTryAt, clock.now()))
    .orderBy(asc(failedEvents.tries), asc(failedEvents.nextTryAt))
    .limit(sweepSize)
  await tryEach(
    signal,
    due,
    async ({ id, type, objectId }) => {
      await handleStripeEvent(context, { eventId: id, type, objectId })
      await db.delete(failedEvents).where(eq(failedEvents.id, id))
    },
    async (event, error) => {
      const { id: eventId, type, objectId } = event
      log.warn({ err: error, eventId, type, objectId }, 'an event could still not be handled')
      await db.update(failedEvents).set(nextTry(context, event)).where(eq(failedEvents.id, eventId))
    },
  )
}

/** Nothing that happened before the first attempt can be about us. */
async function startOfList({ db }: BillingContext): Promise<number | undefined> {
  const [cursor] = await db.select().from(cursors).where(eq(cursors.name, cursorName))
  if (cursor) return cursor.position - overlapSeconds
  const firsts = await Promise.all([
    db.select({ at: min(checkoutAttempts.createdAt) }).from(checkoutAttempts),
    db.select({ at: min(membershipAttempts.createdAt) }).from(membershipAttempts),
  ])
  const [oldest] = firsts.flatMap(([first]) => first?.at?.epochMilliseconds ?? []).toSorted((a, b) => a - b)
  return oldest === undefined ? undefined : Math.floor(oldest / 1000) - overlapSeconds
}

/** Asks after refunds that are on their way to the bank; the longer one takes, the less often. */
async function followRefunds(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const isOnItsWay = and(eq(refunds.status, 'pending'), isNotNull(refunds.stripeRefundId))
  const due = await db
    .select({ id: refunds.id, stripeRefundId: refunds.stripeRefundId, tries: refunds.tries })
    .from(refunds)
    .where(and(isOnItsWay, lte(refunds.nextTryAt, clock.now())))
    .orderBy(asc(refunds.tries), asc(refunds.nextTryAt))
    .limit(sweepSize)
  const putOff = (refund: { id: string; tries: number }) =>
    db
      .update(refunds)
      .set(nextTry(context, refund))
      .where(and(eq(refunds.id, refund.id), isOnItsWay))
  await tryEach(
    signal,
    due,
    async (refund) => {
      const observed = await fetchRefund(context, refund.stripeRefundId ?? '')
      await db.transaction((tx) => recordRefund(tx, context, observed))
      await putOff(refund)
    },
    async (refund, error) => {
      log.warn({ err: error, refundId: refund.id }, 'a refund could not be followed')
      await putOff(refund)
    },
  )
}

/** Memberships whose paid time is over, or whose payment fails, and of which no news has come. */
async function followMemberships(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const isOverdue = and(
    eq(memberships.status, 'active'),
    or(isNull(memberships.paidUntil), lt(memberships.paidUntil, stripeTime(context)), isNotNull(memberships.unpaid)),
  )
  const due = await db
    .select({ id: memberships.attemptId, subscriptionId: memberships.stripeSubscriptionId, tries: memberships.tries })
    .from(memberships)
    .where(and(isOverdue, lte(memberships.nextTryAt, clock.now())))
    .orderBy(asc(memberships.tries), asc(memberships.nextTryAt))
    .limit(sweepSize)
  // One that is as it was stays overdue, and is asked after less and less often.
  const putOff = (membership: { id: string; tries: number }) =>
    db
      .update(memberships)
      .set(nextTry(context, membership))
      .where(and(eq(memberships.attemptId, membership.id), isOverdue))
  await tryEach(
    signal,
    due,
    async (membership) => {
      await refreshMembership(context, membership.subscriptionId)
      await putOff(membership)
    },
    async (membership, error) => {
      const { subscriptionId } = membership
      log.warn({ err: error, subscriptionId }, 'a membership could not be followed')
      await putOff(membership)
    },
  )
}
