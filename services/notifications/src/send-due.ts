import { setTimeout as wait } from 'node:timers/promises'
import type { CodeMedium } from '@robokids/contracts/identity'
import { mailDelivered, mailFailed } from '@robokids/contracts/notifications'
import { newEvent, outbox, publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, gt, inArray, lte, notExists, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Config } from './config.ts'
import { dropSuperseded } from './drop-superseded.ts'
import { withoutCode } from './open-code.ts'
import { classifyFailure, nextTryAfter, sendingLeaseMs, waitsAtMost, type Failure } from './rules.ts'
import { mails, type MailRow } from './schema.ts'
import { MailOutdated } from './unsendable.ts'

const atOnce = 5
/** How often new messages are looked for while others are being sent. */
const pollMs = 200
/** How long no message is taken after one that could not be sent: the server may be away. */
const pauseMs = 1_000
/** How long before its end a lease counts as over, by a clock that is not quite the database's or another process's. */
const leaseMarginMs = 30_000

const earlier = alias(mails, 'earlier')

/**
 * Mails about one subject reach a reader in the order of what happened: none is taken before an earlier one that is still
 * to be sent, or being sent, has gone. What an administrator has sent again neither waits nor keeps others waiting.
 */
function isItsTurn({ db, clock }: Context<Config>) {
  const ahead = db
    .select({ id: earlier.id })
    .from(earlier)
    .where(
      and(
        eq(earlier.subject, mails.subject),
        sql`lower(${earlier.recipient}) = lower(${mails.recipient})`,
        sql`(${earlier.happenedAt}, ${earlier.id}) < (${mails.happenedAt}, ${mails.id})`,
        eq(earlier.status, 'pending'),
        eq(earlier.sending, 1),
      ),
    )
  return or(gt(mails.sending, 1), lte(mails.createdAt, clock.now().subtract(waitsAtMost)), notExists(ahead))
}

/**
 * Takes messages that are due, those that expire first, and counts the attempt, committed before anything is sent. Until
 * the lease is over nobody else takes them. The last free place is kept for what expires: servers that take their time
 * over other mails never keep a code waiting.
 */
async function claim(medium: CodeMedium, free: number, context: Context<Config>): Promise<MailRow[]> {
  const { db, clock } = context
  return db.transaction(async (tx) => {
    const now = clock.now()
    const due = await tx
      .select({ id: mails.id, expiresAt: mails.expiresAt, subject: mails.subject })
      .from(mails)
      .where(and(eq(mails.status, 'pending'), eq(mails.medium, medium), lte(mails.nextTryAt, now), isItsTurn(context)))
      // Those that never expire have none, which PostgreSQL puts last.
      .orderBy(asc(mails.expiresAt), asc(mails.nextTryAt), asc(mails.id))
      .limit(free)
      .for('update', { skipLocked: true })
    const taken = due.filter(({ expiresAt }, place) => expiresAt !== null || place < free - 1)
    if (taken.length === 0) return []
    await dropSuperseded(
      tx,
      taken.map(({ subject }) => subject),
      now,
    )
    const ids = taken.map(({ id }) => id)
    const leasedUntil = now.add({ milliseconds: sendingLeaseMs })
    return tx
      .update(mails)
      .set({ attempts: sql`${mails.attempts} + 1`, nextTryAt: leasedUntil, leasedUntil })
      .where(and(inArray(mails.id, ids), eq(mails.status, 'pending')))
      .returning()
  })
}

/** Matches a mail as it was claimed: a sending that is over already is not ended twice. */
function stillSending(mail: MailRow) {
  return and(eq(mails.id, mail.id), eq(mails.sending, mail.sending), eq(mails.status, 'pending'))
}

function messageFacts({ id: mailId, kind, registrationId, userId }: MailRow) {
  return { mailId, kind, registrationId, userId }
}

/**
 * Writes down how a sending went. A message that was taken goes out again after its lease unless that is noted: so the
 * database, be it away or busy, is asked again until it has done so, for as long as the lease and the process last.
 */
