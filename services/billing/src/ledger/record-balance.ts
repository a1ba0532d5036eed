import { eq, inArray, max, min, sql } from 'drizzle-orm'
import type { Stripe } from 'stripe'
import type { BillingContext } from '../config.ts'
import { toLedgerEntries } from './rules.ts'
import { checkoutAttempts, cursors, ledgerEntries, ledgerTransactions, membershipAttempts } from '../schema.ts'
import { callStripe, idOf, stripeTime } from '../stripe/client.ts'

const cursorName = 'stripe_balance'
/** When those of the last hours were listed. */
const overlapCursorName = 'stripe_balance_overlap'
/** Transactions become visible out of order: each run lists those of the last minutes again, and once an hour those of the last hours. */
const shortOverlapSeconds = 10 * 60
const overlapSeconds = 6 * 3600
const overlapEverySeconds = 3600

/** All balance transactions between two seconds. */
export interface BalancePage {
  /** The first of those seconds; null on the last page, which has the rest. The previous page's `from` is the other end. */
  from: number | null
  transactions: Stripe.BalanceTransaction[]
}

/** Lists the balance transactions since a second, newest first. Ends early once `signal` aborts. */
export async function* listBalance(
  context: BillingContext,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<BalancePage> {
  let after: string | undefined
  /** Transactions of the last page's last second, of which the next page may have more. */
  let carriedOver: Stripe.BalanceTransaction[] = []
  while (!signal.aborted) {
    const { data, has_more } = await callStripe(context, (stripe) =>
      stripe.balanceTransactions.list({
        created: { gte: since },
        limit: 100,
        expand: ['data.source'],
        ...(after === undefined ? {} : { starting_after: after }),
      }),
    )
    const listed = [...carriedOver, ...data]
    const last = data.at(-1)
    if (!has_more || !last) {
      yield { from: null, transactions: listed }
      return
    }
    carriedOver = listed.filter(({ created }) => created === last.created)
    yield { from: last.created + 1, transactions: listed.filter(({ created }) => created !== last.created) }
    after = last.id
  }
}

/** The earliest second with transactions of ours; undefined if there never was an attempt. */
export async function ledgerStart({ db }: BillingContext): Promise<number | undefined> {
  const firsts = await Promise.all([
    db.select({ at: min(checkoutAttempts.createdAt) }).from(checkoutAttempts),
    db.select({ at: min(membershipAttempts.createdAt) }).from(membershipAttempts),
  ])
  const [oldest] = firsts.flatMap(([first]) => first?.at?.epochMilliseconds ?? []).toSorted((a, b) => a - b)
  return oldest === undefined ? undefined : Math.floor(oldest / 1000) - overlapSeconds
}

/** Records Stripe's balance transactions in the ledger, each once. */
export async function recordBalance(context: BillingContext, signal: AbortSignal): Promise<void> {
  const { db } = context
  const positionOf = async (name: string) =>
    (await db.select().from(cursors).where(eq(cursors.name, name)))[0]?.position
  const now = Math.floor(stripeTime(context).epochMilliseconds / 1000)
  const isOverlapDue = now - ((await positionOf(overlapCursorName)) ?? 0) >= overlapEverySeconds
  const cursor = await positionOf(cursorName)
  const since =
    cursor === undefined ? await ledgerStart(context) : cursor - (isOverlapDue ? overlapSeconds : shortOverlapSeconds)
  if (since === undefined) return
  for await (const { transactions } of listBalance(context, since, signal))
    await insertTransactions(context, transactions)
  // The newest come first: if aborted, the older ones are listed again from the old cursor.
  if (signal.aborted) return
  const [newest] = await db.select({ at: max(ledgerTransactions.occurredAt) }).from(ledgerTransactions)
  if (!newest?.at) return
  const positions = [
    { name: cursorName, position: Math.floor(newest.at.epochMilliseconds / 1000) },
    ...(isOverlapDue ? [{ name: overlapCursorName, position: now }] : []),
  ]
  await db
    .insert(cursors)
    .values(positions)
    .onConflictDoUpdate({ target: cursors.name, set: { position: sql`excluded.position` } })
}

async function insertTransactions({ db, clock }: BillingContext, listed: Stripe.BalanceTransaction[]): Promise<void> {
  const known = await db
    .select({ id: ledgerTransactions.id })
    .from(ledgerTransactions)
    .where(
      inArray(
        ledgerTransactions.id,
        listed.map(({ id }) => id),
      ),
    )
  const recorded = new Set(known.map(({ id }) => id))
  for (const transaction of listed) {
    if (recorded.has(transaction.id)) continue
    const { id, type, currency, created } = transaction
    await db.transaction(async (tx) => {
      const inserted = await tx
        .insert(ledgerTransactions)
        .values({
          id,
          type,
          source: idOf(transaction.source),
          stripePaymentIntentId: readPaymentIntentId(transaction.source),
          currency,
          occurredAt: Temporal.Instant.fromEpochMilliseconds(created * 1000),
          recordedAt: clock.now().round('millisecond'),
        })
        .onConflictDoNothing()
        .returning({ id: ledgerTransactions.id })
      if (inserted.length === 0) return
      const entries = [...toLedgerEntries(transaction)].map(([account, amount]) => ({
        transactionId: id,
        account,
        amount,
      }))
      await tx.insert(ledgerEntries).values(entries)
    })
  }
}

/** The payment of a charge, refund or dispute. */
function readPaymentIntentId(source: Stripe.BalanceTransaction['source']): string | null {
  if (typeof source === 'string' || source === null) return null
  return 'payment_intent' in source ? idOf(source.payment_intent) : null
}
