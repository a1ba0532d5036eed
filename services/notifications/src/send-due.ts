import { setTimeout as wait } from 'node:timers/promises'
import type { CodeMedium } from '@robokids/contracts/identity'
import { mailDelivered, mailFailed } from '@robokids/contracts/notifications'
import { isConnectionError } from '@robokids/runtime/errors'
import { newEvent, outbox, publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, lte, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { withoutCode } from './open-code.ts'
import { beginAttempt, judgeFailure, type Failure } from './rules.ts'
import { mails, type MailRow } from './schema.ts'

const atOnce = 5
/** A run ends after this many batches, so that a service that is told to stop does not send its whole backlog first. */
const batchesARun = 20

/** Takes messages that are due, those that expire first, and counts the attempt, committed before anything is sent. */
async function claim(medium: CodeMedium, { db, clock }: Context<Config>): Promise<MailRow[]> {
  return db.transaction(async (tx) => {
    const now = clock.now()
    const due = await tx
      .select()
      .from(mails)
      .where(and(eq(mails.status, 'pending'), eq(mails.medium, medium), lte(mails.nextTryAt, now)))
      // Those that never expire have none, which PostgreSQL puts last.
      .orderBy(asc(mails.expiresAt), asc(mails.nextTryAt), asc(mails.id))
      .limit(atOnce)
      .for('update', { skipLocked: true })
    const claimed: MailRow[] = []
    for (const mail of due) {
      const attempt = beginAttempt(mail.attempts, now, mail.expiresAt)
      await tx.update(mails).set(attempt).where(eq(mails.id, mail.id))
      claimed.push({ ...mail, ...attempt })
    }
    return claimed
  })
}

/** Matches a mail as it was claimed: a sending that is over already is not ended twice. */
function thisSending(mail: MailRow) {
  return and(eq(mails.id, mail.id), eq(mails.sending, mail.sending), eq(mails.status, 'pending'))
}

function told({ id: mailId, kind, registrationId, userId }: MailRow) {
  return { mailId, kind, registrationId, userId }
}

/**
 * The server has taken the message; until this is committed, a crash would send it again. So a database that is away for
 * a moment is waited for, and noting it is a single statement.
 */
async function recordDelivery(mail: MailRow, context: Context<Config>): Promise<void> {
  const event = newEvent(mailDelivered, mail.id, told(mail))
  const sentAt = context.clock.now().toString({ fractionalSecondDigits: 3 })
  for (const pause of [100, 500, 2_000, 5_000, undefined]) {
    try {
      await context.db.execute(sql`
        with sent as (
          update ${mails} set status = 'sent', sent_at = ${sentAt}, last_error = null, sealed_code = null
          where ${thisSending(mail)} returning id
        )
        insert into ${outbox} (id, type, envelope) select ${event.id}, ${event.type}, ${JSON.stringify(event)}::jsonb from sent`)
      return
    } catch (error) {
      if (pause === undefined || !isConnectionError(error)) throw error
      await wait(pause)
    }
  }
}

async function recordFailure(mail: MailRow, error: unknown, context: Context<Config>): Promise<void> {
  const { id: mailId, kind, medium, attempts } = mail
  const message = error instanceof Error ? error.message : String(error)
  const reason = withoutCode(message, mail, context.config).slice(0, 1_000)
  // Without the error itself: it names the recipient.
  const { code, responseCode, command, status, final } = error as Failure & { code?: string }
  const verdict = judgeFailure(attempts, { responseCode, command, status, final })
  context.log.warn(
    { mailId, kind, medium, attempts, verdict, code, responseCode, command, status },
    'message could not be sent',
  )
  await context.db.transaction(async (tx) => {
    const outcome =
      verdict === 'give_up'
        ? ({ status: 'failed', lastError: reason, sealedCode: null } as const)
        : { lastError: reason }
    const changed = await tx.update(mails).set(outcome).where(thisSending(mail)).returning()
    if (verdict === 'give_up' && changed.length > 0) {
      await publish(tx, mailFailed, mailId, { ...told(mail), reason })
    }
  })
}

/**
 * Sends what is due by a medium. One batch after the other, so that no message is taken twice; one process at a time, as
 * every job. Neither SMTP nor a gateway knows "exactly once": see docs/adr/0007-mails-once.md for the moment in which a
 * message can go out twice.
 * @param hand gives one to the server; it rejects with a `Failure` where that did not take it.
 */
export async function sendDue(
  medium: CodeMedium,
  context: Context<Config>,
  hand: (mail: MailRow) => Promise<void>,
): Promise<void> {
  async function send(mail: MailRow): Promise<boolean> {
    try {
      await hand(mail)
    } catch (error) {
      await recordFailure(mail, error, context)
      return false
    }
    await recordDelivery(mail, context)
    return true
  }
  for (let batch = 0; batch < batchesARun; batch += 1) {
    const claimed = await claim(medium, context)
    const sent = await Promise.all(claimed.map(send))
    // Where one failed, the server may be away: the next run is soon enough.
    if (claimed.length < atOnce || sent.includes(false)) return
  }
}