async function recordOutcome(
  write: () => Promise<void>,
  mail: MailRow,
  leaseOver: AbortSignal,
  context: Context<Config>,
) {
  for (let pause = 100; ; pause = Math.min(2 * pause, 2_000)) {
    try {
      return await write()
    } catch (error) {
      if (leaseOver.aborted) throw error
      context.log.warn({ err: error, mailId: mail.id }, 'how a sending went could not be noted yet')
      await wait(pause, undefined, { ref: false })
    }
  }
}

function deliveryOf(mail: MailRow, { db, clock }: Context<Config>): () => Promise<void> {
  const event = newEvent(mailDelivered, mail.id, messageFacts(mail))
  const sentAt = clock.now().toString({ fractionalSecondDigits: 3 })
  // A single statement: nothing is between its parts.
  return async () => {
    await db.execute(sql`
      with sent as (
        update ${mails} set status = 'sent', sent_at = ${sentAt}, leased_until = null, last_error = null, sealed_code = null
        where ${stillSending(mail)} returning id
      )
      insert into ${outbox} (id, type, envelope) select ${event.id}, ${event.type}, ${JSON.stringify(event)}::jsonb from sent`)
  }
}

function failureOf(mail: MailRow, error: unknown, context: Context<Config>): () => Promise<void> {
  const { id: mailId, kind, medium, attempts, expiresAt, subject } = mail
  const message = error instanceof Error ? error.message : String(error)
  const reason = withoutCode(message, mail, context.config).slice(0, 1_000)
  // Without the error itself: it names the recipient.
  const { code, responseCode, command, status, final } = error as Failure & { code?: string }
  const outcome =
    error instanceof MailOutdated ? 'drop' : classifyFailure(attempts, { responseCode, command, status, final })
  context.log.warn(
    { mailId, kind, medium, attempts, outcome, code, responseCode, command, status },
    'message could not be sent',
  )
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
      // While it was being sent, nobody dropped it.
      await dropSuperseded(tx, [subject], now)
    })
}

/**
 * Sends what is due by a medium, some at a time: each that is done makes room for the next, so that one slow server takes
 * one place. Ends when nothing is due, or `signal` aborts and what was begun is over. Neither SMTP nor a gateway knows
 * "exactly once": see docs/adr/0007-mails-once.md for the moment in which a message can go out twice.
 * @param limitMs how long the sending of one message may take: far less than its lease.
 * @param deliver gives one to the server, within `limit`; it rejects with a `Failure` where that did not take it.
 */
export async function sendDue(
  medium: CodeMedium,
  limitMs: number,
  context: Context<Config>,
  signal: AbortSignal,
  deliver: (mail: MailRow, limit: AbortSignal) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const problems: unknown[] = []
  let pausedUntil = 0
  const pause = () => {
    pausedUntil = performance.now() + pauseMs
  }

  async function send(mail: MailRow): Promise<void> {
    const leaseOver = AbortSignal.timeout(sendingLeaseMs - leaseMarginMs)
    const write = await deliver(mail, AbortSignal.timeout(limitMs)).then(
      () => deliveryOf(mail, context),
      (error: unknown) => {
        if (!(error instanceof MailOutdated)) pause()
        return failureOf(mail, error, context)
      },
    )
    await recordOutcome(write, mail, leaseOver, context)
  }

  async function begin(): Promise<void> {
    if (signal.aborted || underWay.size === atOnce || performance.now() < pausedUntil) return
    try {
      for (const mail of await claim(medium, atOnce - underWay.size, context)) {
        const sending = send(mail)
          .catch((error: unknown) => void problems.push(error))
          .finally(() => underWay.delete(sending))
        underWay.add(sending)
      }
    } catch (error) {
      pause()
      problems.push(error)
    }
  }

  for (;;) {
    await begin()
    if (underWay.size === 0) break
    // What comes in the meantime need not wait until one of these is over.
    await Promise.race([...underWay, wait(pollMs)])
  }
  if (problems.length > 0) throw problems[0]
}
