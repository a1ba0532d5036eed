import type { Transaction } from '@robokids/runtime/db'
import type { RegistrationRow } from '../registrations/read-registrations.ts'
import { findConflicts } from '../rules.ts'
import { endEntries, openEntriesOf } from './line.ts'

/**
 * Ends the family's other places in the line of a class in which one of their children has just got a paid seat. The class
 * session must be locked.
 */
export async function endWaiting(tx: Transaction, registration: RegistrationRow, now: Temporal.Instant): Promise<void> {
  const { classSessionId, emailKey, ownerId, children } = registration
  const ofFamily = (await openEntriesOf(tx, classSessionId)).filter(
    (entry) => entry.emailKey === emailKey || (ownerId !== null && entry.ownerId === ownerId),
  )
  const served = findConflicts(
    ofFamily.map((entry) => ({ ...entry, separate: false })),
    { children, separate: false },
  )
  await endEntries(tx, classSessionId, served, 'registered', now)
}
