/**
 * What time alone brings about. Moving the clock walks through everything that falls due on the way, in order, each at
 * its own time: a year that passes at once has twelve renewals in it, a month apart.
 */
import { settleAsync } from '../checkout/pay.ts'
import { expireIfDue } from '../checkout/sessions.ts'
import type { Context } from '../context.ts'
import { closeDispute, openDispute, undisputable } from '../payments/disputes.ts'
import { settleRefund } from '../payments/refunds.ts'
import { byItself, type Invoice } from '../protocol/types.ts'
import { collectInvoice } from '../subscriptions/collect-invoice.ts'
import { finalizeInvoice } from '../subscriptions/invoices.ts'
import { nextMoment } from '../subscriptions/renew-subscription.ts'

interface Moment {
  at: number
  run: () => void
}

/** Everything that waits for its time. `clock` names a test clock; empty is the simulator's own. */
function* moments(ctx: Context, clock: string): Iterable<Moment> {
  const { store } = ctx
  for (const subscription of store.subscriptions.values()) {
    if ((subscription.test_clock ?? '') !== clock) continue
    const next = nextMoment(ctx, subscription)
    if (next !== null) yield next
  }
  for (const invoice of store.invoices.values()) {
    if ((invoice.test_clock ?? '') !== clock) continue
    const next = momentOf(ctx, invoice)
    if (next !== null) yield next
  }
  // Everything else is tied to no customer's clock.
  if (clock !== '') return
  for (const record of store.sessions.values()) {
    const { object: session, settlement } = record
    if (session.status === 'open') yield { at: session.expires_at, run: () => expireIfDue(ctx, record) }
    if (settlement !== null) {
      yield { at: settlement.at, run: () => settleAsync(ctx, session.id, settlement.outcome) }
    }
  }
  for (const record of store.refunds.values()) {
    const { settlement } = record
    if (settlement !== null) yield { at: settlement.at, run: () => settleRefund(ctx, record, settlement.status) }
  }
  for (const [id, { at }] of store.plannedDisputes) {
    yield { at, run: () => disputePlanned(ctx, id) }
  }
  for (const record of store.disputes.values()) {
    const { settlement } = record
    if (settlement === null) continue
    yield { at: settlement.at, run: () => closeDispute(ctx, record, settlement.outcome, byItself) }
  }
}

function momentOf(ctx: Context, invoice: Invoice): Moment | null {
  if (invoice.status === 'draft' && invoice.automatically_finalizes_at !== null) {
    return { at: invoice.automatically_finalizes_at, run: () => finalizeAndCollect(ctx, invoice) }
  }
  if (invoice.status === 'open' && invoice.next_payment_attempt !== null && invoice.auto_advance) {
    return { at: invoice.next_payment_attempt, run: () => collect(ctx, invoice) }
  }
  return null
}

function finalizeAndCollect(ctx: Context, invoice: Invoice): void {
  finalizeInvoice(ctx, invoice, byItself)
  if (invoice.status === 'open') collect(ctx, invoice)
}

function collect(ctx: Context, invoice: Invoice): void {
  collectInvoice(ctx, invoice, { offSession: true, scheduled: true, cause: byItself })
}

function disputePlanned(ctx: Context, chargeId: string): void {
  ctx.store.plannedDisputes.delete(chargeId)
  const charge = ctx.store.charges.get(chargeId)
  if (charge !== undefined && undisputable(charge) === null) openDispute(ctx, charge)
}

function earliest(ctx: Context, clock: string): Moment | undefined {
  let found: Moment | undefined
  for (const moment of moments(ctx, clock)) {
    if (found === undefined || moment.at < found.at) found = moment
  }
  return found
}

/** When something falls due next; undefined if nothing waits. */
export function nextDue(ctx: Context): number | undefined {
  return earliest(ctx, '')?.at
}

/** Does what is due by the simulator's clock. */
export function catchUp(ctx: Context): void {
  walk(ctx, '', ctx.clock.seconds(), () => {})
}

/** Does what falls due up to `until` on one clock, each at its time, which `reached` hears of first. */
export function walk(ctx: Context, clock: string, until: number, reached: (at: number) => void): void {
  for (;;) {
    const moment = earliest(ctx, clock)
    if (moment === undefined || moment.at > until) return
    reached(moment.at)
    ctx.clock.at(moment.at, moment.run)
  }
}

/** Moves the simulator's clock on. */
export function advanceClock(ctx: Context, seconds: number): void {
  setOffset(ctx, ctx.clock.offsetMs + seconds * 1000)
}

export function setOffset(ctx: Context, offsetMs: number): void {
  ctx.clock.offsetMs = offsetMs
  ctx.store.clockOffsetMs = offsetMs
  catchUp(ctx)
}
