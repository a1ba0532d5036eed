import { subscriptionActivated } from '@robokids/contracts/billing'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { BillingContext } from './config.ts'
import { judgeMembership, type ObservedSession } from './rules.ts'
import { membershipAttempts, memberships, type Membership, type MembershipAttempt } from './schema.ts'

/** Whoever changes anything about the membership of an address holds this until the end of the transaction. */
export async function lockMember(tx: Transaction, emailKey: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('membership'), hashtext(${emailKey}))`)
}

export async function activeMembership(tx: Transaction, emailKey: string): Promise<Membership | undefined> {
  const [membership] = await tx
    .select()
    .from(memberships)
    .where(and(eq(memberships.emailKey, emailKey), eq(memberships.status, 'active')))
  return membership
}

async function lockAttemptOf(tx: Transaction, session: ObservedSession): Promise<MembershipAttempt | undefined> {
  const { attemptId, sessionId } = session
  const condition = or(
    // What another system's metadata says need not be a UUID.
    z.uuid().safeParse(attemptId).success ? eq(membershipAttempts.id, attemptId ?? '') : undefined,
    eq(membershipAttempts.stripeSessionId, sessionId),
  )
  const [found] = await tx
    .select({ id: membershipAttempts.id, emailKey: membershipAttempts.emailKey })
    .from(membershipAttempts)
    .where(condition)
  if (!found) return undefined
  await lockMember(tx, found.emailKey)
  const [attempt] = await tx.select().from(membershipAttempts).where(eq(membershipAttempts.id, found.id))
  return attempt
}

/**
 * Brings a membership's attempt up to what the provider showed of its session. As with `applySession`, what was shown
 * may be old: an attempt only moves on, and what was paid begins a membership whatever the attempt has become.
 */
export async function applyMembershipSession(
  tx: Transaction,
  context: BillingContext,
  session: ObservedSession,
): Promise<void> {
  const { log } = context
  const attempt = await lockAttemptOf(tx, session)
  if (!attempt) {
    log.info({ sessionId: session.sessionId }, 'a checkout session that is not ours was left alone')
    return
  }
  const update = async (changes: Partial<MembershipAttempt>) => {
    await tx.update(membershipAttempts).set(changes).where(eq(membershipAttempts.id, attempt.id))
  }
  const opened = { stripeSessionId: session.sessionId, checkoutUrl: session.url }
  if (attempt.status === 'creating') await update({ status: 'open', ...opened })
  const isLive = ['creating', 'open', 'processing'].includes(attempt.status)

  const verdict = judgeMembership(session, attempt)
  if (verdict === 'paid') {
    if (await activate(tx, context, attempt, session)) await update({ status: 'paid' })
  } else if (verdict === 'amount_mismatch') {
    if (isLive) await update({ status: 'failed' })
    const { amount, currency, subscription } = session
    log.error(
      { attemptId: attempt.id, amount, currency, agreed: attempt.amount, ...subscription },
      'a membership was paid for otherwise than agreed: look at it by hand',
    )
  } else if (verdict !== 'open' && isLive) await update({ status: verdict })
}

/** @returns false where it is active already, or was. */
async function activate(
  tx: Transaction,
  { clock, log }: BillingContext,
  attempt: MembershipAttempt,
  { subscription }: ObservedSession,
): Promise<boolean> {
  if (!subscription) return false
  const { id: attemptId, email, emailKey, plan, classDate, amount, currency } = attempt
  const { subscriptionId, customerId } = subscription
  const isDuplicate = (await activeMembership(tx, emailKey)) !== undefined
  const activatedAt = subscription.startedAt ?? clock.now().round('second')
  const begun = await tx
    .insert(memberships)
    .values({
      attemptId,
      email,
      emailKey,
      plan,
      stripeSubscriptionId: subscriptionId,
      stripeCustomerId: customerId,
      amount,
      currency,
      status: isDuplicate ? 'duplicate' : 'active',
      activatedAt,
    })
    .onConflictDoNothing()
    .returning()
  if (begun.length === 0) return false
  if (isDuplicate) {
    log.error(
      { attemptId, subscriptionId, customerId },
      'a second membership of one address was paid: cancel it and give its money back',
    )
    return true
  }
  await publish(tx, subscriptionActivated, attemptId, {
    attemptId,
    email,
    plan,
    classDate,
    subscriptionId,
    customerId,
    amount,
    currency,
    activatedAt: activatedAt.toString(),
  })
  return true
}
