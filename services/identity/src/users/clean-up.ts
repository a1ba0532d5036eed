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

/** A sign-in without a refresh token may still have an access token of this lifetime. */
const maxAccessTokenLife = { hours: 24 }
/** Clients confirm a device at once or never. */
const unconfirmedDeviceRetention = { hours: 24 }
/** Retention of used and expired codes, so that they can be reported as such. */
const usedCodeRetention = { hours: 24 * 30 }
/** Retention of unconfirmed sign-ups: personal data that may even be somebody else's. */
const unconfirmedUserRetention = { hours: 24 * 30 }
/** Deletions per transaction. */
const batchSize = 100
/** Retention of known addresses after the last sign-in. */
const knownAddressRetention = { hours: 24 * 180 }

/** Browsers keep cookies this long: a device unused since is gone. */
const deviceRetention = { hours: 24 * 400 }

/** Deletes expired rows. */
export const cleanUp: Job<Config> = {
  name: 'clean-up',
  // Expired rows have no effect, and some deletions scan whole tables, so this runs rarely.
  everyMs: 600_000,
  async run({ db, clock }, signal) {
    const now = clock.now()
    const token = db
      .select({ one: sql`1` })
      .from(refreshTokens)
      .where(eq(refreshTokens.signInId, signIns.id))
    const over = now.subtract(maxAccessTokenLife)
    const deletions = [
      ...[signInSteps, limits, mfaSetups, refreshTokens, simulatedNames].map((table) =>
        db.delete(table).where(lt(table.expiresAt, now)),
      ),
      db.delete(codes).where(lt(codes.expiresAt, now.subtract(usedCodeRetention))),
      // An ended sign-in is kept for as long as its tokens would have lived, so that their use is reported as revoked.
      db
        .delete(signIns)
        .where(
          and(notExists(token), lt(signIns.signedInAt, over), or(isNull(signIns.endedAt), lt(signIns.endedAt, over))),
        ),
      db
        .delete(devices)
        .where(and(isNull(devices.sealedSrpVerifier), lt(devices.createdAt, now.subtract(unconfirmedDeviceRetention)))),
      db.delete(devices).where(lt(devices.lastSignInAt, now.subtract(deviceRetention))),
      db.delete(knownAddresses).where(lt(knownAddresses.lastSeenAt, now.subtract(knownAddressRetention))),
    ]
    for (const deletion of deletions) {
      if (signal.aborted) return
      // Drizzle runs a statement when it is awaited.
      await deletion
    }
    if (signal.aborted) return
    await db.transaction(async (tx) => {
      const forgotten = await tx
        .select()
        .from(users)
        .where(and(isUnconfirmed, lt(users.createdAt, now.subtract(unconfirmedUserRetention))))
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
