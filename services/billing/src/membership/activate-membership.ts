import { randomUUIDv7 } from 'node:crypto'
import { membershipCheckoutExpired, subscriptionActivated } from '@robokids/contracts/billing'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq, or } from 'drizzle-orm'
import { applyMembership, requestEnd } from './apply-membership.ts'
import type { AttemptKind } from '../attempts/attempt-kind.ts'
import type { BillingContext } from '../config.ts'
import { fetchWholeCheckoutSession } from '../stripe/subscriptions.ts'
import { StaleObservation } from '../stripe/retry-on-stale.ts'
import type { Ownership } from '../ownership/rules.ts'
import { lockMember, originOf, ownershipColumns, runningMembership } from '../ownership/owners.ts'
import { factsOf } from './membership-facts.ts'
import { classifyMembershipSession } from './rules.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'
import { membershipAttempts, membershipConsents, memberships, type MembershipAttempt } from '../schema.ts'

async function lockAttemptOf(
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
  const ownership = await lockMember(tx, originOf(found))
  const [attempt] = await tx.select().from(membershipAttempts).where(eq(membershipAttempts.id, found.id))
  return attempt && { attempt, ownership }
}

/** Attempts at becoming a member. */
export const membershipAttemptKind: AttemptKind = {
  table: membershipAttempts,
  emailPath: 'email',
  fetch: fetchWholeCheckoutSession,
  apply: applySession,
}

/**
 * Brings a membership's attempt up to what the provider showed of its session. What was shown may be old: an attempt only moves on, and what was paid begins a membership whatever the attempt has become.
 */
async function applySession(
  tx: Transaction,
  context: BillingContext,
  checkoutSession: ObservedCheckoutSession,
): Promise<void> {
  const { log } = context
  const locked = await lockAttemptOf(tx, checkoutSession)
  if (!locked) {
    log.info(
      { checkoutSessionId: checkoutSession.checkoutSessionId },
      'a checkout session that is not ours was left alone',
    )
    return
  }
  const { attempt, ownership } = locked
  const update = async (changes: Partial<MembershipAttempt>) => {
    await tx.update(membershipAttempts).set(changes).where(eq(membershipAttempts.id, attempt.id))
  }
  const opened = { stripeSessionId: checkoutSession.checkoutSessionId, checkoutUrl: checkoutSession.url }
  if (attempt.status === 'creating') await update({ status: 'open', ...opened })
  const isLive = ['creating', 'open', 'processing'].includes(attempt.status)

  const verdict = classifyMembershipSession(checkoutSession, attempt)
  if (verdict === 'paid' || verdict === 'amount_mismatch') {
    await activate(tx, context, attempt, ownership, checkoutSession, verdict)
  } else if (verdict !== 'open' && isLive) {
    await update({ status: verdict })
    if (verdict === 'processing') return
    const { id: attemptId, email, classDate } = attempt
    await publish(tx, membershipCheckoutExpired, attemptId, { attemptId, email, classDate })
  }
}

/**
 * A membership is paid: it begins, unless its account or address has one already or another price was paid. Then it is
 * ended at the provider, and what was paid goes back. It is not renewed where its account is gone by now.
 */
async function activate(
  tx: Transaction,
  context: BillingContext,
  attempt: MembershipAttempt,
  ownership: Ownership,
  { subscription, checkoutSessionId, amount: paid, termsAccepted }: ObservedCheckoutSession,
  verdict: 'paid' | 'amount_mismatch',
): Promise<void> {
  const { clock, log } = context
  // Where the answer named the subscription only, the next look is at all of it.
  if (!subscription?.observed) return
  const { id: attemptId, plan, classDate, familyTimeZone, amount, currency } = attempt
  const { subscriptionId, customerId, observed } = subscription
  const isDuplicate = (await runningMembership(tx, ownership)) !== undefined
  const status = verdict === 'amount_mismatch' ? 'mismatch' : isDuplicate ? 'duplicate' : 'active'
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
  if (termsAccepted) await keepConsentOfPage(tx, attempt, checkoutSessionId, activatedAt)
  await tx
    .update(membershipAttempts)
    .set({ status: status === 'mismatch' ? 'failed' : 'paid' })
    .where(eq(membershipAttempts.id, attemptId))
  if (status !== 'active') {
    log.error(
      { attemptId, subscriptionId, customerId, checkoutSessionId, status, paid, agreed: amount },
      'a membership that is not owed was paid: it ends and its money goes back',
    )
    await requestEnd(tx, context, attemptId, 'now')
    await applyMembership(tx, context, observed)
    return
  }
  if (ownership.accountEndedAt !== null) await requestEnd(tx, context, attemptId, 'at_period_end')
  await applyMembership(tx, context, observed, (receiptNumber) =>
    publish(tx, subscriptionActivated, attemptId, {
      ...factsOf(membership),
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

/** The terms that the payment page showed were agreed to there: its session proves it. */
async function keepConsentOfPage(
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
