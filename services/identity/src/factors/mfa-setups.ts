import type { Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import type { Call } from '../protocol/protocol.ts'
import { mfaSetups, type User } from '../schema.ts'

type Kind = (typeof mfaSetups.$inferSelect)['kind']

export const setUpPurpose = (kindAndUser: string) => `set-up:${kindAndUser}`
const purposeOf = (user: User, kind: Kind) => setUpPurpose(`${kind}:${user.id}`)
const ownOf = (user: User, kind: Kind) => and(eq(mfaSetups.userId, user.id), eq(mfaSetups.kind, kind))

/** Starts an MFA setup, replacing an earlier one of this kind. */
export async function beginSetUp(
  tx: Transaction,
  user: User,
  kind: Kind,
  secret: string,
  life: Temporal.DurationLike,
  { context: { config, clock } }: Call,
): Promise<void> {
  const values = {
    sealedState: config.SEALING_KEYS.seal(secret, purposeOf(user, kind)),
    expiresAt: clock.now().add(life),
  }
  await tx
    .insert(mfaSetups)
    .values({ userId: user.id, kind, ...values })
    .onConflictDoUpdate({ target: [mfaSetups.userId, mfaSetups.kind], set: values })
}

/** Returns the secret of a started setup. @returns undefined if none was started, or it has expired */
export async function openSetUp(
  tx: Transaction,
  user: User,
  kind: Kind,
  { context: { config, clock } }: Call,
): Promise<string | undefined> {
  const [begun] = await tx.select().from(mfaSetups).where(ownOf(user, kind))
  if (!begun || Temporal.Instant.compare(begun.expiresAt, clock.now()) <= 0) return undefined
  return config.SEALING_KEYS.open(begun.sealedState, purposeOf(user, kind))?.toString()
}

export async function endSetUp(tx: Transaction, user: User, kind: Kind): Promise<void> {
  await tx.delete(mfaSetups).where(ownOf(user, kind))
}
