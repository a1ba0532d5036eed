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
import { agreementOf, notOffered, requireAgreed } from '../prices/agreements.ts'
import { refreshMembership } from './apply-membership.ts'
import { fulfilCheckoutSession } from '../attempts/fulfil-checkout-session.ts'
import { closeCheckoutSession } from '../attempts/close-pages.ts'
import { openCheckoutSession } from '../attempts/open-checkout-session.ts'
import { membershipAttemptKind } from './activate-membership.ts'
import type { BillingContext } from '../config.ts'
import { factsOf } from './membership-facts.ts'
import { isMadeBy, isSamePerson, type Asker, type Ownership } from '../ownership/rules.ts'
import { addressesOf, isGone, lockMember, originOf, ownershipIn, runningMembership } from '../ownership/owners.ts'
import { readMembership } from './read-memberships.ts'
import { priceOf } from '../prices/read-prices.ts'
import { checkoutLifetime } from '../checkout/rules.ts'
import { membershipParameters } from '../stripe/session-parameters.ts'
import { membershipAttempts, membershipConsents, type Membership, type MembershipAttempt } from '../schema.ts'
import { stripeTime } from '../stripe/client.ts'

/** Enough for a membership that is over, an attempt that is, those for something else that have to be closed, and a new one. */
const maxRounds = 8

/** The requests of one person, which take turns. */
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
 * The checkout where somebody becomes a member: the open one for what is agreed to now, else a new one, after every other
 * one of that account or browser was closed at the provider. So however many tabs there are, one of them can be paid. What
 * somebody else opened with the same address is neither used nor closed, and who is a member nobody else is told: of two
 * memberships that are paid, the second one goes back.
 * @param left aborts where nobody waits for it any more: then no further question is begun.
 * @throws DomainError already_member, terms_changed, upstream_unavailable, or validation_failed where the provider refuses
 * the email.
 */
