/**
 * Scheduled effects of time. Advancing the clock runs everything that falls due, in order, each at
 * its own time: a year has twelve renewals, a month apart.
 */
import { settleAsync } from '../checkout/pay.ts'
import { expireIfDue } from '../checkout/sessions.ts'
import { closeDispute, openDispute, undisputable } from '../payments/disputes.ts'
import { settleRefund } from '../payments/refunds.ts'
import { noRequest, type Invoice } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { collectInvoice } from '../subscriptions/collect-invoice.ts'
import { finalizeInvoice } from '../subscriptions/invoices.ts'
import { nextSubscriptionEffect } from '../subscriptions/renew-subscription.ts'

interface ScheduledEffect {
  at: number
  run: () => void
}

/** All scheduled effects. `clock` is the id of a test clock; empty for the simulator's own. */
function* scheduledEffects(ctx: Context, clock: string): Iterable<ScheduledEffect> {
  const { store } = ctx
  for (const subscription of store.subscriptions.values()) {
    if ((subscription.test_clock ?? '') !== clock) continue
    const next = nextSubscriptionEffect(ctx, subscription)
    if (next !== null) yield next
  }
  for (const invoice of store.invoices.values()) {
    if ((invoice.test_clock ?? '') !== clock) continue
    const next = invoiceEffect(ctx, invoice)
    if (next !== null) yield next
  }
  // The others do not depend on a customer's clock.
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
    yield { at: settlement.at, run: () => closeDispute(ctx, record, settlement.outcome, noRequest) }
  }
}

function invoiceEffect(ctx: Context, invoice: Invoice): ScheduledEffect | null {
  if (invoice.status === 'draft' && invoice.automatically_finalizes_at !== null) {
    return { at: invoice.automatically_finalizes_at, run: () => finalizeAndCollect(ctx, invoice) }
  }
  if (invoice.status === 'open' && invoice.next_payment_attempt !== null && invoice.auto_advance) {
    return { at: invoice.next_payment_attempt, run: () => collect(ctx, invoice) }
  }
  return null
}

function finalizeAndCollect(ctx: Context, invoice: Invoice): void {
  finalizeInvoice(ctx, invoice, noRequest)
  if (invoice.status === 'open') collect(ctx, invoice)
}

function collect(ctx: Context, invoice: Invoice): void {
  collectInvoice(ctx, invoice, { offSession: true, scheduled: true, cause: noRequest })
}

function disputePlanned(ctx: Context, chargeId: string): void {
  ctx.store.plannedDisputes.delete(chargeId)
  const charge = ctx.store.charges.get(chargeId)
  if (charge !== undefined && undisputable(charge) === null) openDispute(ctx, charge)
}

function earliest(ctx: Context, clock: string): ScheduledEffect | undefined {
  let found: ScheduledEffect | undefined
  for (const effect of scheduledEffects(ctx, clock)) {
    if (found === undefined || effect.at < found.at) found = effect
  }
  return found
}

/** The time of the next scheduled effect; undefined if there is none. */
export function nextDue(ctx: Context): number | undefined {
  return earliest(ctx, '')?.at
}

/** Runs what is due by the simulator's clock. */
export function catchUp(ctx: Context): void {
  walk(ctx, '', ctx.clock.seconds(), () => {})
}

/** Runs what falls due up to `until` on one clock, each at its time, after calling `reached` with that. */
export function walk(ctx: Context, clock: string, until: number, reached: (at: number) => void): void {
  for (;;) {
    const effect = earliest(ctx, clock)
    if (effect === undefined || effect.at > until) return
    reached(effect.at)
    ctx.clock.at(effect.at, effect.run)
  }
}

/** Advances the simulator's clock. */
export function advanceClock(ctx: Context, seconds: number): void {
  setOffset(ctx, ctx.clock.offsetMs + seconds * 1000)
}

export function setOffset(ctx: Context, offsetMs: number): void {
  ctx.clock.offsetMs = offsetMs
  ctx.store.clockOffsetMs = offsetMs
  catchUp(ctx)
}
