import { and, asc, eq, inArray, isNotNull, isNull, lt, lte, min, or } from 'drizzle-orm'
import { refreshMembership } from '../membership/apply-membership.ts'
import { refundDuplicateCartPayments } from '../checkout/carts.ts'
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
import { nextAttempt, tryEach } from '../try-each.ts'

/** How many rows of a kind a run refreshes, those first whose last check is oldest: none is ever skipped. */
const sweepSize = 600
/** Requests to Stripe at the same time: some 40 a second, of the 100 that it allows. */
const concurrency = 8
const cursorName = 'stripe_events'
/** Events become visible out of order: those of the last minutes are listed again. */
const overlapSeconds = 10 * 60
/** Events are listed by the hour, so that those of a long outage need no more memory. */
const windowSeconds = 3_600

/**
 * Catches up on missed webhooks: refreshes unsettled checkouts, reads Stripe's list of events, and refreshes pending refunds
 * and overdue memberships. Uses real time, as Stripe does.
 * @throws Error after all parts were tried, if any of them failed.
 */
export async function reconcile(context: BillingContext, signal: AbortSignal): Promise<void> {
  const parts: Record<string, () => Promise<unknown>> = {
    checkouts: () => sweepAttempts(context, signal, purchaseAttemptKind),
    'membership checkouts': () => sweepAttempts(context, signal, membershipAttemptKind),
    events: () => catchUpWithEvents(context, signal),
    'failed events': () => retryFailedEvents(context, signal),
    refunds: () => refreshPendingRefunds(context, signal),
    carts: () => refundDuplicateCartPayments(context, signal),
    memberships: () => refreshOverdueMemberships(context, signal),
    ledger: () => recordBalance(context, signal),
  }
  const failed: string[] = []
  for (const [part, run] of Object.entries(parts)) {
    if (signal.aborted) break
    try {
      await run()
    } catch (error) {
      context.log.error({ err: error, part }, 'could not reconcile a part')
      failed.push(part)
    }
  }
  if (failed.length > 0) throw new Error(`Not all was reconciled: ${failed.join(', ')}.`)
}

/** Fetches unsettled attempts that were not checked for half an interval, the oldest check first. */
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
      // Before the fetch, so that a buyer who returns meanwhile is not answered with its older result.
      await checked(id)
      if (checkoutSessionId !== null) await fulfilCheckoutSession(context, kind, checkoutSessionId)
      else await openCheckoutSession(context, kind, id)
    },
    async ({ id }, error) => {
      log.warn({ err: error, attemptId: id }, 'a checkout could not be reconciled yet')
    },
    concurrency,
  )
}

interface ListedEvent extends StripeEvent {
  /** In the provider's seconds. */
  created: number
}

async function catchUpWithEvents(context: BillingContext, signal: AbortSignal): Promise<void> {
  const start = await eventListStart(context)
  if (start === undefined) return
  const now = Math.floor(stripeTime(context).epochMilliseconds / 1000)
  for (let since = start; !signal.aborted; since += windowSeconds) {
    const isLast = since + windowSeconds >= now
    await handleEvents(context, signal, since, isLast ? undefined : since + windowSeconds)
    if (isLast) return
  }
}

/**
 * Handles the events between two seconds that are not handled yet, and advances the cursor beyond those that are handled or
 * recorded for a retry.
 * @param before exclusive; undefined for the latest events, of which there may be more in the same second.
 */
async function handleEvents(
  context: BillingContext,
  signal: AbortSignal,
  since: number,
  before: number | undefined,
): Promise<void> {
  const { db, log } = context
  const listed = await listEvents(context, signal, since, before)
  if (signal.aborted) return
  const known = await knownEvents(context, listed)
  const unknown = listed.filter(({ eventId }) => !known.has(eventId))
  const done = new Set<ListedEvent>()
  const handle = async (listedEvent: ListedEvent) => {
    const { created: _, ...event } = listedEvent
    const outcome = await handleStripeEvent(context, event)
    if (outcome === 'handled') log.info({ ...event }, 'handled an event without a webhook')
    done.add(listedEvent)
  }
  // Recorded for a retry, so that it does not hold up the later ones.
  const recordFailure = async (listedEvent: ListedEvent, error: unknown) => {
    const { created: _, ...event } = listedEvent
    log.warn({ err: error, ...event }, 'an event could not be handled yet')
    const { eventId: id, type, objectId } = event
    await db
      .insert(failedEvents)
      .values({ id, type, objectId, failedAt: Temporal.Now.instant(), ...nextAttempt(context, { tries: 0 }) })
      .onConflictDoNothing()
    done.add(listedEvent)
  }
  try {
    await tryEach(signal, unknown, handle, recordFailure, concurrency)
  } finally {
    const firstLeft = unknown.findIndex((event) => !done.has(event))
    const position = firstLeft === -1 ? (before ?? listed.at(-1)?.created) : unknown[firstLeft - 1]?.created
    if (position !== undefined) {
      await db
        .insert(cursors)
        .values({ name: cursorName, position })
        .onConflictDoUpdate({ target: cursors.name, set: { position } })
    }
  }
}

