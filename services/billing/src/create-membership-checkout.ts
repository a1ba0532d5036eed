import { randomUUIDv7 } from 'node:crypto'
import { membershipSku, type CreateMembershipCheckout, type MembershipCheckout } from '@robokids/contracts/billing'
import { emailKey } from '@robokids/contracts/fields'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, eq, inArray } from 'drizzle-orm'
import { activeMembership, lockMember } from './lock-member.ts'
import { refreshMembership } from './apply-membership.ts'
import { closeSession } from './close-checkouts.ts'
import type { BillingContext } from './config.ts'
import { fulfilSession } from './fulfil-session.ts'
import { openMembershipSession } from './open-session.ts'
import { readMembership } from './read-memberships.ts'
import { priceOf } from './read-prices.ts'
import { checkoutLifetime, membershipParameters } from './rules.ts'
import { membershipAttempts, membershipConsents, type Membership, type MembershipAttempt } from './schema.ts'
import { stripeTime } from './stripe.ts'

/** Enough for a membership that is over, an attempt that is, one for another plan that has to be closed, and a new one. */
const mostRounds = 6

/** The requests of one address, which take turns. */
interface Line {
  length: number
  last: Promise<unknown>
}

const lines = new Map<string, Line>()
const longestLine = 5
/** Less than whoever asks waits for an answer. */
const longestWaitMs = 10_000

const busy = () =>
  new DomainError('upstream_unavailable', 'Your checkout is being opened already. Please try again in a moment.')

/**
 * The checkout where an address becomes a member: the open one for the same plan and date, else a new one, after the
 * other one was closed at the provider. So however many tabs there are, one of them can be paid.
 * @param left aborts where nobody waits for it any more: then no further question is begun.
 * @throws DomainError already_member, upstream_unavailable, or validation_failed where the provider refuses the email.
 */
export async function createMembershipCheckout(
  context: BillingContext,
  wish: CreateMembershipCheckout,
  left: AbortSignal,
): Promise<MembershipCheckout> {
  // Two tabs with different plans would close each other's checkouts for as long as they both try.
  const key = emailKey(wish.email)
  const line = lines.get(key) ?? { length: 0, last: Promise.resolve() }
  if (line.length >= longestLine) throw busy()
  lines.set(key, line)
  line.length++
  const before = line.last
  const { promise: done, resolve: finish } = Promise.withResolvers<void>()
  line.last = before.then(() => done)
  try {
    await turnAfter(before, AbortSignal.any([left, AbortSignal.timeout(longestWaitMs)]))
    return await findCheckout(context, wish, left)
  } finally {
    finish()
    if (--line.length === 0) lines.delete(key)
  }
}

/** @throws DomainError upstream_unavailable where `given` aborts before it is its turn. */
async function turnAfter(before: Promise<unknown>, given: AbortSignal): Promise<void> {
  const { promise: tired, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(busy())
  given.addEventListener('abort', giveUp, { once: true })
  try {
    if (given.aborted) throw busy()
    await Promise.race([before, tired])
  } finally {
    given.removeEventListener('abort', giveUp)
  }
}

async function findCheckout(
  context: BillingContext,
  wish: CreateMembershipCheckout,
  left: AbortSignal,
): Promise<MembershipCheckout> {
  for (let round = 0; round < mostRounds && !left.aborted; round++) {
    const { membership, attempt, made } = await context.db.transaction((tx) => findOrMake(tx, context, wish))
    if (membership) {
      // It may have ended without our hearing of it.
      await refreshMembership(context, membership.stripeSubscriptionId)
      if ((await readMembership(context.db, membership.attemptId)).status !== 'active') continue
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

async function findOrMake(tx: Transaction, context: BillingContext, wish: CreateMembershipCheckout): Promise<Found> {
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
  if (live) {
    await keepConsent(tx, context, live, wish)
    return { attempt: live, made: false }
  }

  const amount = await priceOf(tx, membershipSku(wish.plan), context.clock.now())
  if (amount === undefined) throw new DomainError('class_not_offered', 'This membership plan is not on sale.')
  const { email, plan, classDate, consent } = wish
  // Nobody becomes a member who has not agreed: whoever has not yet does so where it is paid.
  const terms = consent ? undefined : renewalTerms(plan, { amount, currency: 'usd' })
  const id = randomUUIDv7()
  const expiresAt = stripeTime(context).add(checkoutLifetime).round({ smallestUnit: 'second', roundingMode: 'floor' })
  const [attempt] = await tx
    .insert(membershipAttempts)
    .values({
      id,
      email,
      plan,
      classDate,
      emailKey: key,
      status: 'creating',
      amount,
      currency: 'usd',
      parameters: membershipParameters(id, wish, amount, expiresAt, context.config.SITE_URL, terms),
      expiresAt,
      checkedAt: Temporal.Now.instant(),
      createdAt: Temporal.Now.instant(),
    })
    .returning()
  if (!attempt) throw new Error('The attempt was not written.')
  await keepConsent(tx, context, attempt, wish)
  return { attempt, made: true }
}

/**
 * Keeps what proves that the terms were agreed to, where the attempt is for the same plan.
 * @throws DomainError terms_changed where other words were agreed to than those that hold for it
 */
async function keepConsent(
  tx: Transaction,
  { clock }: BillingContext,
  attempt: MembershipAttempt,
  { plan, consent }: CreateMembershipCheckout,
): Promise<void> {
  if (!consent || plan !== attempt.plan) return
  const { version, text, ipAddress, userAgent } = consent
  if (version !== renewalTermsVersion || text !== renewalTerms(plan, attempt)) {
    throw new DomainError('terms_changed', 'The terms of the membership have changed. Please read them again.')
  }
  await tx.insert(membershipConsents).values({
    id: randomUUIDv7(),
    attemptId: attempt.id,
    version,
    text,
    ipAddress,
    userAgent,
    agreedAt: clock.now().round('millisecond'),
  })
}
