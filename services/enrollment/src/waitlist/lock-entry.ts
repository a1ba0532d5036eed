import type { Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import { lockClassSessions } from '../registrations/lock-registration.ts'
import { waitlistEntries } from '../schema.ts'
import { entryNotFound } from './read-entries.ts'

/**
 * Locks the class session of an entry, which locks the entry: nothing else changes it.
 * @throws DomainError `waitlist_entry_not_found`
 */
export async function lockEntry(tx: Transaction, id: string) {
  const [found] = await tx
    .select({ classSessionId: waitlistEntries.classSessionId })
    .from(waitlistEntries)
    .where(eq(waitlistEntries.id, id))
  if (!found) throw entryNotFound()
  const [classSession] = await lockClassSessions(tx, [found.classSessionId])
  const [entry] = await tx.select().from(waitlistEntries).where(eq(waitlistEntries.id, id))
  if (!entry || !classSession) throw entryNotFound()
  return { entry, classSession }
}
