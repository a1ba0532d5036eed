import { randomUUID } from 'node:crypto'
import { emailKey } from '@robokids/contracts/fields'
import type { Notice, ProductState, RequestNotice } from '@robokids/contracts/shop'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, lt, ne } from 'drizzle-orm'
import type { Config } from './config.ts'
import { orderMail } from './order-mail.ts'
import { isAwaited, noticeMailIsDue } from './rules.ts'
import { notices, type NoticeRow } from './schema.ts'

/** How long a request is kept that nobody confirmed, or that is over. */
const keptHours = 30 * 24

/**
 * Takes down that somebody wants news of a product, and asks the address whether it is so: by one mail a day at most,
 * however often it is typed in. What is confirmed already stays so.
 */
export async function askNotice(context: Context<Config>, request: RequestNotice): Promise<void> {
  const { sku, productName, state, email } = request
  const now = context.clock.now()
  await context.db.transaction(async (tx) => {
    // Random, not time-ordered: whoever has it can confirm and remove the request.
    const id = randomUUID()
    const about = { sku, productName, askedState: state, email, emailKey: emailKey(email) }
    await tx
      .insert(notices)
      .values({ id, ...about, status: 'unconfirmed', mailings: 0, mailedAt: null, changedAt: now })
      .onConflictDoNothing()
    const [row] = await tx
      .select()
      .from(notices)
      .where(and(eq(notices.sku, sku), eq(notices.emailKey, about.emailKey)))
      .for('update')
    if (!row || row.status === 'confirmed') return
    const isDue = noticeMailIsDue(row, now)
    const mailings = row.mailings + (isDue ? 1 : 0)
    await tx
      .update(notices)
      .set({ ...about, status: 'unconfirmed', mailings, changedAt: now, ...(isDue ? { mailedAt: now } : {}) })
      .where(eq(notices.id, row.id))
    if (!isDue) return
    await orderMail(tx, context, {
      kind: 'notice_asked',
      factId: `${row.id}:${mailings}`,
      recipient: email,
      data: { noticeId: row.id, productName },
    })
  })
}

function present({ sku, productName, status }: NoticeRow): Notice {
  return { sku, productName, status }
}

function found(row: NoticeRow | undefined): Notice {
  if (row) return present(row)
  throw new DomainError('notice_not_found', 'We have no such request. It may have been removed already.')
}

/** @throws DomainError notice_not_found; so with the two below */
export async function readNotice({ db }: Context<Config>, id: string): Promise<Notice> {
  const [row] = await db.select().from(notices).where(eq(notices.id, id))
  return found(row)
}

/** The address says yes. What is over stays over. */
export async function confirmNotice(context: Context<Config>, id: string): Promise<Notice> {
  await context.db
    .update(notices)
    .set({ status: 'confirmed', changedAt: context.clock.now() })
    .where(and(eq(notices.id, id), eq(notices.status, 'unconfirmed')))
  return readNotice(context, id)
}

/** The address says no: nothing more is sent to it. */
export async function removeNotice(context: Context<Config>, id: string): Promise<Notice> {
  const [row] = await context.db
    .update(notices)
    .set({ status: 'removed', changedAt: context.clock.now() })
    .where(eq(notices.id, id))
    .returning()
  return found(row)
}

/** Writes to everybody who confirmed and has waited for this, once. */
export async function tellWhoAwaits(
  tx: Transaction,
  context: Context<Config>,
  { sku, name, to }: { sku: string; name: string; to: ProductState },
): Promise<void> {
  const confirmed = await tx
    .select()
    .from(notices)
    .where(and(eq(notices.sku, sku), eq(notices.status, 'confirmed')))
    .for('update')
  for (const { id, email, askedState } of confirmed) {
    if (!isAwaited(askedState, to)) continue
    await tx.update(notices).set({ status: 'told', changedAt: context.clock.now() }).where(eq(notices.id, id))
    await orderMail(tx, context, {
      kind: 'product_available',
      factId: `${id}:${to}`,
      recipient: email,
      data: { noticeId: id, productName: name, state: to },
    })
  }
}

/** Forgets addresses that nobody confirmed, or whose request is over. */
export async function forgetNotices({ db, clock }: Context<Config>): Promise<void> {
  await db
    .delete(notices)
    .where(and(ne(notices.status, 'confirmed'), lt(notices.changedAt, clock.now().subtract({ hours: keptHours }))))
}
