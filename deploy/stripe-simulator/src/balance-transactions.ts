/** Balance transactions: what a charge or refund did to the merchant's balance, with a plausible fee. */
import type { Context } from './context.ts'
import { noSuch } from './errors.ts'
import { newId } from './ids.ts'
import { expandParam } from './params.ts'
import { get, type Routes } from './routes.ts'
import type { BalanceTransaction } from './types.ts'

const DAY = 24 * 3600

export function recordBalance(
  ctx: Context,
  of: {
    type: 'charge' | 'refund' | 'refund_failure'
    source: string
    /** Negative for money that leaves. */
    amount: number
    currency: string
    description: string | null
  },
): BalanceTransaction {
  const now = ctx.clock.seconds()
  // Stripe's list price for cards in the United States; a refund gives no fee back.
  const fee = of.type === 'charge' ? Math.round(of.amount * 0.029) + 30 : 0
  const transaction: BalanceTransaction = {
    id: newId('txn_3'),
    object: 'balance_transaction',
    amount: of.amount,
    available_on: now + 2 * DAY,
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
              description: 'Stripe processing fees',
              type: 'stripe_fee',
            },
          ],
    net: of.amount - fee,
    reporting_category: of.type,
    source: of.source,
    status: 'pending',
    type: of.type,
  }
  ctx.store.balanceTransactions.set(transaction.id, transaction)
  return transaction
}

export const balanceTransactionRoutes: Routes = (route) => {
  route(
    get('/v1/balance_transactions/:id', expandParam, (ctx, _params, { id }) => {
      const transaction = ctx.store.balanceTransactions.get(id)
      if (transaction === undefined) throw noSuch('balance transaction', id, 'id')
      return transaction
    }),
  )
}
