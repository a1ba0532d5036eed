import { setTimeout as wait } from 'node:timers/promises'
import type { CodeMedium } from '@robokids/contracts/identity'
import { mailDelivered, mailFailed } from '@robokids/contracts/notifications'
import { newEvent, outbox, publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { continueTrace } from '@robokids/runtime/trace'
import { and, asc, eq, inArray, lte, min, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { dropSuperseded } from './drop-superseded.ts'
import { hasNoEarlierMail } from './earlier-mails.ts'
import { countAttempt } from './metrics.ts'
import { redactCode } from './open-code.ts'
import { classifyFailure, nextTryAfter, sendingLeaseMs, type Failure } from './rules.ts'
import { mails, type MailRow } from './schema.ts'
import { MailOutdated } from './unsendable.ts'

/** How long messages wait for a free slot before they are claimed one by one, instead of several in a transaction. */
const pollMs = 200
/** How long to claim no messages after a failure, because the server may be unavailable. */
const pauseMs = 1_000
/** How long before its end a lease counts as expired, to allow for clock differences. */
const leaseMarginMs = 30_000

/**
 * Claims due messages, those that expire soonest first, and counts the attempt; both are committed before anything is sent.
 * No other process claims them during the lease. The last free slot is reserved for messages that expire, so that slow servers
 * never delay a code.
 */
async function claim(medium: CodeMedium, free: number, context: Context<Config>): Promise<MailRow[]> {
  const { db, clock } = context
  return db.transaction(async (tx) => {
    const now = clock.now()
    const due = await tx
      .select({ id: mails.id, expiresAt: mails.expiresAt, subject: mails.subject })
      .from(mails)
      .where(
        and(
          eq(mails.status, 'pending'),
          eq(mails.medium, medium),
          lte(mails.nextTryAt, now),
          hasNoEarlierMail(context),
        ),
      )
      // PostgreSQL sorts nulls last: messages that never expire.
      .orderBy(asc(mails.expiresAt), asc(mails.nextTryAt), asc(mails.id))
      .limit(free)
      .for('update', { skipLocked: true })
    const claimed = due.filter(({ expiresAt }, position) => expiresAt !== null || position < free - 1)
    if (claimed.length === 0) return []
    const ids = claimed.map(({ id }) => id)
    await dropSuperseded(
      tx,
      claimed.map(({ subject }) => subject),
      now,
      ids,
    )
    const leasedUntil = now.add({ milliseconds: sendingLeaseMs })
    const rows = await tx
      .update(mails)
      .set({ attempts: sql`${mails.attempts} + 1`, nextTryAt: leasedUntil, leasedUntil })
      .where(and(inArray(mails.id, ids), eq(mails.status, 'pending')))
      .returning()
    // An update returns its rows in any order.
    return rows.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
  })
}

/** Matches a mail as it was claimed, so that an outcome is not recorded twice. */
function stillSending(mail: MailRow) {
  return and(eq(mails.id, mail.id), eq(mails.sending, mail.sending), eq(mails.status, 'pending'))
}

function messageFacts({ id: mailId, kind, registrationId, userId }: MailRow) {
  return { mailId, kind, registrationId, userId }
}

/**
 * Records the outcome of a sending. Without it, a delivered message would be sent again after its lease, so this retries while
 * the database is unavailable, until the lease expires or the process ends.
 */
async function recordOutcome(
  write: () => Promise<void>,
  mail: MailRow,
  leaseExpired: AbortSignal,
  context: Context<Config>,
) {
  for (let pause = 100; ; pause = Math.min(2 * pause, 2_000)) {
    try {
      return await write()
    } catch (error) {
      if (leaseExpired.aborted) throw error
      context.log.warn({ err: error, mailId: mail.id }, 'the outcome of a sending could not be recorded yet')
      await wait(pause, undefined, { ref: false })
    }
  }
}

function recordDelivery(mail: MailRow, { db, clock, metrics }: Context<Config>): () => Promise<void> {
  countAttempt({ metrics, clock }, mail, 'sent')
  const event = newEvent(mailDelivered, mail.id, messageFacts(mail))
  const sentAt = clock.now().toString({ fractionalSecondDigits: 3 })
  // A single statement, so that it is atomic.
  return async () => {
    await db.execute(sql`
      with sent as (
        update ${mails} set status = 'sent', sent_at = ${sentAt}, leased_until = null, last_error = null, sealed_code = null
        where ${stillSending(mail)} returning id
      )
      insert into ${outbox} (id, type, envelope) select ${event.id}, ${event.type}, ${JSON.stringify(event)}::jsonb from sent`)
  }
}

function recordFailure(mail: MailRow, error: unknown, context: Context<Config>): () => Promise<void> {
  const { id: mailId, kind, medium, attempts, expiresAt, subject } = mail
  const message = error instanceof Error ? error.message : String(error)
  const reason = redactCode(message, mail, context.config).slice(0, 1_000)
  // The error itself is not logged, because it names the recipient.
  const { code, responseCode, command, status, final } = error as Failure & { code?: string }
  const outcome =
    error instanceof MailOutdated ? 'drop' : classifyFailure(attempts, { responseCode, command, status, final })
  context.log.warn(
    { mailId, kind, medium, attempts, outcome, code, responseCode, command, status },
    'message could not be sent',
  )
  countAttempt(context, mail, outcome)
  const now = context.clock.now()
  const updateFor = {
    retry: { nextTryAt: nextTryAfter(attempts, now, expiresAt) },
    give_up: { status: 'failed', sealedCode: null },
    drop: { status: 'dropped' },
  } as const
  return () =>
    context.db.transaction(async (tx) => {
      const changed = await tx
        .update(mails)
        .set({ ...updateFor[outcome], leasedUntil: null, lastError: reason })
        .where(stillSending(mail))
        .returning({ id: mails.id })
      if (outcome === 'give_up' && changed.length > 0) {
        await publish(tx, mailFailed, mailId, { ...messageFacts(mail), reason })
      }
      // It was not dropped while it was being sent.
      await dropSuperseded(tx, [subject], now)
    })
}

/**
 * Sends the due messages of a medium with limited concurrency, so that one slow server occupies one slot. Any number of processes
 * do so at the same time. Returns when nothing is due, or when `signal` has aborted and the running attempts have ended. Neither
 * SMTP nor a gateway supports exactly-once delivery: docs/adr/0007-mails-once.md describes when a message can be sent twice.
 * @param limitMs how long sending one message may take: far less than its lease.
 * @param deliver sends a message until its signal aborts; rejects with a `Failure` if the server did not accept it.
 */
export async function sendDue(
  medium: CodeMedium,
  { concurrency, limitMs }: { concurrency: number; limitMs: number },
  context: Context<Config>,
  signal: AbortSignal,
  deliver: (mail: MailRow, limit: AbortSignal) => Promise<void>,
): Promise<void> {
  const inFlight = new Set<Promise<void>>()
  const problems: unknown[] = []
  let pausedUntil = 0
  let claimedAt = -Infinity
  const pause = () => {
    pausedUntil = performance.now() + pauseMs
  }

  async function send(mail: MailRow): Promise<void> {
    const leaseExpired = AbortSignal.timeout(sendingLeaseMs - leaseMarginMs)
    await continueTrace(mail.traceparent, { name: `send ${mail.kind}`, kind: 'client' }, async (span) => {
      const write = await deliver(mail, AbortSignal.timeout(limitMs)).then(
        () => recordDelivery(mail, context),
        (error: unknown) => {
          span.fail(error)
          if (!(error instanceof MailOutdated)) pause()
          return recordFailure(mail, error, context)
        },
      )
      await recordOutcome(write, mail, leaseExpired, context)
    })
  }

  async function startSending(): Promise<void> {
    const now = performance.now()
    const free = concurrency - inFlight.size
    if (signal.aborted || free === 0 || now < pausedUntil) return
    if (free < concurrency / 2 && now - claimedAt < pollMs) return
    claimedAt = now
    try {
      for (const mail of await claim(medium, free, context)) {
        const sending = send(mail)
          .catch((error: unknown) => void problems.push(error))
          .finally(() => inFlight.delete(sending))
        inFlight.add(sending)
      }
    } catch (error) {
      pause()
      problems.push(error)
    }
  }

  for (;;) {
    await startSending()
    if (inFlight.size === 0) break
    // New messages do not have to wait until one of these is done.
    await Promise.race([...inFlight, wait(pollMs)])
  }
  if (problems.length > 0) throw problems[0]
}

/** When the next message of a medium is due; in the past if it waits for an earlier one about the same subject. */
export async function nextMessage(medium: CodeMedium, { db }: Context<Config>): Promise<Temporal.Instant | null> {
  const [next] = await db
    .select({ at: min(mails.nextTryAt) })
    .from(mails)
    .where(and(eq(mails.status, 'pending'), eq(mails.medium, medium)))
  return next?.at ?? null
}
