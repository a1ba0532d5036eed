import { noSuch } from '../protocol/errors.ts'
import { newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import { expandParam, listParams, notSimulated, oneOf, optional, string, timeRange } from '../protocol/params.ts'
import type { BalanceTransaction } from '../protocol/types.ts'
/** Balance transactions: the effects of charges and refunds on the merchant's balance, with a plausible fee. */
import type { Context } from '../resources/context.ts'
import { get, type Routes } from '../resources/routes.ts'
import { newestFirst } from '../store/store.ts'

const day = 24 * 3600

export function recordBalance(
  ctx: Context,
  of: {
    type: 'adjustment' | 'charge' | 'refund' | 'refund_failure'
    source: string
    /** Negative for outgoing money. */
    amount: number
    currency: string
    description: string | null
    /** Default: Stripe's fee for a charge, otherwise zero. */
    fee?: number
    feeDescription?: string
    reportingCategory?: string
  },
): BalanceTransaction {
  const now = ctx.clock.seconds()
  // Stripe's list price for cards in the United States; refunds do not return it.
  const fee = of.fee ?? (of.type === 'charge' ? Math.round(of.amount * 0.029) + 30 : 0)
  const transaction: BalanceTransaction = {
    id: newId('txn_3'),
    object: 'balance_transaction',
    amount: of.amount,
    available_on: now + 2 * day,
    balance_type: 'payments',
    created: now,
    currency: of.currency,
    description: of.description,
    exchange_rate: null,
    fee,
    fee_details:
      fee === 0
        ? []
        : [
            {
              amount: fee,
              application: null,
              currency: of.currency,
              description: of.feeDescription ?? 'Stripe processing fees',
              type: 'stripe_fee',
            },
          ],
    net: of.amount - fee,
    reporting_category: of.reportingCategory ?? of.type,
    source: of.source,
    status: 'pending',
    type: of.type,
  }
  ctx.store.balanceTransactions.set(transaction.id, transaction)
  return transaction
}

/** The current state: money becomes available after two days. */
function current(ctx: Context, transaction: BalanceTransaction): BalanceTransaction {
  const status = transaction.available_on <= ctx.clock.seconds() ? 'available' : 'pending'
  return { ...transaction, status }
}

const types = ['adjustment', 'charge', 'payment', 'payout', 'refund', 'refund_failure', 'stripe_fee'] as const

export const balanceTransactionRoutes: Routes = (route) => {
  route(
    get(
      '/v1/balance_transactions',
      {
        ...listParams,
        created: timeRange(),
        currency: optional(string(10)),
        payout: notSimulated(),
        source: optional(string()),
        type: optional(oneOf(types)),
      },
      (ctx, { created, currency, source, type, ...paging }) => {
        const found = newestFirst(ctx.store.balanceTransactions)
          .filter(
            (one) =>
              created(one.created) &&
              (currency === undefined || one.currency === currency) &&
              (source === undefined || one.source === source) &&
              (type === undefined || one.type === type),
          )
          .map((one) => current(ctx, one))
        return page(found, paging, '/v1/balance_transactions', 'balance transaction')
      },
    ),
  )

  route(
    get('/v1/balance_transactions/:id', expandParam, (ctx, _params, { id }) => {
      const transaction = ctx.store.balanceTransactions.get(id)
      if (transaction === undefined) throw noSuch('balance transaction', id, 'id')
      return current(ctx, transaction)
    }),
  )

  route(
    get('/v1/balance', expandParam, (ctx) => {
      const sums = new Map<string, { available: number; pending: number }>()
      for (const one of ctx.store.balanceTransactions.values()) {
        const sum = sums.get(one.currency) ?? { available: 0, pending: 0 }
        sums.set(one.currency, sum)
        sum[current(ctx, one).status === 'available' ? 'available' : 'pending'] += one.net
      }
      if (sums.size === 0) sums.set('usd', { available: 0, pending: 0 })
      const amounts = (of: 'available' | 'pending') =>
        [...sums].map(([currency, sum]) => ({ amount: sum[of], currency, source_types: { card: sum[of] } }))
      return { object: 'balance', available: amounts('available'), livemode: false, pending: amounts('pending') }
    }),
  )
}
