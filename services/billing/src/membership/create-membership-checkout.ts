import { randomUUIDv7 } from 'node:crypto'
import type { Agreement } from '@robokids/contracts/agreement'
import {
  membershipAskedAgain,
  membershipSku,
  type CreateMembershipCheckout,
  type MembershipCheckout,
} from '@robokids/contracts/billing'
import { emailKey } from '@robokids/contracts/fields'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import { membershipTerms } from '@robokids/contracts/offers'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, inArray, or } from 'drizzle-orm'
import { toAgreement, offerChanged, requireAgreed } from '../prices/agreements.ts'
import { refreshMembership } from './apply-membership.ts'
import { fulfilCheckoutSession } from '../attempts/fulfil-checkout-session.ts'
import { closeCheckoutSession } from '../attempts/close-pages.ts'
import { openCheckoutSession } from '../attempts/open-checkout-session.ts'
import { membershipAttemptKind } from './activate-membership.ts'
import type { BillingContext } from '../config.ts'
import { toMembershipFacts } from '../membership-facts.ts'
import { isMadeBy, isSamePerson, type Requester, type Ownership } from '../ownership/rules.ts'
import {
  readEmailKeys,
  isAccountGone,
  lockMember,
  toOrigin,
  readOwnership,
  findRunningMembership,
} from '../ownership/owners.ts'
import { readMembership } from './read-memberships.ts'
import { findPrice } from '../prices/read-prices.ts'
import { checkoutLifetime } from '../attempts/rules.ts'
import { membershipParameters } from '../stripe/session-parameters.ts'
import { membershipAttempts, membershipConsents, type Membership, type MembershipAttempt } from '../schema.ts'
import { stripeTime } from '../stripe/client.ts'

/** Enough to find an ended membership and an ended attempt, close several other checkouts, and create a new one. */
const maxRounds = 8

/** The concurrent requests of one person, which are processed one after the other. */
interface Queue {
  length: number
  last: Promise<unknown>
}

const queues = new Map<string, Queue>()
const maxQueueLength = 5
/** Less than the caller's timeout. */
const maxWaitMs = 10_000

const busy = () =>
  new DomainError('upstream_unavailable', 'Your checkout is already opening. Please try again in a moment.')

/**
 * Returns the checkout for becoming a member: the open one for the agreed terms, or else a new one, after every other one of
 * that account or browser was closed at Stripe. So only one can be paid, in however many tabs. A checkout that somebody else
 * opened with the same address is neither used nor closed, and does not reveal who is a member: of two paid memberships, the
 * second one is refunded.
 * @param signal aborts when the client disconnects: then no further call to Stripe is started.
 * @throws DomainError already_member, terms_changed, upstream_unavailable, or validation_failed if Stripe rejects the email.
 */
export async function createMembershipCheckout(
  context: BillingContext,
  request: CreateMembershipCheckout,
  signal: AbortSignal,
): Promise<MembershipCheckout> {
  // Without the queue, two tabs with different plans would keep closing each other's checkouts.
  const key = request.ownerId ?? request.browserId ?? emailKey(request.email)
  const queue = queues.get(key) ?? { length: 0, last: Promise.resolve() }
  if (queue.length >= maxQueueLength) throw busy()
  queues.set(key, queue)
  queue.length++
  const before = queue.last
  const { promise: done, resolve: finish } = Promise.withResolvers<void>()
  queue.last = before.then(() => done)
  try {
    await waitForTurn(before, AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)]))
    return await findCheckout(context, request, signal)
  } finally {
    finish()
    if (--queue.length === 0) queues.delete(key)
  }
}

