import { randomUUIDv7 } from 'node:crypto'
import type { Transaction } from '@robokids/runtime/db'
import { and, asc, desc, eq, gt, inArray, isNull, lte, min, notExists, or } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { updateCredits } from '../refunds/update-credits.ts'
import { membershipCredits, membershipInvoices, memberships, payments } from '../schema.ts'
import { tryEach } from '../try-each.ts'
import { paidMonths, startOfPeriod } from './credit-rules.ts'

type InvoiceRow = typeof membershipInvoices.$inferSelect

const startOf = ({ plan, periodStart, periodEnd }: InvoiceRow) => periodStart ?? startOfPeriod(plan, periodEnd)

/**
 * Inserts the months of a paid invoice; `giveDueCredits` gives those that have begun. The caller has locked the membership.
 * @param now when the first of them is due: the payment makes it so, whatever the clock of the provider says.
 */
export async function insertCredits(tx: Transaction, invoice: InvoiceRow, now: Temporal.Instant): Promise<void> {
  const { membershipId, invoiceId, paymentId, plan, reason } = invoice
  const [begun] = await tx
    .select()
    .from(membershipInvoices)
    .where(
      and(
        eq(membershipInvoices.membershipId, membershipId),
        inArray(membershipInvoices.reason, ['first', 'switch']),
        lte(membershipInvoices.periodEnd, invoice.periodEnd),
      ),
    )
    .orderBy(desc(membershipInvoices.periodEnd))
    .limit(1)
  const earlier = await tx
    .select({ month: membershipCredits.month })
    .from(membershipCredits)
    .where(and(eq(membershipCredits.membershipId, membershipId), isNull(membershipCredits.withdrawn)))
  const period = { plan, reason, start: startOf(invoice), anchor: startOf(begun ?? invoice) }
  const months = paidMonths(
    period,
    earlier.map(({ month }) => month),
  )
  const rows = months.map(({ number, month, startsAt }) => ({
    id: randomUUIDv7(),
    membershipId,
    invoiceId,
    paymentId,
    number,
    month,
    dueAt: number === 0 ? now : startsAt,
  }))
  if (rows.length > 0) await tx.insert(membershipCredits).values(rows).onConflictDoNothing()
}

/** Gives nothing after the end of a membership. */
const isGiven = or(isNull(memberships.cancelAt), gt(memberships.cancelAt, membershipCredits.dueAt))
const isWaiting = and(isNull(membershipCredits.givenAt), eq(memberships.status, 'active'), isGiven)

/** Gives the credits of a membership whose months have begun. The caller has locked the membership. */
export async function giveDueCredits(tx: Transaction, membershipId: string, now: Temporal.Instant): Promise<void> {
  const due = await tx
    .select({ id: membershipCredits.id, paymentId: membershipCredits.paymentId })
    .from(membershipCredits)
    .where(
      and(
        eq(membershipCredits.membershipId, membershipId),
        isNull(membershipCredits.givenAt),
        lte(membershipCredits.dueAt, now),
      ),
    )
    .orderBy(asc(membershipCredits.dueAt), asc(membershipCredits.month))
  for (const { id, paymentId } of due) {
    // A refund or a dispute of it waits.
    await tx.select({ id: payments.id }).from(payments).where(eq(payments.id, paymentId)).for('update')
    await tx.update(membershipCredits).set({ givenAt: now }).where(eq(membershipCredits.id, id))
    await updateCredits(tx, { id: paymentId, membershipId })
  }
}

/**
 * Gives the credits of the months that have begun, of yearly memberships. It also makes up for invoices that a process of the previous
 * version has recorded.
 */
export async function giveCredits(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const now = clock.now()
  const ofInvoice = db
    .select()
    .from(membershipCredits)
    .where(eq(membershipCredits.invoiceId, membershipInvoices.invoiceId))
  const without = await db
    .selectDistinct({ id: memberships.attemptId })
    .from(membershipInvoices)
    .innerJoin(memberships, eq(memberships.attemptId, membershipInvoices.membershipId))
    .where(and(eq(memberships.status, 'active'), isNull(memberships.rejection), notExists(ofInvoice)))
    .limit(500)
  const due = await db
    .selectDistinct({ id: memberships.attemptId })
    .from(membershipCredits)
    .innerJoin(memberships, eq(memberships.attemptId, membershipCredits.membershipId))
    .where(and(isWaiting, lte(membershipCredits.dueAt, now)))
    .limit(500)
  const ids = new Set([...without, ...due].map(({ id }) => id))
  await tryEach(
    signal,
    [...ids],
    (id) => db.transaction((tx) => giveOf(tx, id, now)),
    async (id, error) => {
      log.warn({ err: error, membershipId: id }, 'the credits of a membership could not be given yet')
    },
  )
}

async function giveOf(tx: Transaction, membershipId: string, now: Temporal.Instant): Promise<void> {
  const [membership] = await tx
    .select()
    .from(memberships)
    .where(and(eq(memberships.attemptId, membershipId), eq(memberships.status, 'active')))
    .for('update')
  if (!membership || membership.rejection !== null) return
  const ofInvoice = tx
    .select()
    .from(membershipCredits)
    .where(eq(membershipCredits.invoiceId, membershipInvoices.invoiceId))
  const without = await tx
    .select()
    .from(membershipInvoices)
    .where(and(eq(membershipInvoices.membershipId, membershipId), notExists(ofInvoice)))
    .orderBy(asc(membershipInvoices.periodEnd))
  for (const invoice of without) await insertCredits(tx, invoice, now)
  await giveDueCredits(tx, membershipId, now)
}

/** When the next month of a membership begins that gives a credit. */
export async function nextCreditDue({ db }: BillingContext): Promise<Temporal.Instant | null> {
  const [next] = await db
    .select({ at: min(membershipCredits.dueAt) })
    .from(membershipCredits)
    .innerJoin(memberships, eq(memberships.attemptId, membershipCredits.membershipId))
    .where(isWaiting)
  return next?.at ?? null
}
