import { setTimeout as wait } from 'node:timers/promises'
import { mailDelivered, mailFailed } from '@robokids/contracts/notifications'
import { isConnectionError } from '@robokids/runtime/errors'
import { newEvent, outbox, publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { createTransport, type Transporter } from 'nodemailer'
import { composeMail, MailOutdated } from './compose-mail.ts'
import type { Config } from './config.ts'
import { beginAttempt, judgeFailure, type Failure } from './rules.ts'
import { mails, type MailRow } from './schema.ts'

const atOnce = 5
/** A run ends after this many batches, so that a service that is told to stop does not send its whole backlog first. */
const batchesARun = 20

/** Takes mails that are due and counts the attempt, committed before anything is sent. */
async function claim({ db, clock }: Context<Config>): Promise<MailRow[]> {
  return db.transaction(async (tx) => {
    const now = clock.now()
    const due = await tx
      .select()
      .from(mails)
      .where(and(eq(mails.status, 'pending'), lte(mails.nextTryAt, now)))
      .orderBy(asc(mails.nextTryAt), asc(mails.id))
      .limit(atOnce)
      .for('update', { skipLocked: true })
    const claimed: MailRow[] = []
    for (const mail of due) {
      const attempt = beginAttempt(mail.attempts, now)
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

/**
 * The mail server has taken the mail; until this is committed, a crash would send it again. So a database that is away
 * for a moment is waited for, and noting it is a single statement.
 */
async function recordDelivery(mail: MailRow, context: Context<Config>): Promise<void> {
  const { id: mailId, kind, registrationId } = mail
  const event = newEvent(mailDelivered, mailId, { mailId, kind, registrationId })
  const sentAt = context.clock.now().toString({ fractionalSecondDigits: 3 })
  for (const pause of [100, 500, 2_000, 5_000, undefined]) {
    try {
      await context.db.execute(sql`
        with sent as (
          update ${mails} set status = 'sent', sent_at = ${sentAt}, last_error = null
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
  const { id: mailId, kind, registrationId } = mail
  const failure = error instanceof MailOutdated ? { final: true } : (error as Failure)
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, 1_000)
  const verdict = judgeFailure(mail.attempts, failure)
  // Without the error itself: it names the recipient.
  const { code, responseCode, command } = error as Failure & { code?: string }
  context.log.warn(
    { mailId, kind, attempts: mail.attempts, verdict, code, responseCode, command },
    'mail could not be sent',
  )
  await context.db.transaction(async (tx) => {
    const outcome = verdict === 'give_up' ? ({ status: 'failed', lastError: reason } as const) : { lastError: reason }
    const changed = await tx.update(mails).set(outcome).where(thisSending(mail)).returning()
    if (verdict === 'give_up' && changed.length > 0) {
      await publish(tx, mailFailed, mailId, { mailId, kind, registrationId, reason })
    }
  })
}

/** @returns whether the mail server took it. */
async function send(mail: MailRow, transport: Transporter, context: Context<Config>): Promise<boolean> {
  const { config, clock } = context
  try {
    const { recipientName, subject, text, html, attachments } = await composeMail(mail, context)
    await transport.sendMail({
      from: { name: 'Robo Kids Learning', address: config.MAIL_FROM },
      to: { name: recipientName, address: mail.recipient },
      subject,
      text,
      html,
      attachments,
      messageId: mail.messageId,
      date: new Date(clock.now().epochMilliseconds),
      headers: { 'Auto-Submitted': 'auto-generated' },
      xMailer: false,
    })
  } catch (error) {
    await recordFailure(mail, error, context)
    return false
  }
  await recordDelivery(mail, context)
  return true
}

/**
 * Sends what is due. One batch after the other, so that no mail is taken twice; one process at a time, as every job.
 * SMTP knows no "exactly once": see docs/adr/0007-mails-once.md for the moment in which a mail can go out twice.
 */
export async function sendMails(context: Context<Config>): Promise<void> {
  const { SMTP_URL, SMTP_TIMEOUT_MS } = context.config
  // A connection for each mail: a pool would send a mail again by itself when its connection breaks.
  const transport = createTransport({
    url: SMTP_URL,
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  for (let batch = 0; batch < batchesARun; batch += 1) {
    const claimed = await claim(context)
    const sent = await Promise.all(claimed.map((mail) => send(mail, transport, context)))
    // Where one failed, the mail server may be away: the next run is soon enough.
    if (claimed.length < atOnce || sent.includes(false)) return
  }
}
