/** The control API under `/_sim/`: for tests, on the machine itself. JSON in, JSON out. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { lookUp } from '../api/look-up.ts'
import { knownEmail } from '../checkout/known-email.ts'
import { completeAsync, payCheckout, settleAsync } from '../checkout/pay.ts'
import { currentSession, expireSession } from '../checkout/sessions.ts'
import { testAddress } from '../checkout/shipping.ts'
import { matchesType, normalMode } from '../deliveries/deliveries.ts'
import { closeDispute, disputeReasons, isOpen, openDispute, undisputable } from '../payments/disputes.ts'
import { settleRefund } from '../payments/refunds.ts'
import { newId } from '../protocol/ids.ts'
import { noRequest } from '../protocol/types.ts'
import type { Context } from '../resources/context.ts'
import { advanceClock, catchUp, nextDue, setOffset } from '../time/due.ts'
import { eventTypes } from '../webhooks/event-types.ts'
import { emit, rendered } from '../webhooks/events.ts'
import { createEndpoint, rollSecret } from '../webhooks/webhook-endpoints.ts'

const yearSeconds = 366 * 24 * 3600

const clockBody = z.union([
  z.strictObject({
    advanceSeconds: z
      .number()
      .min(0)
      .max(10 * yearSeconds),
  }),
  /** Seconds since the epoch. */
  z.strictObject({ advanceTo: z.int().min(0).max(10_000_000_000) }),
  /** Advances to the next scheduled effect. */
  z.strictObject({ nextDue: z.literal(true) }),
  z.strictObject({ reset: z.literal(true) }),
])

const settingsBody = z.strictObject({
  upcomingDays: z.int().min(0).max(30).optional(),
  disputeAfterSeconds: z.int().min(0).optional(),
  refundSettleSeconds: z.int().min(0).optional(),
  dunning: z
    .strictObject({
      retryAfterDays: z.array(z.number().min(0).max(60)).max(8),
      lastly: z.enum(['cancel', 'unpaid', 'past_due']),
    })
    .optional(),
})

const deliveryBody = z.strictObject({
  paused: z.boolean().default(false),
  dropped: z.boolean().default(false),
  duplicate: z.int().min(1).max(50).default(1),
  reverse: z.boolean().default(false),
  lostAnswers: z.int().min(0).max(10).default(0),
  delayMs: z.int().min(0).max(600_000).default(0),
  types: z.array(z.string()).nullable().default(null),
  apiVersion: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}(\.[a-z]+)?$/)
    .nullable()
    .default(null),
})

const faultBody = z.strictObject({
  kind: z.enum(['delay', 'reset', 'error']),
  method: z.enum(['GET', 'POST', 'DELETE']).nullable().default(null),
  path: z.string().startsWith('/').default('/v1/checkout/sessions'),
  times: z.int().min(1).max(10_000).default(1),
  when: z.enum(['before', 'after']).optional(),
  delayMs: z.int().min(0).max(600_000).default(0),
  status: z.int().min(400).max(599).default(500),
})

/** The shipping address, merged with the default one. */
const shippingBody = z
  .strictObject(Object.fromEntries(Object.keys(testAddress).map((field) => [field, z.string().max(256)])))
  .partial()
  .default({})

const payBody = z.strictObject({
  card: z.string().max(40),
  expMonth: z.int().default(12),
  expYear: z.int().optional(),
  cvc: z.string().max(10).default('123'),
  name: z.string().max(256).default('Test Parent'),
  email: z.string().max(320).optional(),
  terms: z.boolean().default(true),
  shipping: shippingBody,
})

const asyncBody = z.strictObject({
  outcome: z.enum(['succeeded', 'failed']).optional(),
  afterSeconds: z.number().min(0).default(0),
})

const settleBody = z.strictObject({ outcome: z.enum(['succeeded', 'failed']) })

const emitBody = z.strictObject({ type: z.string().min(1).max(100), objectId: z.string() })

const endpointBody = z.strictObject({
  url: z.url(),
  payload: z.enum(['snapshot', 'thin']).default('snapshot'),
  enabledEvents: z
    .array(z.string().refine((name) => eventTypes.some((type) => matchesType(name, type)), 'is no type of event'))
    .min(1)
    .default(['*']),
  secret: z.string().startsWith('whsec_').optional(),
})
const rollBody = z.strictObject({
  secret: z.string().startsWith('whsec_').optional(),
  expiresInSeconds: z.int().min(0).max(86_400).default(86_400),
})
const disputeBody = z.strictObject({ reason: z.enum(disputeReasons).optional(), inquiry: z.boolean().default(false) })
const closeBody = z.strictObject({ outcome: z.enum(['won', 'lost', 'warning_closed']) })

