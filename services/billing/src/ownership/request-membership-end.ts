import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { eq, sql } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { memberships } from '../schema.ts'

/**
 * Requests that the `end-memberships` job ends a membership at the provider. It is not in `membership/` because the end of an
 * account requests it as well.
 */
export async function requestMembershipEnd(
  tx: Transaction,
  { clock }: BillingContext,
  membershipId: string,
  when: 'now' | 'at_period_end',
): Promise<void> {
  await tx
    .update(memberships)
    .set({
      // A later request never postpones an immediate end.
      endRequest: sql`case when ${memberships.endRequest} = 'now' then 'now' else ${when} end`,
      tries: 0,
      nextTryAt: clock.now(),
    })
    .where(eq(memberships.attemptId, membershipId))
  await wakeJob(tx, 'end-memberships')
}
