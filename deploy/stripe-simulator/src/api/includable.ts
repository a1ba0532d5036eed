import { lineItemsOf } from '../checkout/sessions.ts'
import { refundsOf } from '../payments/charges.ts'
import type { Context } from '../resources/context.ts'
import { paymentsOf } from '../subscriptions/invoices.ts'

/** Properties that are only included on request by `expand`. */
export function includable(ctx: Context, target: Record<string, unknown>, part: string): unknown {
  const id = String(target['id'])
  if (target['object'] === 'checkout.session' && part === 'line_items') return lineItemsOf(ctx, id)
  if (target['object'] === 'charge' && part === 'refunds') return refundsOf(ctx, id)
  if (target['object'] === 'invoice' && part === 'payments') return paymentsOf(ctx, id)
  return undefined
}
