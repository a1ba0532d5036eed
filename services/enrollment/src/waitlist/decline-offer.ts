import type { WaitlistEntry } from '@robokids/contracts/waitlist'
import type { Context } from '@robokids/runtime/service'
import type { Config } from '../config.ts'
import { endEntries } from './line.ts'
import { lockEntry } from './lock-entry.ts'
import { readEntry } from './read-entries.ts'

/**
 * Gives the offered seats to the next family. Does nothing if the entry has ended, or waits for its offer.
 * @throws DomainError `waitlist_entry_not_found`
 */
export function declineOffer(id: string, context: Context<Config>): Promise<WaitlistEntry> {
  return context.db.transaction(async (tx) => {
    const { entry, classSession } = await lockEntry(tx, id)
    if (entry.status === 'offered') {
      await endEntries(tx, classSession.id, [entry], 'declined', context.clock.now())
    }
    return readEntry(tx, id)
  })
}
