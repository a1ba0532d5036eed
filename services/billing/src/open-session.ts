import { DomainError } from '@robokids/runtime/errors'
import { and, eq } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { applySession } from './fulfil-session.ts'
import type { OrderParameters } from './order-rules.ts'
import type { MembershipParameters, ObservedSession, SessionParameters } from './rules.ts'
import { checkoutAttempts, membershipAttempts, type Attempt } from './schema.ts'
import { ask, observe, StripeFailure } from './stripe.ts'

const underWay = new Map<string, Promise<boolean>>()
const othersDeadlineMs = 8_000
const othersPollMs = 150

/** Attempts of one kind, as far as the opening of their sessions goes. */
interface Attempts {
  find(
    id: string,
  ): Promise<
    { status: Attempt['status']; parameters: SessionParameters | OrderParameters | MembershipParameters } | undefined
  >
  /** Where it is still `creating`. */
  fail(id: string): Promise<void>
  /** What the caller named the address that the provider may refuse. */
  emailPath: string
}

function attemptsOfClasses({ db }: BillingContext): Attempts {
  const { id, status, parameters } = checkoutAttempts
  return {
    find: async (one) => (await db.select({ status, parameters }).from(checkoutAttempts).where(eq(id, one)))[0],
    async fail(one) {
      await db
        .update(checkoutAttempts)
        .set({ status: 'failed' })
        .where(and(eq(id, one), eq(status, 'creating')))
    },
    emailPath: 'purchase.email',
  }
}

function attemptsOfMembers({ db }: BillingContext): Attempts {
  const { id, status, parameters } = membershipAttempts
  return {
    find: async (one) => (await db.select({ status, parameters }).from(membershipAttempts).where(eq(id, one)))[0],
    async fail(one) {
      await db
        .update(membershipAttempts)
        .set({ status: 'failed' })
        .where(and(eq(id, one), eq(status, 'creating')))
    },
    emailPath: 'email',
  }
}

/** As `openSession`, of a membership's attempt. */
export function openMembershipSession(context: BillingContext, attemptId: string): Promise<boolean> {
  return openOnce(context, attemptId, attemptsOfMembers(context))
}

/**
 * Has the provider make an attempt's session, or tell of the one it made before: always the same parameters under the
 * same key, so that a crash or a time-out in between makes no second one.
 * @returns false where it never can, and the attempt has failed.
 */
export function openSession(context: BillingContext, attemptId: string): Promise<boolean> {
  return openOnce(context, attemptId, attemptsOfClasses(context))
}

function openOnce(context: BillingContext, attemptId: string, attempts: Attempts): Promise<boolean> {
  const known = underWay.get(attemptId)
  if (known) return known
  const opening = open(context, attemptId, attempts).finally(() => underWay.delete(attemptId))
  underWay.set(attemptId, opening)
  return opening
}

async function open(context: BillingContext, attemptId: string, attempts: Attempts): Promise<boolean> {
  const { db } = context
  const attempt = await attempts.find(attemptId)
  if (attempt?.status !== 'creating') return attempt !== undefined && attempt.status !== 'failed'
  let session: ObservedSession
  try {
    session = observe(
      await ask(context, (stripe) =>
        stripe.checkout.sessions.create(attempt.parameters, { idempotencyKey: attemptId }),
      ),
    )
  } catch (error) {
    if (!(error instanceof StripeFailure)) throw error
    if (error.stripeCode === 'idempotency_key_in_use') return outcomeOfOther(attempts, attemptId, error)
    // A refusal means that no session was made. A server error that was saved under the key may hide one, but nobody
    // has its address, so nobody can pay it.
    if (!error.refused && !error.replayed) throw error
    context.log.warn({ err: error, attemptId }, 'a checkout session could not be made')
    await attempts.fail(attemptId)
    if (error.replayed || error.param === 'expires_at') return false
    if (error.param === 'customer_email') {
      const message = 'Enter an email address, like name@example.com.'
      throw new DomainError('validation_failed', message, [{ path: attempts.emailPath, message }])
    }
    throw error
  }
  await db.transaction((tx) => applySession(tx, context, session))
  return true
}

/** Another process is asking under the same key right now: what it gets is what this attempt becomes. */
async function outcomeOfOther(attempts: Attempts, attemptId: string, failure: StripeFailure): Promise<boolean> {
  const deadline = performance.now() + othersDeadlineMs
  while (performance.now() < deadline) {
    const row = await attempts.find(attemptId)
    if (row?.status !== 'creating') return row?.status !== 'failed'
    await new Promise((resolve) => setTimeout(resolve, othersPollMs))
  }
  throw failure
}
