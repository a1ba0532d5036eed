import { randomUUIDv7 } from 'node:crypto'
import type { CodeMedium } from '@robokids/contracts/identity'
import { wake, type Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { dropSuperseded } from './drop-superseded.ts'
import { messageIdOf } from './message-id.ts'
import { mails, type MailData, type MailRow, type Subject } from './schema.ts'

/** The job that sends what goes by a medium: neither waits for the other's server. */
export const jobOf: Record<CodeMedium, string> = { EMAIL: 'send-mails', SMS: 'send-texts' }

/** What a mail is about, and the time of the event that it tells about. */
export interface About {
  subject: Subject
  time: string
}

export type Order<Kind extends keyof MailData> = {
  kind: Kind
  /** What makes the fact one of its kind. */
  factId: string
  recipient: string
  data: MailData[Kind]
  /** Left out for what keeps no order. */
  about?: About
} & Partial<Pick<MailRow, 'medium' | 'registrationId' | 'calendarId' | 'userId' | 'sealedCode' | 'expiresAt'>>

/**
 * Has the tries of earlier mails about the subject begin again, so that the one that waits for them is no later than if it
 * had been tried itself: their next try may be a day away, and the mail server may be back.
 */
async function retryEarlier(tx: Transaction, later: MailRow, now: Temporal.Instant): Promise<void> {
  const { subject, recipient, happenedAt, status } = later
  if (subject === null || happenedAt === null || status !== 'pending') return
  await tx
    .update(mails)
    .set({ attempts: 0, nextTryAt: now })
    .where(
      and(
        eq(mails.subject, subject),
        sql`lower(${mails.recipient}) = lower(${recipient})`,
        sql`(${mails.happenedAt}, ${mails.id}) < (${happenedAt.toString()}::timestamptz, ${later.id}::uuid)`,
        eq(mails.status, 'pending'),
        eq(mails.sending, 1),
        or(isNull(mails.leasedUntil), lte(mails.leasedUntil, now)),
      ),
    )
}

/** Orders the mail about each fact, once; the job sends it after the commit. */
export async function enqueueMail<Kind extends keyof MailData>(
  tx: Transaction,
  context: Context<Config>,
  ...orders: Order<Kind>[]
): Promise<void> {
  if (orders.length === 0) return
  const now = context.clock.now()
  const rows = orders.map(({ kind, factId, about, ...order }) => {
    const id = randomUUIDv7()
    const messageId = messageIdOf(id, 1, context.config.MAIL_FROM)
    const place = about && { subject: about.subject, happenedAt: Temporal.Instant.from(about.time) }
    return { ...order, ...place, id, fact: `${kind}:${factId}`, kind, messageId, nextTryAt: now, createdAt: now }
  })
  const ordered = await tx.insert(mails).values(rows).onConflictDoNothing({ target: mails.fact }).returning()
  await dropSuperseded(
    tx,
    ordered.map(({ subject }) => subject),
    now,
  )
  for (const mail of ordered) await retryEarlier(tx, mail, now)
  for (const medium of new Set(orders.map((order) => order.medium ?? 'EMAIL'))) await wake(tx, jobOf[medium])
}
