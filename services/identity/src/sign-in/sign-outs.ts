import type { Transaction } from '@robokids/runtime/db'
import { and, eq, isNull, ne } from 'drizzle-orm'
import { signIns } from '../schema.ts'

export type EndReason = NonNullable<(typeof signIns.$inferSelect)['endReason']>

/** Ends a sign-in and invalidates its refresh and access tokens. */
export async function endSignIn(tx: Transaction, id: string, reason: EndReason, now: Temporal.Instant): Promise<void> {
  await tx
    .update(signIns)
    .set({ endedAt: now, endReason: reason })
    .where(and(eq(signIns.id, id), isNull(signIns.endedAt)))
}

/** Ends all sign-ins of an account, or those of one device. @param keep the sign-in that continues, if any */
export async function endSignIns(
  tx: Transaction,
  userId: string,
  reason: EndReason,
  now: Temporal.Instant,
  { keep, deviceKey }: { keep?: string; deviceKey?: string } = {},
): Promise<void> {
  await tx
    .update(signIns)
    .set({ endedAt: now, endReason: reason })
    .where(
      and(
        eq(signIns.userId, userId),
        isNull(signIns.endedAt),
        keep === undefined ? undefined : ne(signIns.id, keep),
        deviceKey === undefined ? undefined : eq(signIns.deviceKey, deviceKey),
      ),
    )
}
