import type { Transaction } from '@robokids/runtime/db'
import { and, eq, sql } from 'drizzle-orm'
import { memberships, type Membership } from './schema.ts'

/** Whoever changes anything about the membership of an address holds this until the end of the transaction. */
export async function lockMember(tx: Transaction, emailKey: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('membership'), hashtext(${emailKey}))`)
}

export async function activeMembership(tx: Transaction, emailKey: string): Promise<Membership | undefined> {
  const [membership] = await tx
    .select()
    .from(memberships)
    .where(and(eq(memberships.emailKey, emailKey), eq(memberships.status, 'active')))
  return membership
}
