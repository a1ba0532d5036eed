import type { Context } from './context.ts'
import { settleDuePayments } from './pay.ts'
import { settleDueRefunds } from './refunds.ts'
import { expireIfDue } from './sessions.ts'

/** Does what time alone brings about: sessions expire, refunds and asynchronous payments settle. */
export function sweep(ctx: Context): void {
  for (const record of ctx.store.sessions.values()) expireIfDue(ctx, record)
  settleDuePayments(ctx)
  settleDueRefunds(ctx)
}
