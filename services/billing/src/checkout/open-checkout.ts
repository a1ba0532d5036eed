import { randomUUIDv7 } from 'node:crypto'
import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { and, eq } from 'drizzle-orm'
import { agreementOf, requireAgreed } from '../prices/agreements.ts'
import { liveOthers, paidOther } from '../orders/carts.ts'
import { closeLive } from './close-checkouts.ts'
import type { BillingContext } from '../config.ts'
import { fulfilCheckoutSession } from '../attempts/fulfil-checkout-session.ts'
import { closePage } from '../attempts/close-pages.ts'
import { isLive, liveStatuses, lockAttempts } from './lock-attempts.ts'
import { purchaseAttemptKind } from './apply-session.ts'
import { openCheckoutSession } from '../attempts/open-checkout-session.ts'
import { isOrder } from '../purchase.ts'
import { termsOf } from '../orders/rules.ts'
import { checkoutLifetime } from './rules.ts'
import { checkoutAttempts, membershipAttempts, payments, type Attempt } from '../schema.ts'
import { stripeTime } from '../stripe/client.ts'

/** Enough for those that have to be closed before, one that turns out to be over, one that is refused as too old, and a new one. */
const maxRounds = 8

/** What is sold, and for how much, from now on and whatever the price book comes to say. */
interface Offer {
  purchase: Attempt['purchase']
  terms: AgreementTerms
  parameters: (attemptId: string, expiresAt: Temporal.Instant) => Attempt['parameters']
}

export interface Purchase {
  id: string
  kind: 'registration' | 'order'
  /** The account that it is for; null where nobody was signed in. */
  ownerId: string | null
  /** What the page showed; a page of the version before says nothing of that. */
  agreed: AgreementTerms | undefined
  /** Of an order: the cart that it is of. */
  cartId?: string
  /** By today's prices. @throws DomainError where it is not sold (any more) */
  offer(tx: Transaction, now: Temporal.Instant): Promise<Offer>
  /** Refuses one more checkout, where there are too many: asked before any other gives way to it. */
  admit?(tx: Transaction): Promise<void>
  /** What else is written in the transaction that writes the attempt. */
  keep?(tx: Transaction): Promise<void>
}

/** What is to be done next about a purchase. */
type Next = { do: 'nothing' } | { do: 'close'; attempts: Attempt[] } | { do: 'open'; attempt: Attempt; made: boolean }

/**
 * Sees to it that a purchase has one checkout where it can be paid: the open one as long as the provider says that it is
 * open, else a new one, as agreed today. First comes the judgement, then what it replaces is closed by the provider's own
 * answer, and only then is a new one written down. Does nothing for what is paid, or being paid.
 * @throws DomainError id_reused, price_changed, already_paid, upstream_unavailable, and what `offer` and `admit` throw
 */
export async function openCheckout(context: BillingContext, purchase: Purchase): Promise<void> {
  const asked = new Set<string>()
  for (let round = 0; round < maxRounds; round++) {
    const next = await context.db.transaction((tx) => decide(tx, context, purchase, asked))
    if (next.do === 'nothing') return
    if (next.do === 'close') {
      for (const { id } of next.attempts) {
        await closeLive(context, id)
        asked.add(id)
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
  throw unopened()
}

const unopened = () =>
  new DomainError('upstream_unavailable', 'The checkout could not be opened. Please try again in a moment.')

async function refreshAttempt(context: BillingContext, attemptId: string): Promise<void> {
  const [attempt] = await context.db.select().from(checkoutAttempts).where(eq(checkoutAttempts.id, attemptId))
  if (attempt?.stripeSessionId) await fulfilCheckoutSession(context, purchaseAttemptKind, attempt.stripeSessionId)
}

async function decide(
  tx: Transaction,
  context: BillingContext,
  purchase: Purchase,
  asked: ReadonlySet<string>,
): Promise<Next> {
  const { id: purchaseId, agreed, cartId } = purchase
  const attempts = await lockAttempts(tx, purchaseId, cartId)
  await refuseReused(tx, purchase, attempts)
  const [payment] = await tx
    .select({ id: payments.id })
    .from(payments)
    .where(and(eq(payments.purchaseId, purchaseId), eq(payments.outcome, 'accepted')))
  const live = attempts.find(isLive)
  if (payment || live?.status === 'processing') return { do: 'nothing' }

  const offer = agreed || !live ? await purchase.offer(tx, context.clock.now()) : undefined
  const agreement = offer && agreementOf(offer.terms)
  if (agreement) requireAgreed(agreement, agreed, 'price_changed')

  if (!live) await purchase.admit?.(tx)
  if (cartId !== undefined) {
    const reference = await paidOther(tx, purchaseId, cartId)
    const others = await liveOthers(tx, purchaseId, cartId)
    const beingPaid = others.find((other) => other.status === 'processing' && asked.has(other.id))
    if (reference !== undefined || beingPaid) throw alreadyPaid(reference ?? beingPaid?.purchaseId)
    if (others.length > 0) return { do: 'close', attempts: others }
  }

  if (live) {
    if (agreement && agreementOf(termsOf(live)).id !== agreement.id) return { do: 'close', attempts: [live] }
    if (agreement && !live.agreement)
      await tx.update(checkoutAttempts).set({ agreement }).where(eq(checkoutAttempts.id, live.id))
    await purchase.keep?.(tx)
    return { do: 'open', attempt: live, made: false }
  }
  if (!offer) throw unopened()
  await purchase.keep?.(tx)
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
      createdAt: Temporal.Now.instant(),
    })
    .onConflictDoNothing()
    .returning()
  if (made) return { do: 'open', attempt: made, made: true }
  // A process of the version before, which holds no lock on the purchase, was faster.
  const all = await lockAttempts(tx, purchaseId, cartId)
  await refuseReused(tx, purchase, all)
  const other = all.find(isLive)
  if (!other) throw unopened()
  return { do: 'open', attempt: other, made: false }
}

/**
 * An id is of one purchase: a registration's checkout is no order's, and the other way round, and a membership's is neither's.
 * Whoever makes an id up makes another one then.
 * @param attempts all of the id, locked
 * @throws DomainError id_reused
 */
export async function refuseReused(
  tx: Transaction,
  { id, kind }: Pick<Purchase, 'id' | 'kind'>,
  attempts: Attempt[],
): Promise<void> {
  const isOther = attempts.some(({ purchase }) => isOrder(purchase) !== (kind === 'order'))
  if (!isOther && (await tx.$count(membershipAttempts, eq(membershipAttempts.id, id))) === 0) return
  throw new DomainError(
    'id_reused',
    `This id belongs to something else than ${kind === 'order' ? 'an order' : 'a registration'}.`,
  )
}

function alreadyPaid(reference: string | undefined): DomainError {
  const details = reference === undefined ? {} : { reference }
  return new DomainError('already_paid', 'What is in your cart was paid already.', undefined, details)
}
