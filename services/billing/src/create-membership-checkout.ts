import { randomUUIDv7 } from 'node:crypto'
import { membershipSku, type MembershipCheckout } from '@robokids/contracts/billing'
import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, eq, inArray } from 'drizzle-orm'
import { activeMembership, lockMember } from './activate-membership.ts'
import { closeSession } from './close-checkouts.ts'
import type { BillingContext } from './config.ts'
import { fulfilSession } from './fulfil-session.ts'
import { openMembershipSession } from './open-session.ts'
import { priceOf } from './read-prices.ts'
import { checkoutLifetime, hasEnded, membershipParameters, type MembershipWish } from './rules.ts'
import { membershipAttempts, memberships, type Membership, type MembershipAttempt } from './schema.ts'
import { ask, StripeFailure, stripeTime } from './stripe.ts'

/** Enough for a membership that is over, an attempt that is, one for another plan that has to be closed, and a new one. */
const mostRounds = 6

const inTurn = new Map<string, Promise<unknown>>()

/**
 * The checkout where an address becomes a member: the open one for the same plan and date, else a new one, after the
 * other one was closed at the provider. So however many tabs there are, one of them can be paid.
 * @throws DomainError already_member, upstream_unavailable, or validation_failed where the provider refuses the email.
 */
export function createMembershipCheckout(context: BillingContext, wish: MembershipWish): Promise<MembershipCheckout> {
  // Two tabs with different plans would close each other's checkouts for as long as they both try.
  const key = emailKey(wish.email)
  const before = inTurn.get(key) ?? Promise.resolve()
  const mine = before.catch(() => {}).then(() => findCheckout(context, wish))
  const settled = mine
    .catch(() => {})
    .finally(() => {
      if (inTurn.get(key) === settled) inTurn.delete(key)
    })
  inTurn.set(key, settled)
  return mine
}

async function findCheckout(context: BillingContext, wish: MembershipWish): Promise<MembershipCheckout> {
  for (let round = 0; round < mostRounds; round++) {
    const { membership, attempt, made } = await context.db.transaction((tx) => findOrMake(tx, context, wish))
    if (membership) {
      if (await endIfOver(context, membership)) continue
      throw new DomainError('already_member', 'This email already has a membership. Please log in to see it.')
    }
    if (attempt.status === 'creating' && !(await openMembershipSession(context, attempt.id))) continue
    let known = await read(context, attempt.id)
    if (!made && known?.stripeSessionId) {
      await fulfilSession(context, known.stripeSessionId)
      known = await read(context, attempt.id)
    }
    if (known?.status === 'processing') {
      throw new DomainError(
        'already_member',
        'The payment of your membership is being processed. Nothing is left to pay.',
      )
    }
    if (known?.status !== 'open' || known.stripeSessionId === null || known.checkoutUrl === null) continue
    const { amount, currency, checkoutUrl, expiresAt } = known
    if (known.plan === wish.plan && known.classDate === wish.classDate) {
      return { attemptId: attempt.id, checkoutUrl, amount, currency, expiresAt: expiresAt.toString() }
    }
    await closeSession(context, known.stripeSessionId)
  }
  throw new DomainError('upstream_unavailable', 'The checkout could not be opened. Please try again in a moment.')
}

async function read({ db }: BillingContext, attemptId: string): Promise<MembershipAttempt | undefined> {
  const [attempt] = await db.select().from(membershipAttempts).where(eq(membershipAttempts.id, attemptId))
  return attempt
}

type Found =
  | { membership: Membership; attempt?: never; made?: never }
  | { membership?: never; attempt: MembershipAttempt; made: boolean }

async function findOrMake(tx: Transaction, context: BillingContext, wish: MembershipWish): Promise<Found> {
  const key = emailKey(wish.email)
  await lockMember(tx, key)
  const membership = await activeMembership(tx, key)
  if (membership) return { membership }
  const [live] = await tx
    .select()
    .from(membershipAttempts)
    .where(
      and(eq(membershipAttempts.emailKey, key), inArray(membershipAttempts.status, ['creating', 'open', 'processing'])),
    )
  if (live) return { attempt: live, made: false }

  const amount = await priceOf(tx, membershipSku(wish.plan), context.clock.now())
  if (amount === undefined) throw new DomainError('class_not_offered', 'This membership plan is not on sale.')
  const id = randomUUIDv7()
  const expiresAt = stripeTime(context).add(checkoutLifetime).round({ smallestUnit: 'second', roundingMode: 'floor' })
  const [attempt] = await tx
    .insert(membershipAttempts)
    .values({
      id,
      ...wish,
      emailKey: key,
      status: 'creating',
      amount,
      currency: 'usd',
      parameters: membershipParameters(id, wish, amount, expiresAt, context.config.SITE_URL),
      expiresAt,
      checkedAt: Temporal.Now.instant(),
      createdAt: Temporal.Now.instant(),
    })
    .returning()
  if (!attempt) throw new Error('The attempt was not written.')
  return { attempt, made: true }
}

/** A membership may have ended without our hearing of it: the provider knows. */
async function endIfOver(context: BillingContext, { attemptId, stripeSubscriptionId }: Membership): Promise<boolean> {
  try {
    const { status } = await ask(context, (stripe) => stripe.subscriptions.retrieve(stripeSubscriptionId))
    if (!hasEnded(status)) return false
  } catch (error) {
    if (!(error instanceof StripeFailure) || !error.missing) throw error
  }
  await context.db
    .update(memberships)
    .set({ status: 'ended' })
    .where(and(eq(memberships.attemptId, attemptId), eq(memberships.status, 'active')))
  return true
}
