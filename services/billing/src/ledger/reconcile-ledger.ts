import type { Reconciliation } from '@robokids/contracts/billing'
import { formatMoney } from '@robokids/contracts/pricing'
import { and, eq, gte, inArray, lt, max, or, sql, sum } from 'drizzle-orm'
import type { BillingContext } from '../config.ts'
import { listBalance, recordBalance, ledgerStart } from './record-balance.ts'
import { disputes, ledgerEntries, ledgerTransactions, payments, refunds } from '../schema.ts'

const maxLines = 1_000

const money = (cents: number) =>
  cents < 0 ? `−${formatMoney({ amount: -cents, currency: 'usd' })}` : formatMoney({ amount: cents, currency: 'usd' })

const at = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000)

/**
 * Records new balance transactions, then compares Stripe's list, the ledger, and this service's payments, refunds and
 * disputes. Stripe and the ledger must agree per transaction, the ledger and the service per payment.
 * @param since start of the comparison; by default the start of the ledger.
 * @param signal aborts when the client disconnects.
 */
export async function reconcileLedger(
  context: BillingContext,
  since: Temporal.Instant | undefined,
  signal: AbortSignal,
): Promise<Reconciliation> {
  await recordBalance(context, signal)
  const { db } = context
  const begin = since ? Math.floor(since.epochMilliseconds / 1000) : await ledgerStart(context)
  const stripe = { transactions: 0, net: 0 }
  const ledger = { transactions: 0, net: 0 }
  let difference = 0
  const disagreements: string[] = []
  const disagree = (line: string) => {
    if (disagreements.length < maxLines) disagreements.push(line)
  }

  const [newest] = await db.select({ at: max(ledgerTransactions.occurredAt) }).from(ledgerTransactions)
  // Transactions recorded from now on are not compared.
  let before = newest?.at?.add({ seconds: 1 })
  const pages = begin === undefined ? [] : listBalance(context, begin, signal)
  for await (const { from, transactions } of pages) {
    const start = from === null ? since : at(from)
    const recorded = await recordedBetween(
      context,
      start,
      before,
      transactions.map(({ id }) => id),
    )
    before = start
    for (const { id, type, net } of transactions) {
      stripe.transactions++
      stripe.net += net
      const held = recorded.get(id)
      if (held?.amount === net) continue
      difference += Math.abs(net - (held?.amount ?? 0))
      disagree(
        `${id} (${type}): the provider has ${money(net)}, the ledger ${held === undefined ? 'nothing' : money(held.amount)}`,
      )
    }
    const listed = new Set(transactions.map(({ id }) => id))
    for (const [id, { type, amount }] of recorded) {
      ledger.transactions++
      ledger.net += amount
      if (listed.has(id)) continue
      difference += Math.abs(amount)
      disagree(`${id} (${type}): the ledger has ${money(amount)}, the provider does not list it`)
    }
  }
  signal.throwIfAborted()

  const accounts = await db
    .select({ account: ledgerEntries.account, amount: sum(ledgerEntries.amount).mapWith(Number) })
    .from(ledgerEntries)
    .groupBy(ledgerEntries.account)
  return {
    stripe,
    ledger,
    difference,
    disagreements,
    unexplained: await findUnexplained(context, since),
    accounts: Object.fromEntries(accounts.map(({ account, amount }) => [account, amount])),
  }
}

/** Returns the ledger's transactions between two instants, and those with these ids, each with its effect on Stripe's balance. */
async function recordedBetween(
  { db }: BillingContext,
  start: Temporal.Instant | undefined,
  before: Temporal.Instant | undefined,
  ids: string[],
): Promise<Map<string, { type: string; amount: number }>> {
  const { id, type, occurredAt } = ledgerTransactions
  const between = and(start && gte(occurredAt, start), before && lt(occurredAt, before))
  const rows = await db
    .select({ id, type, amount: ledgerEntries.amount })
    .from(ledgerTransactions)
    .leftJoin(ledgerEntries, and(eq(ledgerEntries.transactionId, id), eq(ledgerEntries.account, 'stripe_balance')))
    .where(between && or(between, inArray(id, ids)))
  return new Map(rows.map((row) => [row.id, { type: row.type, amount: row.amount ?? 0 }]))
}

/** Payments whose amounts in the ledger differ from those recorded by this service. */
async function findUnexplained({ db }: BillingContext, since: Temporal.Instant | undefined): Promise<string[]> {
  const from = since?.toString() ?? '-infinity'
  const nameless = await db.execute<{ id: string; type: string }>(sql`
    select id, type from ${ledgerTransactions} as booked
    where stripe_payment_intent_id is null and occurred_at >= ${from} and exists (
      select from ${ledgerEntries} where transaction_id = booked.id and account in ('sales', 'refunds', 'disputes'))
    order by occurred_at, id limit ${maxLines}`)
  // Payments with transactions since then, each compared over its whole history.
  const unlike = await db.execute<{
    intent: string
    paid: number | null
    given: string
    sales: string
    refunds: string
    disputed: boolean
  }>(sql`
    with recent as (
      select stripe_payment_intent_id as intent from ${ledgerTransactions}
      where occurred_at >= ${from} and stripe_payment_intent_id is not null
      union select stripe_payment_intent_id from ${payments} where paid_at >= ${from}
    ), moved as (
      select stripe_payment_intent_id as intent,
        coalesce(-sum(amount) filter (where account = 'sales'), 0) as sales,
        coalesce(sum(amount) filter (where account = 'refunds'), 0) as refunds,
        coalesce(sum(amount) filter (where account = 'disputes'), 0) as disputes
      from ${ledgerTransactions} as booked join ${ledgerEntries} as entry on entry.transaction_id = booked.id
      where stripe_payment_intent_id in (select intent from recent) and account in ('sales', 'refunds', 'disputes')
      group by stripe_payment_intent_id
    ), given as (
      select payment_id, sum(amount) as amount from ${refunds}
      where stripe_refund_id is not null and status <> 'failed'
      group by payment_id
    ), compared as (
      select recent.intent, paid_at, payment.amount as paid, coalesce(given.amount, 0) as given,
        moved.intent is not null as has_moved, coalesce(sales, 0) as sales, coalesce(refunds, 0) as refunds,
        coalesce(disputes, 0) <> 0 and not exists (
          select from ${disputes} as dispute where dispute.stripe_payment_intent_id = recent.intent) as disputed
      from recent
        left join moved on moved.intent = recent.intent
        left join ${payments} as payment on payment.stripe_payment_intent_id = recent.intent
        left join given on given.payment_id = payment.id
    )
    select intent, paid, given, sales, refunds, disputed from compared
    where case when paid is null then has_moved else sales <> paid or refunds <> given or disputed end
    order by paid is null, paid_at, intent limit ${maxLines}`)
  return [
    ...nameless.rows.map(({ id, type }) => `${id} (${type}) names no payment`),
    ...unlike.rows.flatMap(({ intent, disputed, ...cents }) => {
      const [sales, given, back] = [Number(cents.sales), Number(cents.given), Number(cents.refunds)]
      if (cents.paid === null) return [`${intent}: ${money(sales)} came in and belongs to nothing known`]
      return [
        ...(sales === cents.paid
          ? []
          : [`${intent}: ${money(cents.paid)} was recorded as paid, the ledger has ${money(sales)}`]),
        ...(back === given
          ? []
          : [`${intent}: ${money(given)} was recorded as refunded, the ledger has ${money(back)}`]),
        ...(disputed ? [`${intent}: a dispute of it is not recorded`] : []),
      ]
    }),
  ]
}
