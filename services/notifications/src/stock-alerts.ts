import { randomUUID } from 'node:crypto'
import { emailKey } from '@robokids/contracts/fields'
import type { StockAlert, RequestStockAlert } from '@robokids/contracts/shop'
import { wake, type Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, inArray, isNotNull, lt, ne } from 'drizzle-orm'
import type { Config } from './config.ts'
import { enqueueMail } from './enqueue-mail.ts'
import { isConfirmationMailDue, statesAwaiting } from './rules.ts'
import { stockAlerts, type StockAlertRow, type ProductChange } from './schema.ts'

/** How long a request is kept that nobody confirmed, or that is over. */
const keptHours = 30 * 24
const atOnce = 200

/**
 * Takes down that somebody wants news of a product, and asks the address whether it is so: by one mail a day at most,
 * however often it is typed in. What is confirmed already stays so, and an address that has said no is asked again by whoever
 * has proven that it is theirs alone.
 */
export async function requestStockAlert(context: Context<Config>, request: RequestStockAlert): Promise<void> {
  const { sku, productName, state, email, isProven = false } = request
  const now = context.clock.now()
  await context.db.transaction(async (tx) => {
    // Random, not time-ordered: whoever has it can confirm and remove the request.
    const id = randomUUID()
    const about = { sku, productName, askedState: state, email, emailKey: emailKey(email) }
    await tx
      .insert(stockAlerts)
      .values({ id, ...about, status: 'unconfirmed', mailings: 0, mailedAt: null, changedAt: now })
      .onConflictDoNothing()
    const [row] = await tx
      .select()
      .from(stockAlerts)
      .where(and(eq(stockAlerts.sku, sku), eq(stockAlerts.emailKey, about.emailKey)))
      .for('update')
    if (!row || row.status === 'confirmed') return
    if (row.status === 'removed' && !isProven) {
      // The no is kept for as long as somebody goes on asking.
      await tx.update(stockAlerts).set({ changedAt: now }).where(eq(stockAlerts.id, row.id))
      return
    }
    const isDue = isConfirmationMailDue(row, now)
    const mailings = row.mailings + (isDue ? 1 : 0)
    await tx
      .update(stockAlerts)
      .set({ ...about, status: 'unconfirmed', mailings, changedAt: now, ...(isDue ? { mailedAt: now } : {}) })
      .where(eq(stockAlerts.id, row.id))
    if (!isDue) return
    await enqueueMail(tx, context, {
      kind: 'notice_asked',
      factId: `${row.id}:${mailings}`,
      recipient: email,
      data: { noticeId: row.id, productName, sku },
    })
  })
}

function present({ sku, productName, status }: StockAlertRow): StockAlert {
  return { sku, productName, status }
}

function found(row: StockAlertRow | undefined): StockAlert {
  if (row) return present(row)
  throw new DomainError('notice_not_found', 'We have no such request. It may have been removed already.')
}

/** @throws DomainError notice_not_found; so with the two below */
export async function readStockAlert({ db }: Context<Config>, id: string): Promise<StockAlert> {
  const [row] = await db.select().from(stockAlerts).where(eq(stockAlerts.id, id))
  return found(row)
}

/** The address says yes, perhaps after it had said no. What was told is over. */
export async function confirmStockAlert(context: Context<Config>, id: string): Promise<StockAlert> {
  await context.db
    .update(stockAlerts)
    .set({ status: 'confirmed', changedAt: context.clock.now() })
    .where(and(eq(stockAlerts.id, id), inArray(stockAlerts.status, ['unconfirmed', 'removed'])))
  return readStockAlert(context, id)
}

/** The address says no: nothing more is sent to it, until it says otherwise on the same page or by its account. */
export async function removeStockAlert(context: Context<Config>, id: string): Promise<StockAlert> {
  const [row] = await context.db
    .update(stockAlerts)
    .set({ status: 'removed', changedAt: context.clock.now(), news: null })
    .where(eq(stockAlerts.id, id))
    .returning()
  return found(row)
}

/** Notes for everybody who confirmed and has waited for this that it is to be told: once for each time they asked. */
export async function recordProductChange(
  tx: Transaction,
  { clock }: Context<Config>,
  { sku, name, to, changedAt }: { sku: string } & ProductChange,
): Promise<void> {
  const awaiting = statesAwaiting(to)
  if (awaiting.length === 0) return
  const told = await tx
    .update(stockAlerts)
    .set({ status: 'told', changedAt: clock.now(), news: { name, to, changedAt } })
    .where(
      and(eq(stockAlerts.sku, sku), eq(stockAlerts.status, 'confirmed'), inArray(stockAlerts.askedState, awaiting)),
    )
    .returning({ id: stockAlerts.id })
  if (told.length > 0) await wake(tx, 'enqueue-stock-alerts')
}

/** Orders the mails about what is to be told. As many may wait for one product as there are families: some at a time. */
export async function enqueueStockAlerts(context: Context<Config>, signal: AbortSignal): Promise<void> {
  let isMore = true
  while (isMore && !signal.aborted) {
    isMore = await context.db.transaction(async (tx) => {
      const some = await tx.select().from(stockAlerts).where(isNotNull(stockAlerts.news)).limit(atOnce).for('update')
      const orders = some.flatMap(({ id, sku, email, news }) =>
        news === null
          ? []
          : {
              kind: 'product_available' as const,
              factId: `${id}:${news.changedAt}`,
              recipient: email,
              data: { noticeId: id, productName: news.name, sku, state: news.to },
            },
      )
      await enqueueMail(tx, context, ...orders)
      const ids = some.map(({ id }) => id)
      await tx.update(stockAlerts).set({ news: null }).where(inArray(stockAlerts.id, ids))
      return some.length === atOnce
    })
  }
}

/** Forgets addresses that nobody confirmed, or whose request is over. */
export async function forgetStockAlerts({ db, clock }: Context<Config>): Promise<void> {
  await db
    .delete(stockAlerts)
    .where(
      and(ne(stockAlerts.status, 'confirmed'), lt(stockAlerts.changedAt, clock.now().subtract({ hours: keptHours }))),
    )
}
