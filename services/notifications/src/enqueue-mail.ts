import { randomUUIDv7 } from 'node:crypto'
import type { CodeMedium } from '@robokids/contracts/identity'
import { wakeJob, type Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { currentTraceparent } from '@robokids/runtime/trace'
import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { dropSuperseded } from './drop-superseded.ts'
import { messageIdOf } from './message-id.ts'
import { mails, type MailData, type MailRow, type Subject } from './schema.ts'

/** The name of the job that sends each medium. They are separate, so that neither waits for the other's server. */
export const jobNames: Record<CodeMedium, string> = { EMAIL: 'send-mails', SMS: 'send-texts' }

/** The subject of a mail, and the time of its event. */
export interface SubjectTime {
  subject: Subject
  time: string
}

export type MailRequest<Kind extends keyof MailData> = {
  kind: Kind
  /** The deduplication key within the kind. */
  factId: string
  recipient: string
  data: MailData[Kind]
  /** Omitted if the mail does not have to be sent in order. */
  about?: SubjectTime
} & Partial<Pick<MailRow, 'medium' | 'registrationId' | 'calendarId' | 'userId' | 'sealedCode' | 'expiresAt'>>

/**
 * Restarts the retries of earlier mails about the same subject, which the new mail has to wait for: their next attempt may be a
 * day away although the mail server is back.
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

/** Enqueues one mail per fact; the job sends them after the commit. Facts that already have a mail are ignored. */
export async function enqueueMail<Kind extends keyof MailData>(
  tx: Transaction,
  context: Context<Config>,
  ...requests: MailRequest<Kind>[]
): Promise<void> {
  if (requests.length === 0) return
  const now = context.clock.now()
  const rows = requests.map(({ kind, factId, about, ...request }) => {
    const id = randomUUIDv7()
    const messageId = messageIdOf(id, 1, context.config.MAIL_FROM)
    const position = about && { subject: about.subject, happenedAt: Temporal.Instant.from(about.time) }
    const traceparent = currentTraceparent() ?? null
    const fact = `${kind}:${factId}`
    return { ...request, ...position, id, fact, kind, messageId, traceparent, nextTryAt: now, createdAt: now }
  })
  const inserted = await tx.insert(mails).values(rows).onConflictDoNothing({ target: mails.fact }).returning()
  await dropSuperseded(
    tx,
    inserted.map(({ subject }) => subject),
    now,
  )
  for (const mail of inserted) await retryEarlier(tx, mail, now)
  for (const medium of new Set(requests.map((request) => request.medium ?? 'EMAIL')))
    await wakeJob(tx, jobNames[medium])
}
