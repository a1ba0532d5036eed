import type { Mail } from '@robokids/contracts/notifications'
import { wakeJob } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from './config.ts'
import { messageIdOf } from './message-id.ts'
import { toMail } from './read-mails.ts'
import { jobNames } from './enqueue-mail.ts'
import { mails } from './schema.ts'

/**
 * Sends a mail again, with the same text under a new Message-ID; also one that was dropped. A pending mail is only sent sooner,
 * and one that is being sent is left alone, so that requesting it twice sends it once.
 * @throws DomainError `not_found`; `validation_failed` for a code, which is deleted once it was sent or given up, and for a
 * mail past its retention.
 */
export async function resendMail(mailId: string, context: Context<Config>): Promise<Mail> {
  return context.db.transaction(async (tx) => {
    const [mail] = await tx.select().from(mails).where(eq(mails.id, mailId)).for('update')
    if (!mail) throw new DomainError('not_found', 'There is no such mail.')
    if (mail.kind === 'code_issued' && mail.status !== 'pending') {
      throw new DomainError('validation_failed', 'A code is sent once and not kept. Ask for a new code instead.')
    }
    if (mail.data === null) {
      throw new DomainError('validation_failed', 'This mail is too old: its content was deleted.')
    }
    const nextTryAt = context.clock.now()
    const isBeingSent = mail.leasedUntil !== null && Temporal.Instant.compare(nextTryAt, mail.leasedUntil) < 0
    if (mail.status === 'pending' && isBeingSent) return toMail(mail)
    const sending = mail.sending + 1
    const messageId = messageIdOf(mailId, sending, context.config.MAIL_FROM)
    const resent = {
      status: 'pending',
      attempts: 0,
      lastError: null,
      leasedUntil: null,
      sending,
      messageId,
      nextTryAt,
    } as const
    const [changed = mail] = await tx
      .update(mails)
      .set(mail.status === 'pending' ? { nextTryAt } : resent)
      .where(eq(mails.id, mailId))
      .returning()
    await wakeJob(tx, jobNames[mail.medium])
    return toMail(changed)
  })
}
