import { emailKey } from '@robokids/contracts/fields'
import type { Mail, MailsQuery } from '@robokids/contracts/notifications'
import type { Database } from '@robokids/runtime/db'
import { and, desc, eq, sql } from 'drizzle-orm'
import { mails, type MailRow } from './schema.ts'

export function mailOf(row: MailRow): Mail {
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

const most = 500

/** The newest 500 mails about a registration, to the owner of an account, or to an address, oldest first. */
export async function listMails(db: Database, { registrationId, userId, email }: MailsQuery): Promise<Mail[]> {
  const asked = and(
    registrationId === undefined ? undefined : eq(mails.registrationId, registrationId),
    userId === undefined ? undefined : eq(mails.userId, userId),
    email === undefined ? undefined : eq(sql`lower(${mails.recipient})`, emailKey(email)),
  )
  const rows = await db.select().from(mails).where(asked).orderBy(desc(mails.id)).limit(most)
  return rows.toReversed().map(mailOf)
}
