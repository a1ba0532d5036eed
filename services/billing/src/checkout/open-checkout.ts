import { randomUUIDv7 } from 'node:crypto'
import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { currentTraceparent } from '@robokids/runtime/trace'
import { and, eq } from 'drizzle-orm'
import { toAgreement, requireAgreed } from '../prices/agreements.ts'
import { findLiveCartAttempts, findPaidCartOrder } from './carts.ts'
import { closeLiveCheckout } from './close-checkouts.ts'
import type { BillingContext } from '../config.ts'
import { fulfilCheckoutSession } from '../attempts/fulfil-checkout-session.ts'
import { closePage } from '../attempts/close-pages.ts'
import { isLive, liveStatuses, lockAttempts } from './lock-attempts.ts'
import { purchaseAttemptKind } from './apply-session.ts'
import { openCheckoutSession } from '../attempts/open-checkout-session.ts'
import { kindOf } from '../purchase.ts'
import { agreedTerms } from './rules.ts'
import { checkoutLifetime } from '../attempts/rules.ts'
import { checkoutAttempts, membershipAttempts, payments, type Attempt } from '../schema.ts'
import { stripeTime } from '../stripe/client.ts'

/** Enough to close several checkouts, find one that has ended, have one rejected as too old, and create a new one. */
const maxRounds = 8

/** What is sold and its price, fixed for the attempt whatever happens to the price book. */
interface Offer {
  purchase: Attempt['purchase']
  terms: AgreementTerms
  parameters: (attemptId: string, expiresAt: Temporal.Instant) => Attempt['parameters']
}

export interface Purchase {
  id: string
  kind: 'registration' | 'move' | 'order'
  /** The signed-in account, or null. */
  ownerId: string | null
  /** The terms that the page showed; a page of the previous version sends none. */
  agreed: AgreementTerms | undefined
  /** The cart of an order. */
  cartId?: string
  /** Creates the offer at today's prices. @throws DomainError if it is not on sale */
  offer(tx: Transaction, now: Temporal.Instant): Promise<Offer>
  /** Rejects a new checkout if there are too many; called before any other is closed for it. */
  admit?(tx: Transaction): Promise<void>
  /** Writes further rows in the transaction that inserts the attempt. */
  save?(tx: Transaction): Promise<void>
}

/** The next step for a purchase. */
type Next = { do: 'nothing' } | { do: 'close'; attempts: Attempt[] } | { do: 'open'; attempt: Attempt; made: boolean }

/**
 * Ensures that a purchase has exactly one open checkout: the existing one while Stripe confirms that it is open, otherwise a
 * new one. The request is validated first, then the replaced checkouts are closed at Stripe, and only then is a new one
 * inserted. Does nothing for a purchase that is paid or being paid.
 * @throws DomainError id_reused, price_changed, already_paid, upstream_unavailable, and what `offer` and `admit` throw
 */
export async function openCheckout(context: BillingContext, purchase: Purchase): Promise<void> {
  const closeAttempted = new Set<string>()
  for (let round = 0; round < maxRounds; round++) {
    const next = await context.db.transaction((tx) => decide(tx, context, purchase, closeAttempted))
    if (next.do === 'nothing') return
    if (next.do === 'close') {
      for (const { id } of next.attempts) {
        await closeLiveCheckout(context, id)
        closeAttempted.add(id)
      }
      continue
    }
    const { attempt, made } = next
    if (attempt.status === 'creating' && !(await openCheckoutSession(context, purchaseAttemptKind, attempt.id)))
      continue
    if (made) return
    if (attempt.closeRequestedAt) await closePage(context, purchaseAttemptKind, attempt.id)
    else await refreshAttempt(context, attempt.id)
    const [now] = await context.db
      .select({ status: checkoutAttempts.status })
      .from(checkoutAttempts)
      .where(eq(checkoutAttempts.id, attempt.id))
    if (now && (liveStatuses.includes(now.status) || now.status === 'paid')) return
  }
  throw checkoutNotOpened()
}

const checkoutNotOpened = () =>
  new DomainError('upstream_unavailable', 'The checkout could not be opened. Please try again in a moment.')

