import type { Job } from '@robokids/runtime/jobs'
import { and, lt } from 'drizzle-orm'
import { deleteAccount } from './accounts.ts'
import type { Config } from '../config.ts'
import { users } from '../schema.ts'
import { isUnconfirmed } from './users.ts'

/** Retention of unconfirmed sign-ups: personal data that may even be somebody else's. */
const unconfirmedUserRetention = { hours: 24 * 30 }
/** Deletions per transaction. */
const batchSize = 100

/** Deletes unconfirmed sign-ups after a while, each with its event. Other rows that expire are in `tables.ts`. */
export const cleanUp: Job<Config> = {
  name: 'clean-up',
  everyMs: 600_000,
  async run({ db, clock }, signal) {
    const before = clock.now().subtract(unconfirmedUserRetention)
    await db.transaction(async (tx) => {
      const forgotten = await tx
        .select()
        .from(users)
        .where(and(isUnconfirmed, lt(users.createdAt, before)))
        .orderBy(users.createdAt)
        .limit(batchSize)
        .for('update', { skipLocked: true })
      for (const user of forgotten) {
        if (signal.aborted) return
        await deleteAccount(tx, user)
      }
    })
  },
}
