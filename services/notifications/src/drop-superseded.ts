import type { Transaction } from '@robokids/runtime/db'
import { and, eq, inArray, isNull, lte, or, type SQL } from 'drizzle-orm'
import { mails, type Subject } from './schema.ts'
import { supersedable, superseding, supersededReason, type MailFact } from './supersede.ts'

/** Matches pending mails that are not being sent and were not requested by an administrator (those are sent in any case). */
function isOpen(now: Temporal.Instant): SQL | undefined {
  return and(
    eq(mails.status, 'pending'),
    eq(mails.sending, 1),
    or(isNull(mails.leasedUntil), lte(mails.leasedUntil, now)),
  )
}

/**
 * Drops the mails about these subjects that are outdated by later events. Called whenever a mail is enqueued, claimed or could
 * not be sent, so that a pending mail is dropped when the later event arrives, and a late mail before it is sent. A mail that
 * is being sent is not touched.
 * @param claimed only these mails, which the transaction has locked: it waits for no other process.
 */
export async function dropSuperseded(
  tx: Transaction,
  subjects: (Subject | null)[],
  now: Temporal.Instant,
  claimed?: string[],
): Promise<void> {
  const about = [...new Set(subjects.filter((subject) => subject !== null))]
  if (about.length === 0) return
  const open = await tx
    .select()
    .from(mails)
    .where(
      and(
        inArray(mails.subject, about),
        inArray(mails.kind, supersedable),
        isOpen(now),
        claimed && inArray(mails.id, claimed),
      ),
    )
    .orderBy(mails.id)
  if (open.length === 0) return
  const { subject, kind, recipient, happenedAt, data } = mails
  const facts = await tx
    .select({ subject, kind, recipient, happenedAt, data })
    .from(mails)
    .where(and(inArray(subject, about), inArray(kind, superseding)))
  const factsAbout = Map.groupBy(facts, (fact) => fact.subject)
  for (const mail of open) {
    // A mail with a subject always has a time.
    const reason = supersededReason(mail as MailFact, (factsAbout.get(mail.subject) ?? []) as MailFact[])
    if (reason === undefined) continue
    await tx
      .update(mails)
      .set({ status: 'dropped', lastError: reason, leasedUntil: null })
      .where(and(eq(mails.id, mail.id), isOpen(now)))
  }
}
