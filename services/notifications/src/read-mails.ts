import type { Mail } from '@robokids/contracts/notifications'
import type { Database } from '@robokids/runtime/db'
import { asc, eq } from 'drizzle-orm'
import { mails, type MailRow } from './schema.ts'

export function mailOf(row: MailRow): Mail {
  const { id: mailId, fact, kind, registrationId, recipient, status, attempts, lastError, sentAt } = row
  return {
    mailId,
    kind,
    fact,
    registrationId,
    recipient,
    status,
    attempts,
    lastError,
    sentAt: sentAt?.toString({ fractionalSecondDigits: 3 }) ?? null,
  }
}

/** All mails about a registration, oldest first. */
export async function listMails(db: Database, registrationId: string): Promise<Mail[]> {
  const rows = await db.select().from(mails).where(eq(mails.registrationId, registrationId)).orderBy(asc(mails.id))
  return rows.map(mailOf)
}
