import { memberCreditChanged } from '@robokids/contracts/member-classes'
import type { PaymentState } from '@robokids/contracts/billing'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, asc, eq, isNotNull } from 'drizzle-orm'
import { membershipCredits, membershipInvoices, memberships, payments, disputes, refunds } from '../schema.ts'
import { paymentState, withdrawnBecause } from './rules.ts'

async function readPaymentState(tx: Transaction, paymentId: string): Promise<PaymentState> {
  const [payment] = await tx.select().from(payments).where(eq(payments.id, paymentId))
  if (!payment) throw new Error(`The payment ${paymentId} was not found.`)
  const back = await tx.select().from(refunds).where(eq(refunds.paymentId, paymentId))
  const disputed = await tx.select().from(disputes).where(eq(disputes.paymentId, paymentId))
  return paymentState(payment, back, disputed)
}

/**
 * Publishes the credits of a payment that were given or taken back since. Called whenever the payment's state may have changed; the
 * caller has locked the payment.
 */
export async function updateCredits(
  tx: Transaction,
  { id: paymentId, membershipId }: { id: string; membershipId: string | null },
): Promise<void> {
  if (membershipId === null) return
  const rows = await tx
    .select({ credit: membershipCredits, membership: memberships, reason: membershipInvoices.reason })
    .from(membershipCredits)
    .innerJoin(memberships, eq(memberships.attemptId, membershipCredits.membershipId))
    .innerJoin(membershipInvoices, eq(membershipInvoices.invoiceId, membershipCredits.invoiceId))
    .where(and(eq(membershipCredits.paymentId, paymentId), isNotNull(membershipCredits.givenAt)))
    .orderBy(asc(membershipCredits.number))
  if (rows.length === 0) return
  const withdrawn = withdrawnBecause(await readPaymentState(tx, paymentId))
  for (const { credit, membership, reason } of rows) {
    if (credit.version > 0 && credit.withdrawn === withdrawn) continue
    const version = credit.version + 1
    await tx.update(membershipCredits).set({ withdrawn, version }).where(eq(membershipCredits.id, credit.id))
    await publish(tx, memberCreditChanged, membershipId, {
      creditId: credit.id,
      membershipId,
      email: membership.email,
      ownerId: membership.userId,
      paymentId,
      month: credit.month,
      isFirst: reason === 'first' && credit.number === 0,
      withdrawn,
      version,
    })
  }
}
