import { idOf } from '../protocol/ids.ts'
import type { Context } from '../resources/context.ts'

/** The email address prefilled on the page. */
export function knownEmail(ctx: Context, sessionId: string): string | null {
  const session = ctx.store.sessions.get(sessionId)?.object
  if (session === undefined) return null
  const customer = ctx.store.customers.get(idOf(session.customer))
  return session.customer_email ?? customer?.object.email ?? null
}