/** Lists the events between two seconds, oldest first. */
async function listEvents(
  context: BillingContext,
  signal: AbortSignal,
  since: number,
  before: number | undefined,
): Promise<ListedEvent[]> {
  const listed = await callStripe(context, async (stripe) => {
    const events: ListedEvent[] = []
    for await (const { id, type, created, data } of stripe.events.list({
      created: { gte: since, ...(before === undefined ? {} : { lt: before }) },
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

/** Returns the ids of events that are handled already or waiting for a retry. */
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

/** Retries failed events with backoff. */
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
      await db.update(failedEvents).set(nextAttempt(context, event)).where(eq(failedEvents.id, eventId))
    },
    concurrency,
  )
}

/** Events before the first attempt cannot be about us. */
async function eventListStart({ db }: BillingContext): Promise<number | undefined> {
  const [cursor] = await db.select().from(cursors).where(eq(cursors.name, cursorName))
  if (cursor) return cursor.position - overlapSeconds
  const firsts = await Promise.all([
    db.select({ at: min(checkoutAttempts.createdAt) }).from(checkoutAttempts),
    db.select({ at: min(membershipAttempts.createdAt) }).from(membershipAttempts),
  ])
  const [oldest] = firsts.flatMap(([first]) => first?.at?.epochMilliseconds ?? []).toSorted((a, b) => a - b)
  return oldest === undefined ? undefined : Math.floor(oldest / 1000) - overlapSeconds
}

/** Refreshes refunds that are pending at Stripe, with backoff. */
async function refreshPendingRefunds(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const isOnItsWay = and(eq(refunds.status, 'pending'), isNotNull(refunds.stripeRefundId))
  const due = await db
    .select({ id: refunds.id, stripeRefundId: refunds.stripeRefundId, tries: refunds.tries })
    .from(refunds)
    .where(and(isOnItsWay, lte(refunds.nextTryAt, clock.now())))
    .orderBy(asc(refunds.tries), asc(refunds.nextTryAt))
    .limit(sweepSize)
  const scheduleRetry = (refund: { id: string; tries: number }) =>
    db
      .update(refunds)
      .set(nextAttempt(context, refund))
      .where(and(eq(refunds.id, refund.id), isOnItsWay))
  await tryEach(
    signal,
    due,
    async (refund) => {
      const observed = await fetchRefund(context, refund.stripeRefundId ?? '')
      await db.transaction((tx) => recordRefund(tx, context, observed))
      await scheduleRetry(refund)
    },
    async (refund, error) => {
      log.warn({ err: error, refundId: refund.id }, 'could not refresh a refund')
      await scheduleRetry(refund)
    },
    concurrency,
  )
}

/** Refreshes memberships whose paid period is over, or whose payment failed, in case a webhook was lost. */
async function refreshOverdueMemberships(context: BillingContext, signal: AbortSignal): Promise<void> {
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
  // One that has not changed stays overdue, and is refreshed with backoff.
  const scheduleRetry = (membership: { id: string; tries: number }) =>
    db
      .update(memberships)
      .set(nextAttempt(context, membership))
      .where(and(eq(memberships.attemptId, membership.id), isOverdue))
  await tryEach(
    signal,
    due,
    async (membership) => {
      await refreshMembership(context, membership.subscriptionId)
      await scheduleRetry(membership)
    },
    async (membership, error) => {
      const { subscriptionId } = membership
      log.warn({ err: error, subscriptionId }, 'could not refresh a membership')
      await scheduleRetry(membership)
    },
    concurrency,
  )
}
