import type { Reconciliation } from '@robokids/contracts/billing'
import { formatMoney } from '@robokids/contracts/pricing'
import { sum } from 'drizzle-orm'
import type { BillingContext } from './config.ts'
import { listBalance, recordBalance, startOfBooks } from './record-balance.ts'
import { disputes, ledgerEntries, ledgerTransactions, payments, refunds } from './schema.ts'

const money = (cents: number) =>
  cents < 0 ? `−${formatMoney({ amount: -cents, currency: 'usd' })}` : formatMoney({ amount: cents, currency: 'usd' })

/**
 * Catches up with the provider's list, then holds three things beside each other: that list, the ledger, and what this
 * service knows of payments, refunds and disputes. The first two must agree in each transaction, the last two in each payment.
 */
export async function reconcileLedger(context: BillingContext): Promise<Reconciliation> {
  await recordBalance(context)
  const { db } = context
  const since = await startOfBooks(context)
  const listed = since === undefined ? [] : await listBalance(context, since)
  const transactions = await db.select().from(ledgerTransactions)
  const entries = await db.select().from(ledgerEntries)
  const held = new Map(
    entries.filter(({ account }) => account === 'stripe_balance').map((entry) => [entry.transactionId, entry.amount]),
  )

  const disagreements: string[] = []
  let difference = 0
  const seen = new Set<string>()
  for (const { id, type, net } of listed) {
    seen.add(id)
    const recorded = held.get(id)
    if (recorded === net) continue
    difference += Math.abs(net - (recorded ?? 0))
    disagreements.push(
      `${id} (${type}): the provider has ${money(net)}, the ledger ${recorded === undefined ? 'nothing' : money(recorded)}`,
    )
  }
  for (const { id, type } of transactions) {
    if (seen.has(id)) continue
    const recorded = held.get(id) ?? 0
    difference += Math.abs(recorded)
    disagreements.push(`${id} (${type}): the ledger has ${money(recorded)}, the provider does not list it`)
  }

  const accounts = await db
    .select({ account: ledgerEntries.account, amount: sum(ledgerEntries.amount).mapWith(Number) })
    .from(ledgerEntries)
    .groupBy(ledgerEntries.account)
  const ledgerNet = [...held.values()].reduce((total, amount) => total + amount, 0)
  return {
    stripe: { transactions: listed.length, net: listed.reduce((total, { net }) => total + net, 0) },
    ledger: { transactions: transactions.length, net: ledgerNet },
    difference,
    disagreements,
    unexplained: await unexplained(context, transactions, entries),
    accounts: Object.fromEntries(accounts.map(({ account, amount }) => [account, amount])),
  }
}

type Transactions = (typeof ledgerTransactions.$inferSelect)[]
type Entries = (typeof ledgerEntries.$inferSelect)[]

/** Payments whose money in the ledger is not what this service recorded for them, in either direction. */
async function unexplained({ db }: BillingContext, transactions: Transactions, entries: Entries): Promise<string[]> {
  const moved = new Map<string, { sales: number; refunds: number; disputes: number }>()
  const entriesOf = Map.groupBy(entries, ({ transactionId }) => transactionId)
  const found: string[] = []
  for (const { id, type, stripePaymentIntentId: intentId } of transactions) {
    const about = (entriesOf.get(id) ?? []).filter(({ account }) => ['sales', 'refunds', 'disputes'].includes(account))
    if (about.length === 0) continue
    if (intentId === null) {
      found.push(`${id} (${type}) names no payment`)
      continue
    }
    const sums = moved.get(intentId) ?? { sales: 0, refunds: 0, disputes: 0 }
    for (const { account, amount } of about) sums[account as keyof typeof sums] += amount
    moved.set(intentId, sums)
  }
  const paid = await db.select().from(payments)
  const back = await db.select().from(refunds)
  const disputed = new Set((await db.select().from(disputes)).map((row) => row.stripePaymentIntentId))
  for (const payment of paid) {
    const { stripePaymentIntentId: intentId, amount } = payment
    const sums = moved.get(intentId) ?? { sales: 0, refunds: 0, disputes: 0 }
    moved.delete(intentId)
    if (-sums.sales !== amount)
      found.push(`${intentId}: ${money(amount)} was recorded as paid, the ledger has ${money(-sums.sales)}`)
    const given = back
      .filter((one) => one.paymentId === payment.id && one.stripeRefundId !== null && one.status !== 'failed')
      .reduce((total, one) => total + one.amount, 0)
    if (sums.refunds !== given)
      found.push(`${intentId}: ${money(given)} was recorded as refunded, the ledger has ${money(sums.refunds)}`)
    if (sums.disputes !== 0 && !disputed.has(intentId)) found.push(`${intentId}: a dispute of it is not recorded`)
  }
  for (const [intentId, { sales }] of moved)
    found.push(`${intentId}: ${money(-sales)} came in and belongs to nothing known`)
  return found
}
