import type { Transaction } from '@robokids/runtime/db'
import { and, eq, inArray, isNull, lte, or, type SQL } from 'drizzle-orm'
import { mails, type Subject } from './schema.ts'
import { supersedable, superseding, whySuperseded, type Told } from './supersede.ts'

/** Nobody is sending it, and it is not one that an administrator wants to be sent whatever it says. */
function isOpen(now: Temporal.Instant): SQL | undefined {
  return and(
    eq(mails.status, 'pending'),
    eq(mails.sending, 1),
    or(isNull(mails.leasedUntil), lte(mails.leasedUntil, now)),
  )
}

/**
 * Drops the mails about these subjects that are not true any more by what happened later, as far as that is known here.
 * It is called whenever a mail is ordered, claimed, or could not be sent: so one that is waiting goes when the later one
 * comes, and one that comes late goes when its turn comes. One that is being sent is left alone, as it was true before.
 */
export async function dropSuperseded(
  tx: Transaction,
  subjects: (Subject | null)[],
  now: Temporal.Instant,
): Promise<void> {
  const about = [...new Set(subjects.filter((subject) => subject !== null))]
  if (about.length === 0) return
  const open = await tx
    .select()
    .from(mails)
    .where(and(inArray(mails.subject, about), inArray(mails.kind, supersedable), isOpen(now)))
    .orderBy(mails.id)
  if (open.length === 0) return
  const { subject, kind, recipient, happenedAt, data } = mails
  const facts = await tx
    .select({ subject, kind, recipient, happenedAt, data })
    .from(mails)
    .where(and(inArray(subject, about), inArray(kind, superseding)))
  const factsAbout = Map.groupBy(facts, (fact) => fact.subject)
  for (const mail of open) {
    // With a subject comes a time.
    const reason = whySuperseded(mail as Told, (factsAbout.get(mail.subject) ?? []) as Told[])
    if (reason === undefined) continue
    await tx
      .update(mails)
      .set({ status: 'dropped', lastError: reason, leasedUntil: null })
      .where(and(eq(mails.id, mail.id), isOpen(now)))
  }
}
