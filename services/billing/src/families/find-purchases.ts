import { maxOfFamily, type FamilyPurchases, type findPurchasesSchema } from '@robokids/contracts/dashboard'
import { emailKey } from '@robokids/contracts/fields'
import { and, desc, eq, inArray, or } from 'drizzle-orm'
import type { z } from 'zod'
import { isRegistrationAttempt, readCheckouts } from '../checkout/read-checkouts.ts'
import type { BillingContext } from '../config.ts'
import { findMemberships, presentMembership } from '../membership/read-memberships.ts'
import { readOwnedOrders } from '../orders/read-orders.ts'
import { readEmailKeys } from '../ownership/owners.ts'
import { buyerKey, checkoutAttempts } from '../schema.ts'

/**
 * Everything that an account paid for, or may still pay. Who owns a registration is enrollment's to say: this finds the
 * checkouts of all that the account may own, by its id and by each address that it has or had.
 */
export async function findPurchases(
  context: BillingContext,
  account: z.infer<typeof findPurchasesSchema>,
): Promise<FamilyPurchases> {
  const { db } = context
  // First: it records an account whose events have not arrived yet.
  const { membership, others } = await findMemberships(context, account)
  const keys = await db.transaction((tx) => readEmailKeys(tx, account.userId))
  const attempts = await db
    .selectDistinct({ purchaseId: checkoutAttempts.purchaseId })
    .from(checkoutAttempts)
    .where(
      and(
        isRegistrationAttempt,
        or(
          eq(checkoutAttempts.ownerId, account.userId),
          inArray(buyerKey(checkoutAttempts), [...new Set([emailKey(account.email), ...keys])]),
        ),
      ),
    )
    // By the client's UUIDv7, which begins with its time.
    .orderBy(desc(checkoutAttempts.purchaseId))
    .limit(maxOfFamily)
  const [checkouts, orders, own, ...rest] = await Promise.all([
    readCheckouts(
      db,
      attempts.map(({ purchaseId }) => purchaseId),
      'registration',
    ),
    readOwnedOrders(db, account.userId, maxOfFamily),
    membership ? presentMembership(db, membership) : null,
    ...others.map((other) => presentMembership(db, other)),
  ])
  return { membership: own, others: rest, checkouts, orders }
}
