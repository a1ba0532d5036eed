import type { Job } from '@robokids/runtime/jobs'
import { and, eq, isNull, lt, notExists, or, sql } from 'drizzle-orm'
import { deleteAccount } from './accounts.ts'
import type { Config } from '../config.ts'
import {
  codes,
  devices,
  knownAddresses,
  limits,
  refreshTokens,
  mfaSetups,
  signInSteps,
  signIns,
  simulatedNames,
  users,
} from '../schema.ts'
import { isUnconfirmed } from './users.ts'

/** A sign-in without a refresh token may still have an access token that lives so long. */
const longestAccess = { hours: 24 }
/** A device that its client does not confirm at once, it never will. */
const confirming = { hours: 24 }
/** Who gives a code that is used or too old is told so, for so long. */
const remembered = { hours: 24 * 30 }
/** Whoever has not confirmed a sign-up by then will not: what they typed, of themselves or of somebody else, is not kept. */
const toConfirm = { hours: 24 * 30 }
/** As many at once as one transaction takes well. */
const atOnce = 100
/** An address that was not signed in from for so long is like any other. */
const known = { hours: 24 * 180 }

/** Browsers keep what a device is known by so long: one that was not signed in with since is gone. */
const deviceLife = { hours: 24 * 400 }

/** Deletes what has expired and means nothing any more. */
export const cleanUp: Job<Config> = {
  name: 'clean-up',
  // What has expired counts no more, deleted or not: some of it is looked for through whole tables.
  everyMs: 600_000,
  async run({ db, clock }, signal) {
    const now = clock.now()
    const token = db
      .select({ one: sql`1` })
      .from(refreshTokens)
      .where(eq(refreshTokens.signInId, signIns.id))
    const over = now.subtract(longestAccess)
    const deletions = [
      ...[signInSteps, limits, mfaSetups, refreshTokens, simulatedNames].map((table) =>
        db.delete(table).where(lt(table.expiresAt, now)),
      ),
      db.delete(codes).where(lt(codes.expiresAt, now.subtract(remembered))),
      // One that was ended keeps its row, and its tokens, for as long as these would have lived: so that who has them is told.
      db
        .delete(signIns)
        .where(
          and(notExists(token), lt(signIns.signedInAt, over), or(isNull(signIns.endedAt), lt(signIns.endedAt, over))),
        ),
      db.delete(devices).where(and(isNull(devices.sealedSrpVerifier), lt(devices.createdAt, now.subtract(confirming)))),
      db.delete(devices).where(lt(devices.lastSignInAt, now.subtract(deviceLife))),
      db.delete(knownAddresses).where(lt(knownAddresses.lastSeenAt, now.subtract(known))),
    ]
    for (const deletion of deletions) {
      if (signal.aborted) return
      // Runs now: drizzle's statements begin when they are waited for.
      await deletion
    }
    if (signal.aborted) return
    await db.transaction(async (tx) => {
      const forgotten = await tx
        .select()
        .from(users)
        .where(and(isUnconfirmed, lt(users.createdAt, now.subtract(toConfirm))))
        .orderBy(users.createdAt)
        .limit(atOnce)
        .for('update', { skipLocked: true })
      for (const user of forgotten) {
        if (signal.aborted) return
        await deleteAccount(tx, user)
      }
    })
  },
}