type WithId = { Params: { id: string } }

export function registerControl(app: FastifyInstance, ctx: Context): void {
  app.get('/_sim/state', () => stateOf(ctx))

  app.post('/_sim/clock', (request) => {
    const body = clockBody.parse(request.body)
    if ('reset' in body) setOffset(ctx, 0)
    else if ('advanceSeconds' in body) advanceClock(ctx, body.advanceSeconds)
    else if ('advanceTo' in body) advanceClock(ctx, Math.max(0, body.advanceTo - ctx.clock.seconds()))
    else advanceClock(ctx, Math.max(0, (nextDue(ctx) ?? 0) - ctx.clock.seconds()))
    return { now: ctx.clock.seconds(), offsetSeconds: ctx.clock.offsetMs / 1000 }
  })

  app.post('/_sim/settings', (request) => {
    const { upcomingDays, disputeAfterSeconds, refundSettleSeconds, dunning } = settingsBody.parse(request.body)
    const { settings } = ctx
    if (upcomingDays !== undefined) settings.upcomingDays = upcomingDays
    if (disputeAfterSeconds !== undefined) settings.disputeAfterSeconds = disputeAfterSeconds
    if (refundSettleSeconds !== undefined) settings.refundSettleSeconds = refundSettleSeconds
    if (dunning !== undefined) settings.dunning = dunning
    return {
      upcomingDays: settings.upcomingDays,
      disputeAfterSeconds: settings.disputeAfterSeconds,
      refundSettleSeconds: settings.refundSettleSeconds,
      dunning: settings.dunning,
    }
  })

  app.post('/_sim/webhooks/config', (request) => {
    ctx.deliveries.mode = deliveryBody.parse(request.body ?? {})
    return ctx.deliveries.mode
  })

  app.post('/_sim/webhooks/release', () => {
    const released = ctx.deliveries.release()
    ctx.deliveries.mode = normalMode
    return { released }
  })

  app.post('/_sim/webhooks/flush', async () => {
    await ctx.deliveries.idle()
    return ctx.deliveries.counts()
  })

  app.get('/_sim/events', () => ({
    events: [...ctx.store.events.values()].map((record) => ({
      ...rendered(ctx, record),
      thin: record.thin,
      deliveries: ctx.deliveries.attemptsFor(record.snapshot.id).map((one) => ({
        endpoint: one.endpointId,
        status: one.status,
        attempts: one.attempts,
      })),
    })),
  }))

  app.post('/_sim/events', (request, reply) => {
    const { type, objectId } = emitBody.parse(request.body)
    const object = lookUp(ctx.store, objectId)
    if (object === undefined) return reply.code(404).send(problem(`No object ${objectId}`))
    return emit(ctx, type, object as { id: string; object: string }, noRequest)
  })

  app.post<WithId>('/_sim/events/:id/resend', (request, reply) => {
    const record = ctx.store.events.get(request.params.id)
    if (record === undefined) return reply.code(404).send(problem('No such event'))
    ctx.deliveries.resend(record)
    return { resent: record.snapshot.id }
  })

  app.post('/_sim/faults', (request) => {
    const body = faultBody.parse(request.body)
    // The harmful reset comes after the effect: the caller cannot know that it happened.
    ctx.faults.order({ ...body, when: body.when ?? (body.kind === 'reset' ? 'after' : 'before') })
    return { faults: ctx.faults.list() }
  })

  app.delete('/_sim/faults', () => {
    ctx.faults.clear()
    return { faults: [] }
  })

  app.post('/_sim/webhook_endpoints', (request) => {
    const { secret = newId('whsec_'), ...body } = endpointBody.parse(request.body)
    return { ...createEndpoint(ctx, { ...body, secret }).object, payload: body.payload, secret }
  })

  app.post<WithId>('/_sim/webhook_endpoints/:id/roll', (request, reply) => {
    const { secret = newId('whsec_'), expiresInSeconds } = rollBody.parse(request.body ?? {})
    const record = ctx.store.endpoints.get(request.params.id)
    if (record === undefined) return reply.code(404).send(problem('No such endpoint'))
    rollSecret(ctx, record, secret, expiresInSeconds)
    return { id: record.object.id, secret }
  })

  app.post<WithId>('/_sim/charges/:id/dispute', (request, reply) => {
    const { reason, inquiry } = disputeBody.parse(request.body ?? {})
    const charge = ctx.store.charges.get(request.params.id)
    if (charge === undefined) return reply.code(404).send(problem('No such charge'))
    const why = undisputable(charge)
    if (why !== null) return reply.code(409).send(problem(why))
    return openDispute(ctx, charge, { isInquiry: inquiry, ...(reason === undefined ? {} : { reason }) })
  })

  app.post<WithId>('/_sim/disputes/:id/close', (request, reply) => {
    const { outcome } = closeBody.parse(request.body)
    const record = ctx.store.disputes.get(request.params.id)
    if (record === undefined) return reply.code(404).send(problem('No such dispute'))
    if (!isOpen(record.object)) return reply.code(409).send(problem(`The dispute is ${record.object.status}`))
    closeDispute(ctx, record, outcome, noRequest)
    return record.object
  })

  app.post<WithId>('/_sim/refunds/:id/settle', (request, reply) => {
    const record = ctx.store.refunds.get(request.params.id)
    if (record === undefined) return reply.code(404).send(problem('No such refund'))
    if (record.settlement === null)
      return reply.code(409).send(problem('The bank has nothing more to say of this refund'))
    settleRefund(ctx, record, record.settlement.status)
    return record.object
  })

  app.post<WithId>('/_sim/checkout/:id/pay', async (request, reply) => {
    const { card, expYear, email, shipping, ...body } = payBody.parse(request.body)
    const { id } = request.params
    const result = await payCheckout(ctx, id, {
      ...testAddress,
      ...shipping,
      ...body,
      number: card,
      expYear: expYear ?? new Date(ctx.clock.ms()).getFullYear() + 3,
      email: email ?? knownEmail(ctx, id) ?? 'parent@example.com',
    })
    return reply.code(result.status === 'not_found' ? 404 : 200).send(result)
  })

  app.post<WithId>('/_sim/checkout/:id/complete-async', (request, reply) => {
    const { outcome, afterSeconds } = asyncBody.parse(request.body ?? {})
    const settlement = outcome === undefined ? null : { outcome, afterSeconds }
    const result = completeAsync(ctx, request.params.id, settlement)
    return reply.code(result.status === 'not_found' ? 404 : 200).send(result)
  })

  app.post<WithId>('/_sim/checkout/:id/settle-async', (request, reply) => {
    const { outcome } = settleBody.parse(request.body)
    if (!settleAsync(ctx, request.params.id, outcome)) {
      return reply.code(409).send(problem('This session has no payment that waits to settle'))
    }
    return ctx.store.sessions.get(request.params.id)?.object
  })

  app.post<WithId>('/_sim/checkout/:id/expire', (request, reply) => {
    const record = currentSession(ctx, request.params.id)
    if (record === undefined) return reply.code(404).send(problem('No such session'))
    if (record.object.status !== 'open') {
      return reply.code(409).send(problem(`The session is ${record.object.status}`))
    }
    record.object.expires_at = ctx.clock.seconds()
    expireSession(ctx, record, noRequest)
    return record.object
  })
}