export async function createMembershipCheckout(
  context: BillingContext,
  request: CreateMembershipCheckout,
  left: AbortSignal,
): Promise<MembershipCheckout> {
  // Two tabs with different plans would close each other's checkouts for as long as they both try.
  const key = request.ownerId ?? request.browserId ?? emailKey(request.email)
  const line = lines.get(key) ?? { length: 0, last: Promise.resolve() }
  if (line.length >= longestLine) throw busy()
  lines.set(key, line)
  line.length++
  const before = line.last
  const { promise: done, resolve: finish } = Promise.withResolvers<void>()
  line.last = before.then(() => done)
  try {
    await turnAfter(before, AbortSignal.any([left, AbortSignal.timeout(longestWaitMs)]))
    return await findCheckout(context, request, left)
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
  request: CreateMembershipCheckout,
  left: AbortSignal,
): Promise<MembershipCheckout> {
  for (let round = 0; round < maxRounds && !left.aborted; round++) {
    const { membership, attempt, use } = await context.db.transaction((tx) => findOrMake(tx, context, request))
    if (membership) {
      // It may have ended without our hearing of it.
      await refreshMembership(context, membership.stripeSubscriptionId)
      if ((await readMembership(context.db, membership.attemptId)).status !== 'active') continue
      throw new DomainError('already_member', 'This email already has a membership. Please log in to see it.')
    }
    if (attempt.status === 'creating' && !(await openCheckoutSession(context, membershipAttemptKind, attempt.id)))
      continue
    let known = await read(context, attempt.id)
    if (use !== 'made' && known?.stripeSessionId) {
      await fulfilCheckoutSession(context, membershipAttemptKind, known.stripeSessionId)
      known = await read(context, attempt.id)
    }
    if (known?.status === 'processing') {
      throw new DomainError(
        'already_member',
        'The payment of your membership is being processed. Nothing is left to pay.',
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
  | { membership?: never; attempt: MembershipAttempt; use: 'made' | 'kept' | 'close' }

async function findOrMake(tx: Transaction, context: BillingContext, request: CreateMembershipCheckout): Promise<Found> {
  const { email, plan, classDate, consent, familyTimeZone = null, ownerId = null, browserId = null } = request
  const asker = { ownerId, browserId }
  const key = emailKey(email)
  const owned = await lockMember(tx, { email, emailKey: key, ownerId, at: Temporal.Now.instant() })
  if (ownerId !== null && (await isGone(tx, ownerId))) throw new DomainError('sign_in_required', 'Please log in again.')
  const membership = await runningMembership(tx, owned)
  if (membership && (await isKnownTo(tx, asker, membership))) return { membership }
  const open = await openAttempts(tx, owned, asker)
  // Whoever pays a page pays for whom it was opened: nobody is led to one that another account has opened for this address.
  const kept = open.find(
    ({ attempt, owner }) => owner === owned.ownerId && attempt.emailKey === key && isAgreed(attempt, request),
  )?.attempt
  const other = open.find(({ attempt }) => attempt !== kept)?.attempt
  if (kept && !other) {
    await keepConsent(tx, context, kept, consent)
    return { attempt: kept, use: 'kept' }
  }

  const amount = await priceOf(tx, membershipSku(plan), context.clock.now())
  if (amount === undefined) throw new DomainError('class_not_offered', 'This membership plan is not on sale.')
  const offered = offerOf({ plan, amount, classDate })
  if (!kept) requireOffered(offered, request)
  // What is open for something else must not be paid as well.
  if (other) return { attempt: other, use: 'close' }
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
      familyTimeZone,
      ...asker,
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
  await keepConsent(tx, context, attempt, consent)
  if (membership) await publish(tx, membershipAskedAgain, membership.attemptId, factsOf(membership))
  return { attempt, use: 'made' }
}

/** Whether whoever asks may be told of a membership: it is their account's, or was bought in their browser. */
async function isKnownTo(tx: Transaction, asker: Asker, { attemptId, userId }: Membership): Promise<boolean> {
  const [bought] = await tx.select().from(membershipAttempts).where(eq(membershipAttempts.id, attemptId))
  if (!bought) throw new Error(`The checkout of the membership ${attemptId} is gone.`)
  return isMadeBy(asker, bought) || isMadeBy(asker, { ownerId: userId, browserId: null })
}

interface OwnedAttempt {
  attempt: MembershipAttempt
  /** The account whose membership it begins; null while none is known. */
  owner: string | null
}

/** What whoever asks can still pay, for the same person or at the same address. */
async function openAttempts(tx: Transaction, owned: Ownership, asker: Asker): Promise<OwnedAttempt[]> {
  const { ownerId, emailKey: key } = owned
  const keys = ownerId === null ? [key] : [key, ...(await addressesOf(tx, ownerId))]
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
    if (!isMadeBy(asker, attempt)) continue
    const ownership = await ownershipIn(tx, originOf(attempt))
    if (attempt.emailKey === key || isSamePerson(owned, ownership)) found.push({ attempt, owner: ownership.ownerId })
  }
  return found
}

function offerOf({ plan, amount, classDate }: Pick<MembershipAttempt, 'plan' | 'amount' | 'classDate'>): Agreement {
  return agreementOf(membershipTerms({ plan, amount, classDate, termsVersion: renewalTermsVersion }))
}

/** Whether an open checkout is for what is agreed to now; where nothing was shown before, its own page shows it. */
function isAgreed(attempt: MembershipAttempt, { plan, classDate, agreed, consent }: CreateMembershipCheckout): boolean {
  if (attempt.plan !== plan || attempt.classDate !== classDate || attempt.closeRequestedAt !== null) return false
  if (agreed && agreementOf(agreed).id !== (attempt.agreement ?? offerOf(attempt)).id) return false
  return !consent || isConsentTo(attempt, consent)
}

type Consent = NonNullable<CreateMembershipCheckout['consent']>

function isConsentTo(offer: Pick<MembershipAttempt, 'plan' | 'amount'>, { version, text }: Consent): boolean {
  const { plan, amount } = offer
  return version === renewalTermsVersion && text === renewalTerms(plan, { amount, currency: 'usd' })
}

/** @throws DomainError terms_changed where something else was agreed to than what is offered */
function requireOffered(offered: Agreement, { plan, agreed, consent }: CreateMembershipCheckout): void {
  requireAgreed(offered, agreed, 'terms_changed')
  const amount = offered.terms.dueNow
  if (consent && !isConsentTo({ plan, amount }, consent)) throw notOffered('terms_changed', offered)
}

/** Keeps what proves that the terms were agreed to. */
async function keepConsent(
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