async function refreshAttempt(context: BillingContext, attemptId: string): Promise<void> {
  const [attempt] = await context.db.select().from(checkoutAttempts).where(eq(checkoutAttempts.id, attemptId))
  if (attempt?.stripeSessionId) await fulfilCheckoutSession(context, purchaseAttemptKind, attempt.stripeSessionId)
}

async function decide(
  tx: Transaction,
  context: BillingContext,
  purchase: Purchase,
  closeAttempted: ReadonlySet<string>,
): Promise<Next> {
  const { id: purchaseId, agreed, cartId } = purchase
  const attempts = await lockAttempts(tx, purchaseId, cartId)
  await rejectReusedId(tx, purchase, attempts)
  const [payment] = await tx
    .select({ id: payments.id })
    .from(payments)
    .where(and(eq(payments.purchaseId, purchaseId), eq(payments.outcome, 'accepted')))
  const live = attempts.find(isLive)
  if (payment || live?.status === 'processing') return { do: 'nothing' }

  const offer = agreed || !live ? await purchase.offer(tx, context.clock.now()) : undefined
  const agreement = offer && toAgreement(offer.terms)
  if (agreement) requireAgreed(agreement, agreed, 'price_changed')

  if (!live) await purchase.admit?.(tx)
  if (cartId !== undefined) {
    const reference = await findPaidCartOrder(tx, purchaseId, cartId)
    const others = await findLiveCartAttempts(tx, purchaseId, cartId)
    const beingPaid = others.find((other) => other.status === 'processing' && closeAttempted.has(other.id))
    if (reference !== undefined || beingPaid) throw alreadyPaid(reference ?? beingPaid?.purchaseId)
    if (others.length > 0) return { do: 'close', attempts: others }
  }

  if (live) {
    if (agreement && toAgreement(agreedTerms(live)).id !== agreement.id) return { do: 'close', attempts: [live] }
    if (agreement && !live.agreement)
      await tx.update(checkoutAttempts).set({ agreement }).where(eq(checkoutAttempts.id, live.id))
    await purchase.save?.(tx)
    return { do: 'open', attempt: live, made: false }
  }
  if (!offer) throw checkoutNotOpened()
  await purchase.save?.(tx)
  const id = randomUUIDv7()
  const expiresAt = stripeTime(context).add(checkoutLifetime).round({ smallestUnit: 'second', roundingMode: 'floor' })
  const [made] = await tx
    .insert(checkoutAttempts)
    .values({
      id,
      purchaseId,
      ownerId: purchase.ownerId,
      status: 'creating',
      purchase: offer.purchase,
      agreement: agreed ? agreement : null,
      amount: offer.terms.dueNow,
      currency: 'usd',
      parameters: offer.parameters(id, expiresAt),
      expiresAt,
      checkedAt: Temporal.Now.instant(),
      traceparent: currentTraceparent() ?? null,
      createdAt: Temporal.Now.instant(),
    })
    .onConflictDoNothing()
    .returning()
  if (made) return { do: 'open', attempt: made, made: true }
  // A process of the previous version, which takes no lock on the purchase, was faster.
  const all = await lockAttempts(tx, purchaseId, cartId)
  await rejectReusedId(tx, purchase, all)
  const other = all.find(isLive)
  if (!other) throw checkoutNotOpened()
  return { do: 'open', attempt: other, made: false }
}

/**
 * Rejects an id that already belongs to a purchase of another kind. Ids are made by clients, which can choose another one.
 * @param attempts all attempts of the id, locked
 * @throws DomainError id_reused
 */
export async function rejectReusedId(
  tx: Transaction,
  { id, kind }: Pick<Purchase, 'id' | 'kind'>,
  attempts: Attempt[],
): Promise<void> {
  const isOther = attempts.some(({ purchase }) => kindOf(purchase) !== kind)
  if (!isOther && (await tx.$count(membershipAttempts, eq(membershipAttempts.id, id))) === 0) return
  throw new DomainError(
    'id_reused',
    `This id belongs to something other than ${kind === 'order' ? 'an order' : `a ${kind}`}.`,
  )
}

function alreadyPaid(reference: string | undefined): DomainError {
  const details = reference === undefined ? {} : { reference }
  return new DomainError('already_paid', 'You’ve already paid for what’s in your cart.', undefined, details)
}