/** @throws DomainError upstream_unavailable if `signal` aborts while waiting. */
async function waitForTurn(before: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(busy())
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    if (signal.aborted) throw busy()
    await Promise.race([before, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function findCheckout(
  context: BillingContext,
  request: CreateMembershipCheckout,
  signal: AbortSignal,
): Promise<MembershipCheckout> {
  for (let round = 0; round < maxRounds && !signal.aborted; round++) {
    const { membership, attempt, use } = await context.db.transaction((tx) => findOrCreateAttempt(tx, context, request))
    if (membership) {
      // It may have ended, with the webhook lost.
      await refreshMembership(context, membership.stripeSubscriptionId)
      if ((await readMembership(context.db, membership.attemptId)).status !== 'active') continue
      throw new DomainError('already_member', 'This email already has a membership. Please log in to see it.')
    }
    if (attempt.status === 'creating' && !(await openCheckoutSession(context, membershipAttemptKind, attempt.id)))
      continue
    let known = await read(context, attempt.id)
    if (use !== 'new' && known?.stripeSessionId) {
      await fulfilCheckoutSession(context, membershipAttemptKind, known.stripeSessionId)
      known = await read(context, attempt.id)
    }
    if (known?.status === 'processing') {
      throw new DomainError(
        'already_member',
        'The payment for your membership is being processed. There’s nothing left to pay.',
      )
    }
    if (known?.status !== 'open' || known.stripeSessionId === null || known.checkoutUrl === null) continue
    if (use === 'close') {
      await closeCheckoutSession(context, membershipAttemptKind, known.stripeSessionId)
      continue
    }
    const { amount, currency, checkoutUrl, expiresAt } = known
    return { attemptId: attempt.id, checkoutUrl, amount, currency, expiresAt: expiresAt.toString() }
  }
  throw new DomainError('upstream_unavailable', 'The checkout could not be opened. Please try again in a moment.')
}

async function read({ db }: BillingContext, attemptId: string): Promise<MembershipAttempt | undefined> {
  const [attempt] = await db.select().from(membershipAttempts).where(eq(membershipAttempts.id, attemptId))
  return attempt
}

type Found =
  | { membership: Membership; attempt?: never; use?: never }
  | { membership?: never; attempt: MembershipAttempt; use: 'new' | 'existing' | 'close' }

async function findOrCreateAttempt(
  tx: Transaction,
  context: BillingContext,
  request: CreateMembershipCheckout,
): Promise<Found> {
  const { email, plan, classDate, consent, familyTimeZone = null, ownerId = null, browserId = null } = request
  const requester = { ownerId, browserId }
  const key = emailKey(email)
  const owned = await lockMember(tx, { email, emailKey: key, ownerId, at: Temporal.Now.instant() })
  if (ownerId !== null && (await isAccountGone(tx, ownerId)))
    throw new DomainError('sign_in_required', 'Please log in again.')
  const membership = await findRunningMembership(tx, owned)
  if (membership && (await isKnownTo(tx, requester, membership))) return { membership }
  const open = await openAttempts(tx, owned, requester)
  // A payment counts for the account that opened the page: never return one that another account opened for this address.
  const existing = open.find(
    ({ attempt, owner }) => owner === owned.ownerId && attempt.emailKey === key && isAgreed(attempt, request),
  )?.attempt
  const other = open.find(({ attempt }) => attempt !== existing)?.attempt
  if (existing && !other) {
    await recordConsent(tx, context, existing, consent)
    return { attempt: existing, use: 'existing' }
  }

  const amount = await findPrice(tx, membershipSku(plan), context.clock.now())
  if (amount === undefined) throw new DomainError('class_not_offered', 'This membership plan is not on sale.')
  const offered = createOffer({ plan, amount, classDate })
  if (!existing) requireOffered(offered, request)
  // A checkout that is open for other terms must not be paid as well.
  if (other) return { attempt: other, use: 'close' }
  // Without consent so far, the payment page asks for it.
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
      familyTimeZone,
      ...requester,
      emailKey: key,
      status: 'creating',
      amount,
      currency: 'usd',
      agreement: { ...offered, validUntil: expiresAt.toString() },
      parameters: membershipParameters(id, request, amount, expiresAt, context.config.SITE_URL, terms),
      expiresAt,
      checkedAt: Temporal.Now.instant(),
      createdAt: Temporal.Now.instant(),
    })
    .returning()
  if (!attempt) throw new Error('The attempt was not written.')
  await recordConsent(tx, context, attempt, consent)
  if (membership) await publish(tx, membershipAskedAgain, membership.attemptId, toMembershipFacts(membership))
  return { attempt, use: 'new' }
}

/** Whether a membership may be revealed to the requester: it belongs to their account, or was bought in their browser. */
async function isKnownTo(tx: Transaction, requester: Requester, { attemptId, userId }: Membership): Promise<boolean> {
  const [bought] = await tx.select().from(membershipAttempts).where(eq(membershipAttempts.id, attemptId))
  if (!bought) throw new Error(`The checkout of the membership ${attemptId} was not found.`)
  return isMadeBy(requester, bought) || isMadeBy(requester, { ownerId: userId, browserId: null })
}

interface OwnedAttempt {
  attempt: MembershipAttempt
  /** The account that will own the membership; null if there is none yet. */
  owner: string | null
}

/** Returns the requester's live attempts for the same person or the same address. */
async function openAttempts(tx: Transaction, owned: Ownership, requester: Requester): Promise<OwnedAttempt[]> {
  const { ownerId, emailKey: key } = owned
  const keys = ownerId === null ? [key] : [key, ...(await readEmailKeys(tx, ownerId))]
  const live = await tx
    .select()
    .from(membershipAttempts)
    .where(
      and(
        inArray(membershipAttempts.status, ['creating', 'open', 'processing']),
        or(
          inArray(membershipAttempts.emailKey, keys),
          ownerId === null ? undefined : eq(membershipAttempts.ownerId, ownerId),
        ),
      ),
    )
    .orderBy(membershipAttempts.id)
  const found: OwnedAttempt[] = []
  for (const attempt of live) {
    if (!isMadeBy(requester, attempt)) continue
    const ownership = await readOwnership(tx, toOrigin(attempt))
    if (attempt.emailKey === key || isSamePerson(owned, ownership)) found.push({ attempt, owner: ownership.ownerId })
  }
  return found
}

function createOffer({ plan, amount, classDate }: Pick<MembershipAttempt, 'plan' | 'amount' | 'classDate'>): Agreement {
  return toAgreement(membershipTerms({ plan, amount, classDate, termsVersion: renewalTermsVersion }))
}

/** Whether an open checkout is for the terms agreed to now; terms that were not shown before are shown on its page. */
function isAgreed(attempt: MembershipAttempt, { plan, classDate, agreed, consent }: CreateMembershipCheckout): boolean {
  if (attempt.plan !== plan || attempt.classDate !== classDate || attempt.closeRequestedAt !== null) return false
  if (agreed && toAgreement(agreed).id !== (attempt.agreement ?? createOffer(attempt)).id) return false
  return !consent || isConsentTo(attempt, consent)
}

type Consent = NonNullable<CreateMembershipCheckout['consent']>

function isConsentTo(offer: Pick<MembershipAttempt, 'plan' | 'amount'>, { version, text }: Consent): boolean {
  const { plan, amount } = offer
  return version === renewalTermsVersion && text === renewalTerms(plan, { amount, currency: 'usd' })
}

/** @throws DomainError terms_changed if the agreed terms are not the offered ones */
function requireOffered(offered: Agreement, { plan, agreed, consent }: CreateMembershipCheckout): void {
  requireAgreed(offered, agreed, 'terms_changed')
  const amount = offered.terms.dueNow
  if (consent && !isConsentTo({ plan, amount }, consent)) throw offerChanged('terms_changed', offered)
}

/** Records the proof that the terms were agreed to. */
async function recordConsent(
  tx: Transaction,
  { clock }: BillingContext,
  { id: attemptId }: MembershipAttempt,
  consent: Consent | undefined,
): Promise<void> {
  if (!consent) return
  await tx.insert(membershipConsents).values({
    id: randomUUIDv7(),
    attemptId,
    ...consent,
    agreedAt: clock.now().round('millisecond'),
  })
}
