import type { Context } from '@robokids/runtime/service'
import { and, eq, gt, lte, notExists, or, sql, type SQL } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Config } from './config.ts'
import { maxWaitForEarlier } from './rules.ts'
import { mails } from './schema.ts'

const earlier = alias(mails, 'earlier')

/**
 * Matches mails without an earlier unsent mail about the same subject to the same recipient, so that a reader gets them in the
 * order of their events. Mails that an administrator resends neither wait nor block others.
 */
export function hasNoEarlierMail({ db, clock }: Pick<Context<Config>, 'db' | 'clock'>): SQL | undefined {
  const earlierUnsent = db
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
  return or(
    gt(mails.sending, 1),
    lte(mails.createdAt, clock.now().subtract(maxWaitForEarlier)),
    notExists(earlierUnsent),
  )
}
