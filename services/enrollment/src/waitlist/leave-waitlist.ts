import type { WaitlistEntry } from '@robokids/contracts/waitlist'
import type { Context } from '@robokids/runtime/service'
import type { Config } from '../config.ts'
import { endEntries } from './line.ts'
import { lockEntry } from './lock-entry.ts'
import { readEntry } from './read-entries.ts'

/**
 * Takes a family out of the line, with its offer if it has one: the seats go to the next family. Does nothing if that is done.
 * @throws DomainError `waitlist_entry_not_found`
 */
export function leaveWaitlist(id: string, context: Context<Config>): Promise<WaitlistEntry> {
  return context.db.transaction(async (tx) => {
    const { entry, classSession } = await lockEntry(tx, id)
    await endEntries(tx, classSession.id, [entry], 'left', context.clock.now())
    return readEntry(tx, id)
  })
}
