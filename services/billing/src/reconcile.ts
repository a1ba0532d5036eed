import { and, asc, eq, inArray, isNotNull, isNull, lt, min, or } from 'drizzle-orm'
import { refreshMembership } from './apply-membership.ts'
import type { BillingContext } from './config.ts'
import { fulfilSession } from './fulfil-session.ts'
import { handleNotice, noticeTypes, type Notice } from './handle-notice.ts'
import { openMembershipSession, openSession } from './open-session.ts'
import { recordBalance } from './record-balance.ts'
import { fetchRefund, recordRefund } from './record-refund.ts'
import { checkoutAttempts, cursors, membershipAttempts, memberships, refunds, stripeEvents } from './schema.ts'
import { ask, StripeFailure, stripeTime } from './stripe.ts'

const sweepSize = 200
const cursorName = 'stripe_events'
/** Events become visible out of order: those of the last minutes are listed again. */
const overlapSeconds = 10 * 60
const mostEvents = 10_000
/** The provider lists events of the last 30 days; marks older than that have nothing left to prevent. */
const marksKept = Temporal.Duration.from({ hours: 40 * 24 })

/**
 * Finds out what no webhook told: asks after every checkout that is not settled, reads the provider's list of events,
 * and asks after refunds that are on their way. Goes by real time, as the provider does.
 */
export async function reconcile(context: BillingContext): Promise<void> {
  await sweepAttempts(context, checkoutAttempts, openSession)
  await sweepAttempts(context, membershipAttempts, openMembershipSession)
  await catchUpWithEvents(context)
  await followRefunds(context)
  await followMemberships(context)
  await recordBalance(context)
  await context.db.delete(stripeEvents).where(lt(stripeEvents.handledAt, Temporal.Now.instant().subtract(marksKept)))
}

/** Attempts that nobody has asked after for half an interval, the longest unasked first. */
async function sweepAttempts(
  context: BillingContext,
  attempts: typeof checkoutAttempts | typeof membershipAttempts,
  open: typeof openSession,
): Promise<void> {
  const { db, config, log } = context
  const before = Temporal.Now.instant().subtract({ milliseconds: Math.ceil(config.RECONCILE_EVERY_MS / 2) })
  const unsettled = await db
    .select({ id: attempts.id, sessionId: attempts.stripeSessionId })
    .from(attempts)
    .where(and(inArray(attempts.status, ['creating', 'open', 'processing']), lt(attempts.checkedAt, before)))
    .orderBy(asc(attempts.checkedAt))
    .limit(sweepSize)
  for (const { id, sessionId } of unsettled) {
    try {
      if (sessionId !== null) await fulfilSession(context, sessionId)
      else await open(context, id)
    } catch (error) {
      log.warn({ err: error, attemptId: id }, 'a checkout could not be reconciled yet')
    }
    await db.update(attempts).set({ checkedAt: Temporal.Now.instant() }).where(eq(attempts.id, id))
  }
}

async function catchUpWithEvents(context: BillingContext): Promise<void> {
  const { db, log } = context
  const since = await startOfList(context)
  if (since === undefined) return
  const listed = await ask(context, (stripe) =>
    stripe.events
      .list({ created: { gte: since }, types: noticeTypes, limit: 100 })
      .autoPagingToArray({ limit: mostEvents }),
  )
  if (listed.length === mostEvents) log.error({ since }, 'there are more events to catch up with than can be listed')
  const handled = await db
    .select({ id: stripeEvents.id })
    .from(stripeEvents)
    .where(
      inArray(
        stripeEvents.id,
        listed.map((event) => event.id),
      ),
    )
  const known = new Set(handled.map(({ id }) => id))
  let position: number | undefined
  for (const event of listed.toReversed()) {
    const { object } = event.data as { object: { id?: string } }
    const notice: Notice = { eventId: event.id, type: event.type, objectId: object.id ?? '' }
    if (!known.has(event.id)) {
      try {
        const outcome = await handleNotice(context, notice)
        if (outcome === 'handled') log.info({ ...notice }, 'an event was found that no webhook had brought')
      } catch (error) {
        // The cursor stays before it, so that it is tried again.
        log.warn({ err: error, ...notice }, 'an event could not be handled yet')
        break
      }
    }
    position = event.created
  }
  if (position === undefined) return
  await db
    .insert(cursors)
    .values({ name: cursorName, position })
    .onConflictDoUpdate({ target: cursors.name, set: { position } })
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

async function followRefunds(context: BillingContext): Promise<void> {
  const onTheirWay = await context.db
    .select({ id: refunds.id, stripeRefundId: refunds.stripeRefundId })
    .from(refunds)
    .where(and(eq(refunds.status, 'pending'), isNotNull(refunds.stripeRefundId)))
    .orderBy(asc(refunds.nextTryAt))
    .limit(sweepSize)
  for (const { id, stripeRefundId } of onTheirWay) {
    if (stripeRefundId === null) continue
    try {
      const observed = await fetchRefund(context, stripeRefundId)
      await context.db.transaction((tx) => recordRefund(tx, context, observed))
    } catch (error) {
      if (!(error instanceof StripeFailure)) throw error
      context.log.warn({ err: error, refundId: id }, 'a refund could not be followed')
    }
    await context.db.update(refunds).set({ nextTryAt: context.clock.now() }).where(eq(refunds.id, id))
  }
}

/** Memberships whose paid time is over, or whose payment fails, and of which no news has come. */
async function followMemberships(context: BillingContext): Promise<void> {
  const { db, log } = context
  const overdue = await db
    .select({ subscriptionId: memberships.stripeSubscriptionId })
    .from(memberships)
    .where(
      and(
        eq(memberships.status, 'active'),
        or(
          isNull(memberships.paidUntil),
          lt(memberships.paidUntil, stripeTime(context)),
          isNotNull(memberships.unpaid),
        ),
      ),
    )
    .limit(sweepSize)
  for (const { subscriptionId } of overdue) {
    try {
      await refreshMembership(context, subscriptionId)
    } catch (error) {
      log.warn({ err: error, subscriptionId }, 'a membership could not be followed')
    }
  }
}
