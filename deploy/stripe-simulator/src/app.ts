/**
 * The simulator as a value: start it in a test or beside other services, point the `stripe` SDK to it, and stop it.
 */
import { setInterval } from 'node:timers'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify'
import { ZodError } from 'zod'
import { Api } from './api/api.ts'
import { registerCheckoutPages } from './checkout/checkout-pages.ts'
import { sessionRoutes } from './checkout/sessions.ts'
import { Clock } from './clock.ts'
import { problem, registerControl } from './dashboard/control.ts'
import { registerDashboard } from './dashboard/dashboard.ts'
import { Deliveries } from './deliveries/deliveries.ts'
import { Faults } from './faults.ts'
import { balanceTransactionRoutes } from './payments/balance-transactions.ts'
import { chargeRoutes } from './payments/charges.ts'
import { disputeRoutes } from './payments/disputes.ts'
import { paymentIntentRoutes } from './payments/payment-intents.ts'
import { paymentMethodRoutes } from './payments/payment-methods.ts'
import { refundRoutes } from './payments/refunds.ts'
import { billingPortalRoutes } from './portal/billing-portal.ts'
import { registerPortalPages } from './portal/portal-pages.ts'
import { priceRoutes } from './prices/prices.ts'
import { ApiError, internalError, invalidRequest, unrecognizedUrl } from './protocol/errors.ts'
import { newId } from './protocol/ids.ts'
import { report } from './report.ts'
import type { Context, Dunning } from './resources/context.ts'
import type { Routes } from './resources/routes.ts'
import { Store } from './store/store.ts'
import { customerBalanceRoutes } from './subscriptions/customer-balance.ts'
import { customerRoutes } from './subscriptions/customers.ts'
import { invoiceRoutes } from './subscriptions/invoice-routes.ts'
import { subscriptionScheduleRoutes } from './subscriptions/subscription-schedules.ts'
import { subscriptionRoutes } from './subscriptions/subscriptions.ts'
import { advanceClock, catchUp } from './time/due.ts'
import { testClockRoutes } from './time/test-clocks.ts'
import { eventDestinationRoutes } from './webhooks/event-destinations.ts'
import { eventRoutes } from './webhooks/events.ts'
import { configureEndpoints, webhookEndpointRoutes, type ConfiguredWebhook } from './webhooks/webhook-endpoints.ts'

/** All resources of the API; a new one needs a file and a line here. */
const resources: readonly Routes[] = [
  sessionRoutes,
  paymentIntentRoutes,
  paymentMethodRoutes,
  chargeRoutes,
  refundRoutes,
  balanceTransactionRoutes,
  customerRoutes,
  customerBalanceRoutes,
  billingPortalRoutes,
  disputeRoutes,
  testClockRoutes,
  priceRoutes,
  subscriptionRoutes,
  subscriptionScheduleRoutes,
  invoiceRoutes,
  eventRoutes,
  eventDestinationRoutes,
  webhookEndpointRoutes,
]

export type { ConfiguredWebhook } from './webhooks/webhook-endpoints.ts'

export interface SimulatorOptions {
  /** 0 (the default) takes any free port. */
  port?: number
  /** Default 127.0.0.1. The control API has no password: never bind it to a public address. */
  host?: string
  /** Where a browser finds the payment page, if that is not `http://host:port`. */
  publicUrl?: string
  /** Accepted secret keys. Default: every `sk_test_…`. Live keys are always rejected. */
  apiKeys?: readonly string[]
  /** Webhook endpoints, in addition to those created by the API. */
  webhooks?: readonly ConfiguredWebhook[]
  /** State file. Default: in memory only. */
  stateFile?: string
  /** Milliseconds since the epoch. Default: Date.now. */
  clock?: () => number
  /** Delays between the attempts of a delivery; after the last one it has failed. */
  retryDelaysMs?: readonly number[]
  /** Additional delay of every session creation. */
  sessionCreateDelayMs?: number
  /** How long a paid checkout waits for the webhook's response before it redirects. Default 10 s, as Checkout. */
  redirectWaitMs?: number
  /** Seconds until the refunds of the refund test cards change. Default 5. */
  refundSettleSeconds?: number
  /** Seconds until the payments of the dispute test card are disputed, and until evidence is decided on. Default 5. */
  disputeAfterSeconds?: number
  /** Days before a renewal at which `invoice.upcoming` announces it. Default 7. */
  upcomingDays?: number
  /** Retries of a failed renewal, and the outcome. Default: after 3, 5 and 7 days, then it is cancelled. */
  dunning?: Dunning
  /** The name on the payment page. */
  merchantName?: string
}

