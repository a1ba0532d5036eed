import { randomUUID } from 'node:crypto'
import { emailKey } from '@robokids/contracts/fields'
import type { StockAlert, RequestStockAlert } from '@robokids/contracts/shop'
import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import type { Config } from './config.ts'
import { enqueueMail } from './enqueue-mail.ts'
import { isConfirmationMailDue, alertedStates } from './rules.ts'
import { stockAlerts, type StockAlertRow, type ProductChange } from './schema.ts'

const batchSize = 200

/**
 * Records a request for a stock alert and asks the address to confirm it, by at most one mail a day. A confirmed request stays
 * confirmed. After a removal, only a requester with that verified address is asked again.
 */
export async function requestStockAlert(context: Context<Config>, request: RequestStockAlert): Promise<void> {
  const { sku, productName, state, email, isProven = false } = request
  const now = context.clock.now()
  await context.db.transaction(async (tx) => {
    // Random, not time-ordered: anyone with the id can confirm and remove the request.
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
      // The removal is kept as long as requests continue.
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

function toStockAlert({ sku, productName, status }: StockAlertRow): StockAlert {
  return { sku, productName, status }
}

function requireFound(row: StockAlertRow | undefined): StockAlert {
  if (row) return toStockAlert(row)
  throw new DomainError('notice_not_found', 'We can’t find this request. It may already have been removed.')
}

/** @throws DomainError `notice_not_found`, as the two below. */
export async function readStockAlert({ db }: Context<Config>, id: string): Promise<StockAlert> {
  const [row] = await db.select().from(stockAlerts).where(eq(stockAlerts.id, id))
  return requireFound(row)
}

/** Confirms a request, also one that was removed; not one whose alert was sent. */
export async function confirmStockAlert(context: Context<Config>, id: string): Promise<StockAlert> {
  await context.db
    .update(stockAlerts)
    .set({ status: 'confirmed', changedAt: context.clock.now() })
    .where(and(eq(stockAlerts.id, id), inArray(stockAlerts.status, ['unconfirmed', 'removed'])))
  return readStockAlert(context, id)
}

/** Removes a request: nothing more is sent to the address unless it confirms again, on the same page or from its account. */
export async function removeStockAlert(context: Context<Config>, id: string): Promise<StockAlert> {
  const [row] = await context.db
    .update(stockAlerts)
    .set({ status: 'removed', changedAt: context.clock.now(), pendingChange: null })
    .where(eq(stockAlerts.id, id))
    .returning()
  return requireFound(row)
}

/** Marks the confirmed requests that waited for this change, so that each gets one alert. */
export async function recordProductChange(
  tx: Transaction,
  { clock }: Context<Config>,
  { sku, name, to, changedAt }: { sku: string } & ProductChange,
): Promise<void> {
  const askedStates = alertedStates(to)
  if (askedStates.length === 0) return
  const marked = await tx
    .update(stockAlerts)
    .set({ status: 'told', changedAt: clock.now(), pendingChange: { name, to, changedAt } })
    .where(
      and(eq(stockAlerts.sku, sku), eq(stockAlerts.status, 'confirmed'), inArray(stockAlerts.askedState, askedStates)),
    )
    .returning({ id: stockAlerts.id })
  if (marked.length > 0) await wakeJob(tx, 'enqueue-stock-alerts')
}

/** Enqueues the marked alerts, in batches because one product can have thousands. */
export async function enqueueStockAlerts(context: Context<Config>, signal: AbortSignal): Promise<void> {
  let isMore = true
  while (isMore && !signal.aborted) {
    isMore = await context.db.transaction(async (tx) => {
      const batch = await tx
        .select()
        .from(stockAlerts)
        .where(isNotNull(stockAlerts.pendingChange))
        .limit(batchSize)
        .for('update')
      const requests = batch.flatMap(({ id, sku, email, pendingChange }) =>
        pendingChange === null
          ? []
          : {
              kind: 'product_available' as const,
              factId: `${id}:${pendingChange.changedAt}`,
              recipient: email,
              data: { noticeId: id, productName: pendingChange.name, sku, state: pendingChange.to },
            },
      )
      await enqueueMail(tx, context, ...requests)
      const ids = batch.map(({ id }) => id)
      await tx.update(stockAlerts).set({ pendingChange: null }).where(inArray(stockAlerts.id, ids))
      return batch.length === batchSize
    })
  }
}