export function problem(message: string) {
  return { error: { type: 'simulator_control', message } }
}

function countBy<T>(all: Iterable<T>, keyOf: (one: T) => string): Record<string, number> {
  const counts: Record<string, number> = { total: 0 }
  for (const one of all) {
    const key = keyOf(one)
    counts['total'] = (counts['total'] ?? 0) + 1
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

function stateOf(ctx: Context) {
  const { store } = ctx
  catchUp(ctx)
  const charges = [...store.charges.values()]
  const refunds = [...store.refunds.values()].map((record) => record.object)
  return {
    clock: { now: ctx.clock.seconds(), offsetSeconds: ctx.clock.offsetMs / 1000 },
    sessions: countBy(store.sessions.values(), (one) => one.object.status ?? 'open'),
    paymentIntents: countBy(store.paymentIntents.values(), (one) => one.status),
    charges: {
      ...countBy(charges, (one) => one.status),
      amountCaptured: charges.reduce((sum, one) => sum + one.amount_captured, 0),
      amountRefunded: charges.reduce((sum, one) => sum + one.amount_refunded, 0),
    },
    refunds: {
      ...countBy(refunds, (one) => one.status ?? 'pending'),
      amount: refunds.filter((one) => one.status !== 'failed').reduce((sum, one) => sum + one.amount, 0),
    },
    subscriptions: countBy(store.subscriptions.values(), (one) => one.status),
    invoices: countBy(store.invoices.values(), (one) => one.status ?? 'draft'),
    disputes: countBy(store.disputes.values(), (one) => one.object.status),
    customers: countBy(store.customers.values(), (one) => (one.deleted ? 'deleted' : 'active')),
    events: countBy(store.events.values(), (one) => one.snapshot.type),
    webhooks: { mode: ctx.deliveries.mode, deliveries: ctx.deliveries.counts() },
    faults: ctx.faults.list(),
    stateFile: store.written,
  }
}