export interface Simulator {
  /** Base URL of API, pages and control API, without trailing slash. */
  readonly url: string
  readonly port: number
  /** For the SDK: `new Stripe(key, { ...simulator.sdk })`. */
  readonly sdk: { host: string; port: number; protocol: 'http' }
  /** Seconds, by the simulator's clock. */
  now(): number
  /** Advances the clock and runs everything that falls due. */
  advanceClock(seconds: number): void
  /** Resolves when every due delivery has been attempted. */
  deliveriesIdle(): Promise<void>
  /** Aborts deliveries in flight (they are repeated after the next start), writes the state, closes the port. */
  stop(): Promise<void>
}

const sweepEveryMs = 1000
const bodyLimit = 256 * 1024

/**
 * Starts a simulator.
 * @param store its state, for tests that inspect it.
 * @throws Error if the port or the state file is in use
 */
export async function createSimulator(
  options: SimulatorOptions = {},
  store: Store = new Store(options.stateFile),
): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1'
  const clock = new Clock(options.clock ?? Date.now, store.clockOffsetMs)
  const ctx: Context = {
    store,
    clock,
    deliveries: new Deliveries(store, options.retryDelaysMs),
    faults: new Faults(),
    settings: {
      publicUrl: (options.publicUrl ?? '').replace(/\/+$/, ''),
      merchantName: options.merchantName ?? 'Robo Kids Learning',
      apiKeys: options.apiKeys ?? [],
      refundSettleSeconds: options.refundSettleSeconds ?? 5,
      redirectWaitMs: options.redirectWaitMs ?? 10_000,
      sessionCreateDelayMs: options.sessionCreateDelayMs ?? 0,
      disputeAfterSeconds: options.disputeAfterSeconds ?? 5,
      upcomingDays: options.upcomingDays ?? 7,
      dunning: options.dunning ?? { retryAfterDays: [3, 5, 7], lastly: 'cancel' },
    },
  }
  configureEndpoints(store, options.webhooks ?? [], clock.seconds())

  const app = await buildServer(ctx)
  try {
    await app.listen({ port: options.port ?? 0, host })
  } catch (error) {
    store.close()
    throw error
  }
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const url = `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
  if (ctx.settings.publicUrl === '') ctx.settings.publicUrl = url

  const timer = setInterval(() => catchUp(ctx), sweepEveryMs)
  timer.unref()
  ctx.deliveries.start()

  let stopping: Promise<void> | undefined
  return {
    url,
    port,
    sdk: { host: reachable, port, protocol: 'http' },
    now: () => clock.seconds(),
    advanceClock: (seconds) => advanceClock(ctx, seconds),
    deliveriesIdle: () => ctx.deliveries.idle(),
    stop() {
      stopping ??= (async () => {
        clearInterval(timer)
        await ctx.deliveries.stop()
        await app.close()
        store.close()
      })()
      return stopping
    },
  }
}

async function buildServer(ctx: Context): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: bodyLimit,
    routerOptions: { maxParamLength: 500 },
    // No request log: a form's body contains a card number, if only a test card's.
    logger: false,
    frameworkErrors(error, _request, reply: FastifyReply) {
      void reply.code(400).send(invalidRequest(error.message).body(newId('req_')))
    },
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body),
  )
  // The SDK declares JSON for requests of API v2 even without a body.
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null)
    else void parseJson(request, body as string, done)
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (request.url.startsWith('/_sim/')) {
      const status = error instanceof ZodError ? 400 : (error.statusCode ?? 500)
      return reply.code(status).send(problem(error.message))
    }
    const status = error.statusCode ?? 500
    const shown =
      error instanceof ApiError
        ? error
        : status < 500
          ? new ApiError(status, { type: 'invalid_request_error', message: error.message })
          : internalError()
    if (status >= 500) report('unexpected error', error)
    return reply.code(shown.status).send(shown.body(newId('req_')))
  })
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send(unrecognizedUrl(request.method, request.url).body(newId('req_'))),
  )

  // Changes are saved before the response is sent.
  app.addHook('onSend', (_request, _reply, payload, done) => {
    ctx.store.commit()
    done(null, payload)
  })

  app.get('/healthz', () => ({ status: 'ok' }))
  new Api(ctx).register(app, resources)
  registerControl(app, ctx)
  registerCheckoutPages(app, ctx)
  registerPortalPages(app, ctx)
  registerDashboard(app, ctx)
  await app.ready()
  return app
}
