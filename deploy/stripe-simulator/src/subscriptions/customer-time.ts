import { idOf } from '../protocol/ids.ts'
import type { Context } from '../resources/context.ts'

/** The test clock that a customer's subscriptions follow; empty for the simulator's own. */
function clockOf(ctx: Context, customer: string | { id: string } | null): string {
  return idOf(ctx.store.customers.get(idOf(customer))?.object.test_clock)
}

/** Runs something at the time of the customer's test clock, or the simulator's. */
export function atTimeOf<T>(ctx: Context, customer: string | { id: string } | null, run: () => T): T {
  const clock = ctx.store.testClocks.get(clockOf(ctx, customer))
  return clock === undefined ? run() : ctx.clock.at(clock.frozen_time, run)
}
