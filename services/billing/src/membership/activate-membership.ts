import { randomUUIDv7 } from 'node:crypto'
import { membershipCheckoutExpired, subscriptionActivated } from '@robokids/contracts/billing'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq, or } from 'drizzle-orm'
import { applyMembership } from './apply-membership.ts'
import { requestMembershipEnd } from '../ownership/request-membership-end.ts'
import type { AttemptKind } from '../attempts/attempt-kind.ts'
import type { BillingContext } from '../config.ts'
import { fetchWholeCheckoutSession } from '../stripe/subscriptions.ts'
import { StaleObservation } from '../stripe/retry-on-stale.ts'
import type { Ownership } from '../ownership/rules.ts'
import { lockMember, toOrigin, ownershipColumns, findRunningMembership } from '../ownership/owners.ts'
import { toMembershipFacts } from '../membership-facts.ts'
import { classifyMembershipSession } from './rules.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'
import { membershipAttempts, membershipConsents, memberships, type MembershipAttempt } from '../schema.ts'

async function lockMembershipAttempt(
  tx: Transaction,
  checkoutSession: ObservedCheckoutSession,
): Promise<{ attempt: MembershipAttempt; ownership: Ownership } | undefined> {
  const { attemptId, checkoutSessionId } = checkoutSession
  const condition = or(
    attemptId === null ? undefined : eq(membershipAttempts.id, attemptId),
    eq(membershipAttempts.stripeSessionId, checkoutSessionId),
  )
  const [found] = await tx.select().from(membershipAttempts).where(condition)
  if (!found) return undefined
  const ownership = await lockMember(tx, toOrigin(found))
  const [attempt] = await tx.select().from(membershipAttempts).where(eq(membershipAttempts.id, found.id))
  return attempt && { attempt, ownership }
}

/** Attempts to become a member. */
export const membershipAttemptKind: AttemptKind = {
  table: membershipAttempts,
  emailPath: 'email',
  fetch: fetchWholeCheckoutSession,
  apply: applySession,
}

/**
 * Applies a fetched session to its attempt. The session may be older than the recorded state: so an attempt only ever moves
 * forward, and a payment starts a membership whatever the attempt's status is by then.
 */
async function applySession(
  tx: Transaction,
  context: BillingContext,
  checkoutSession: ObservedCheckoutSession,
): Promise<void> {
  const { log } = context
  const locked = await lockMembershipAttempt(tx, checkoutSession)
  if (!locked) {
    log.info({ checkoutSessionId: checkoutSession.checkoutSessionId }, 'ignored an unknown checkout session')
    return
  }
  const { attempt, ownership } = locked
  const update = async (changes: Partial<MembershipAttempt>) => {
    await tx.update(membershipAttempts).set(changes).where(eq(membershipAttempts.id, attempt.id))
  }
  const opened = { stripeSessionId: checkoutSession.checkoutSessionId, checkoutUrl: checkoutSession.url }
  if (attempt.status === 'creating') await update({ status: 'open', ...opened })
  const isLive = ['creating', 'open', 'processing'].includes(attempt.status)

  const sessionOutcome = classifyMembershipSession(checkoutSession, attempt)
  if (sessionOutcome === 'paid' || sessionOutcome === 'amount_mismatch') {
    await activate(tx, context, attempt, ownership, checkoutSession, sessionOutcome)
  } else if (sessionOutcome !== 'open' && isLive) {
    await update({ status: sessionOutcome })
    if (sessionOutcome === 'processing') return
    const { id: attemptId, email, classDate } = attempt
    await publish(tx, membershipCheckoutExpired, attemptId, { attemptId, email, classDate })
  }
}

/**
 * Starts a paid membership. One whose account or address has a membership already, or with another price, is ended at Stripe
 * and refunded instead. It is not renewed if its account has been deleted or disabled.
 */
async function activate(
  tx: Transaction,
  context: BillingContext,
  attempt: MembershipAttempt,
  ownership: Ownership,
  { subscription, checkoutSessionId, amount: paid, termsAccepted }: ObservedCheckoutSession,
  sessionOutcome: 'paid' | 'amount_mismatch',
): Promise<void> {
  const { clock, log } = context
  // The response contained the subscription's id only: the next fetch has all of it.
  if (!subscription?.observed) return
  const { id: attemptId, plan, classDate, familyTimeZone, amount, currency } = attempt
  const { subscriptionId, customerId, observed } = subscription
  const isDuplicate = (await findRunningMembership(tx, ownership)) !== undefined
  const status = sessionOutcome === 'amount_mismatch' ? 'mismatch' : isDuplicate ? 'duplicate' : 'active'
  const activatedAt = subscription.startedAt ?? clock.now().round('second')
  const [known] = await tx
    .select({ id: memberships.attemptId })
    .from(memberships)
    .where(or(eq(memberships.attemptId, attemptId), eq(memberships.stripeSubscriptionId, subscriptionId)))
  if (known) {
    if (observed.version === null) throw new StaleObservation(subscriptionId)
    await applyMembership(tx, context, observed)
    return
  }
  const [membership] = await tx
    .insert(memberships)
    .values({
      attemptId,
      ...ownershipColumns(ownership),
      plan,
      stripeSubscriptionId: subscriptionId,
      stripeCustomerId: customerId,
      amount,
      currency,
      status,
      activatedAt,
      nextTryAt: clock.now(),
    })
    .returning()
  if (!membership) throw new Error('The membership was not written.')
  if (termsAccepted) await recordPageConsent(tx, attempt, checkoutSessionId, activatedAt)
  await tx
    .update(membershipAttempts)
    .set({ status: status === 'mismatch' ? 'failed' : 'paid' })
    .where(eq(membershipAttempts.id, attemptId))
  if (status !== 'active') {
    log.error(
      { attemptId, subscriptionId, customerId, checkoutSessionId, status, paid, agreed: amount },
      'a duplicate or mismatched membership was paid: it will be ended and refunded',
    )
    await requestMembershipEnd(tx, context, attemptId, 'now')
    await applyMembership(tx, context, observed)
    return
  }
  if (ownership.accountEndedAt !== null) await requestMembershipEnd(tx, context, attemptId, 'at_period_end')
  await applyMembership(tx, context, observed, (receiptNumber) =>
    publish(tx, subscriptionActivated, attemptId, {
      ...toMembershipFacts(membership),
      classDate,
      subscriptionId,
      customerId,
      activatedAt: activatedAt.toString(),
      receiptNumber,
      renewsAt: observed.paidUntil.toString(),
      familyTimeZone,
    }),
  )
}

/** Records the consent given on the payment page, which the session proves. */
async function recordPageConsent(
  tx: Transaction,
  { id: attemptId, plan, amount, currency, parameters }: MembershipAttempt,
  stripeSessionId: string,
  agreedAt: Temporal.Instant,
): Promise<void> {
  const shown = 'custom_text' in parameters ? parameters.custom_text?.terms_of_service_acceptance.message : undefined
  await tx.insert(membershipConsents).values({
    id: randomUUIDv7(),
    attemptId,
    version: renewalTermsVersion,
    text: shown ?? renewalTerms(plan, { amount, currency }),
    stripeSessionId,
    agreedAt,
  })
}
