import { emailKey } from '@robokids/contracts/fields'
import type { Mail, MailsQuery } from '@robokids/contracts/notifications'
import type { Database } from '@robokids/runtime/db'
import { and, desc, eq, sql } from 'drizzle-orm'
import { mails, type MailRow } from './schema.ts'

export function toMail(row: MailRow): Mail {
  const { id: mailId, fact, kind, medium, registrationId, userId, recipient, status, attempts, lastError, sentAt } = row
  return {
    mailId,
    kind,
    fact,
    medium,
    registrationId,
    userId,
    recipient,
    status,
    attempts,
    lastError,
    sentAt: sentAt?.toString({ fractionalSecondDigits: 3 }) ?? null,
  }
}

const maxMails = 500

/** Returns the newest 500 mails about a registration, to an account's owner or to an address, oldest first. */
export async function listMails(db: Database, { registrationId, userId, email }: MailsQuery): Promise<Mail[]> {
  const filter = and(
    registrationId === undefined ? undefined : eq(mails.registrationId, registrationId),
    userId === undefined ? undefined : eq(mails.userId, userId),
    email === undefined ? undefined : eq(sql`lower(${mails.recipient})`, emailKey(email)),
  )
  const rows = await db.select().from(mails).where(filter).orderBy(desc(mails.id)).limit(maxMails)
  return rows.toReversed().map(toMail)
}
