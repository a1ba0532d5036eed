/** The dashboard at `/`: the objects, with a button for each possible action. Forms only, no script. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { knownEmail } from '../checkout/known-email.ts'
import { payCheckout } from '../checkout/pay.ts'
import { testAddress } from '../checkout/shipping.ts'
import { normalMode } from '../deliveries/deliveries.ts'
import { pageHeaders } from '../pages/layout.ts'
import { bodyOf } from '../pages/page-forms.ts'
import { closeDispute, isOpen, openDispute, undisputable } from '../payments/disputes.ts'
import { idOf } from '../protocol/ids.ts'
import { noRequest } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { newestFirst } from '../store/store.ts'
import { advanceClock, catchUp, nextDue } from '../time/due.ts'
import { rendered } from '../webhooks/events.ts'
import { dashboardPage, type Dashboard } from './dashboard-page.ts'

const maxShown = 12
const day = 24 * 3600
/** The advances of the clock's buttons. */
const steps: Record<string, number> = { hour: 3600, day: day, week: 7 * day, month: 31 * day }

type Fields = Record<string, string>
/** Runs the action of a form; returns the message to show. */
type Action = (ctx: Context, fields: Fields) => string | Promise<string>

const actions: Record<string, Action> = {
  async pay(ctx, { id = '', card = '' }) {
    const result = await payCheckout(ctx, id, {
      number: card,
      expMonth: 12,
      expYear: new Date(ctx.clock.ms()).getFullYear() + 3,
      cvc: '123',
      name: 'Test Parent',
      email: knownEmail(ctx, id) ?? 'parent@example.com',
      terms: true,
      ...testAddress,
    })
    return result.status === 'requires_action' ? `${result.message} Answer at ${result.redirectUrl}` : result.message
  },
  dispute(ctx, { id = '' }) {
    const charge = ctx.store.charges.get(id)
    if (charge === undefined) return 'There is no such payment.'
    const why = undisputable(charge)
    if (why !== null) return why
    return `Dispute ${openDispute(ctx, charge).id} is open, and the money is gone.`
  },
  close(ctx, { id = '', outcome }) {
    const record = ctx.store.disputes.get(id)
    if (record === undefined || !isOpen(record.object)) return 'This dispute is closed already.'
    closeDispute(ctx, record, outcome === 'won' ? 'won' : 'lost', noRequest)
    return `The dispute is ${record.object.status}.`
  },
  advance(ctx, { by = '' }) {
    const due = nextDue(ctx)
    if (by === 'due' && due === undefined) return 'Nothing is waiting for its time.'
    const seconds = by === 'due' ? Math.max(0, (due ?? 0) - ctx.clock.seconds()) : (steps[by] ?? 0)
    advanceClock(ctx, seconds)
    return `It is now ${new Date(ctx.clock.ms()).toISOString().slice(0, 16).replace('T', ' ')} UTC.`
  },
  resend(ctx, { id = '' }) {
    const record = ctx.store.events.get(id)
    if (record === undefined) return 'There is no such event.'
    ctx.deliveries.resend(record)
    return `${record.snapshot.type} is sent again.`
  },
  webhooks(ctx, { mode = '' }) {
    if (mode === 'release') {
      const released = ctx.deliveries.release()
      ctx.deliveries.mode = normalMode
      return `${released} held webhooks are delivered.`
    }
    ctx.deliveries.mode = { ...normalMode, paused: mode === 'hold', dropped: mode === 'drop' }
    if (mode === 'hold') return 'New webhooks are held until they are released.'
    return mode === 'drop' ? 'New webhooks are lost.' : 'Webhooks are delivered.'
  },
}

export function registerDashboard(app: FastifyInstance, ctx: Context): void {
  const show = (reply: FastifyReply, told: string | null) =>
    reply.headers(pageHeaders()).send(dashboardPage(read(ctx), told))

  for (const path of ['/', '/dashboard']) {
    app.get<{ Querystring: { told?: string } }>(path, (_request, reply) => show(reply, null))
  }

  app.post<{ Params: { action: string } }>('/dashboard/:action', async (request, reply) => {
    const { origin, host } = request.headers
    // Reject cross-site requests, although it is only test money.
    if (origin !== undefined && origin !== 'null' && new URL(origin).host !== host) return reply.code(403).send()
    const action = Object.hasOwn(actions, request.params.action) ? actions[request.params.action] : undefined
    if (action === undefined) return reply.code(404).send()
    return show(reply, await action(ctx, bodyOf(request)))
  })
}

function read(ctx: Context): Dashboard {
  catchUp(ctx)
  const { store } = ctx
  const emailOf = (customer: Parameters<typeof idOf>[0]) => store.customers.get(idOf(customer))?.object.email ?? ''
  const due = nextDue(ctx)
  return {
    merchant: ctx.settings.merchantName,
    now: ctx.clock.seconds(),
    aheadSeconds: Math.round(ctx.clock.offsetMs / 1000),
    due: due ?? null,
    mode: ctx.deliveries.mode.paused ? 'held' : ctx.deliveries.mode.dropped ? 'lost' : 'delivered',
    held: ctx.deliveries.counts().held,
    sessions: newestFirst(store.sessions)
      .slice(0, maxShown)
      .map((record) => record.object),
    payments: newestFirst(store.charges)
      .slice(0, maxShown)
      .map((charge) => ({ charge, email: charge.billing_details.email ?? emailOf(charge.customer) })),
    subscriptions: newestFirst(store.subscriptions)
      .slice(0, maxShown)
      .map((subscription) => ({ subscription, email: emailOf(subscription.customer) })),
    invoices: newestFirst(store.invoices).slice(0, maxShown),
    customers: newestFirst(store.customers)
      .filter((record) => !record.deleted)
      .slice(0, maxShown)
      .map((record) => record.object),
    disputes: newestFirst(store.disputes)
      .slice(0, maxShown)
      .map((record) => record.object),
    events: newestFirst(store.events)
      .slice(0, 2 * maxShown)
      .map((record) => ({
        event: rendered(ctx, record),
        deliveries: ctx.deliveries.attemptsFor(record.snapshot.id).map((one) => one.status),
      })),
    totals: {
      sessions: store.sessions.size,
      payments: store.charges.size,
      subscriptions: store.subscriptions.size,
      invoices: store.invoices.size,
      customers: store.customers.size,
      disputes: store.disputes.size,
      events: store.events.size,
    },
  }
}
