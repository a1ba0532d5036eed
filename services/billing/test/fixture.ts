import { randomUUIDv7 } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  checkoutSchema,
  pricesSchema,
  refundSchema,
  type Checkout,
  type Prices,
  type Refund,
} from '@robokids/contracts/billing'
import type { Change, ChangeTerms } from '@robokids/contracts/changes'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { ErrorBody } from '@robokids/contracts/errors'
import { freePort } from '@robokids/local/processes'
import type { RunningService } from '@robokids/runtime/service'
import {
  createSimulator,
  type ConfiguredWebhook,
  type Simulator,
  type SimulatorOptions,
} from '../../../deploy/stripe-simulator/src/app.ts'
import { testBed, type TestBed } from '@robokids/test/bed'
import { callJson } from '@robokids/test/call-json'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { Stripe } from 'stripe'
import { billing } from '../src/app.ts'
import type { BillingConfig } from '../src/config.ts'

export const webhookSecret = 'whsec_billing_tests_new'
export const oldWebhookSecret = 'whsec_billing_tests_old'
export const adminHeaders = { 'x-admin-secret': 'local-admin' }
/** Test cards that Stripe documents. */
export const cards = {
  good: '4242424242424242',
  declined: '4000000000000002',
  poor: '4000000000009995',
  challenge: '4000002500003155',
}

export interface Answer {
  status: number
  body: unknown
}

/** The browser of all requests for which a test names no other one. */
export const browserId = randomUUIDv7()

/** Adds the browser's id to purchases, as the BFF does. */
function withBrowserId(method: string, path: string, body: unknown): unknown {
  const isPurchase = method === 'POST' && (path === '/membership-checkouts' || path === '/orders')
  return isPurchase && typeof body === 'object' && body !== null && !Array.isArray(body) ? { browserId, ...body } : body
}

/** For job runs that are not aborted. */
export const neverAborts = new AbortController().signal

/** An event as the simulator's control API shows it. */
export interface SimEvent {
  id: string
  type: string
  created: number
  data: { object: { id: string; metadata?: Record<string, string> } }
  thin: { id: string; type: string }
}

/** The registrations that the fake enrollment service knows. */
const registrations = new Map<string, RegistrationFacts>()

/** The moves that it knows. */
const moves = new Map<string, Change>()

/** Serves a move from the fake enrollment service. */
export function registerMove(change: Change): Change {
  moves.set(change.changeId, change)
  return change
}

function classOf({
  classSessionId,
  classType,
  levelTitle,
  startDate,
  startTime,
  durationMinutes,
  timeZone,
}: RegistrationFacts) {
  return { classSessionId, classType, levelTitle, startDate, startTime, durationMinutes, timeZone }
}

/** A move from Level 1 to Level 2, of which enrollment holds the seat. */
export function heldMove(registration: RegistrationFacts, price = 50_000): Change {
  const to = {
    ...classOf(registration),
    classSessionId: randomUUIDv7(),
    classType: 'intermediate' as const,
    levelTitle: 'Level 2 Makers',
  }
  const line = { placeId: randomUUIDv7(), childName: 'Ivo', paid: 40_000, price, due: price - 40_000, back: 0 }
  const rule = { validFrom: '2025-01-01T08:00:00.000Z', percent: null, until: null, moves: 1 }
  const terms: ChangeTerms = {
    kind: 'move',
    registrationId: registration.registrationId,
    lines: [line],
    from: classOf(registration),
    to,
    due: line.due,
    back: 0,
    rule,
    kitShipped: false,
  }
  const times = { heldUntil: '2030-01-01T00:00:00.000Z', createdAt: '2026-11-30T00:00:00.000Z' }
  return registerMove({ changeId: randomUUIDv7(), kind: 'move', status: 'held', terms, ...times })
}

/** Starts a fake of enrollment that serves the facts of registrations and moves. */
async function startEnrollment(): Promise<Server> {
  const server = createServer((request, response) => {
    const [, kind, id = ''] = request.url?.split('/') ?? []
    const facts = kind === 'changes' ? moves.get(id) : registrations.get(id)
    const answer = facts ?? {
      code: 'registration_not_found',
      message: 'There is no such registration.',
      requestId: 'stub',
    }
    response.writeHead(facts ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  // A server that is never closed must not keep the process alive.
  return server.unref()
}

/** Creates a registration at the fake enrollment service. */
export function purchase(differences: Partial<RegistrationFacts> = {}): RegistrationFacts {
  return register({
    registrationId: randomUUIDv7(),
    guardianName: 'Ada Lind',
    email: 'ada.lind@example.com',
    children: [{ childName: 'Ivo', childAge: 8 }],
    address: { addressLine1: '1 Main St', addressLine2: '', city: 'Fresno', state: 'CA', zipCode: '93650' },
    classSessionId: randomUUIDv7(),
    classType: 'basic',
    levelTitle: 'Level 1 Foundations',
    startDate: '2027-01-08',
    startTime: '16:00',
    durationMinutes: 75,
    timeZone: 'America/Los_Angeles',
    ...differences,
  })
}

/** Serves these facts from the fake enrollment service. */
function register(facts: RegistrationFacts): RegistrationFacts {
  registrations.set(facts.registrationId, facts)
  return facts
}

/** How the webhooks of a flow are delivered: in which order, each how many times, and which share is lost. */
export const deliveryOrders = fc.record({
  keys: fc.infiniteStream(fc.nat()),
  copies: fc.integer({ min: 1, max: 3 }),
  lost: fc.constantFrom(0, 0.3, 1),
})
type DeliveryOrder = typeof deliveryOrders extends fc.Arbitrary<infer One> ? One : never

export interface BillingOptions {
  env?: Record<string, string>
  webhook?: Partial<ConfiguredWebhook>
  simulator?: SimulatorOptions
}

/** A running billing service with its own payment simulator. */
export class BillingFixture {
  readonly bed: TestBed
  readonly simulator: Simulator
  readonly service: RunningService<BillingConfig> & { databaseUrl: string }
  readonly env: Record<string, string>
  readonly #enrollment: Server
  /** A Stripe client with dashboard access. */
  readonly stripe: Stripe

  private constructor(
    bed: TestBed,
    simulator: Simulator,
    service: BillingFixture['service'],
    env: Record<string, string>,
    enrollment: Server,
  ) {
    this.bed = bed
    this.#enrollment = enrollment
    this.simulator = simulator
    this.service = service
    this.env = env
    this.stripe = new Stripe('sk_test_dashboard', { ...simulator.sdk, telemetry: false })
  }

  static async start(bed: TestBed, options: BillingOptions = {}): Promise<BillingFixture> {
    const port = await freePort()
    const simulator = await createSimulator({
      retryDelaysMs: [100, 200, 400, 800, 1600],
      refundSettleSeconds: 3600,
      ...options.simulator,
      webhooks: [{ url: `http://127.0.0.1:${port}/webhooks/stripe`, secret: webhookSecret, ...options.webhook }],
    })
    const enrollment = await startEnrollment()
    const env = {
      PORT: String(port),
      ENROLLMENT_URL: `http://127.0.0.1:${(enrollment.address() as AddressInfo).port}`,
      STRIPE_SECRET_KEY: 'sk_test_billing',
      STRIPE_API_URL: simulator.url,
      STRIPE_WEBHOOK_SECRETS: webhookSecret,
      SITE_URL: 'https://robokids.example/',
      // Tests of reconciliation set their own interval.
      RECONCILE_EVERY_MS: '3600000',
      ...options.env,
    }
    const service = await bed.start(billing, env)
    return new BillingFixture(bed, simulator, service, { ...env, DATABASE_URL: service.databaseUrl }, enrollment)
  }

  /** Starts one on its own bus: on a shared bus, two services of the same name would share their events. */
  static async startIsolated(options: BillingOptions = {}): Promise<BillingFixture> {
    return BillingFixture.start(await testBed(), options)
  }

  /** Starts a second process of the same service. */
  async startSecondProcess(env: Record<string, string> = {}): Promise<RunningService<BillingConfig>> {
    return this.bed.start(billing, { ...this.env, PORT: '0', ...env })
  }

  /** Stops the service and everything started for it. */
  async close(): Promise<void> {
    await this.bed.stop()
    await this.simulator.stop()
    this.#enrollment.closeAllConnections()
    await new Promise((resolve) => this.#enrollment.close(resolve))
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    url = this.service.url,
  ): Promise<Answer> {
    const sent = withBrowserId(method, path, body)
    const { status, body: answered } = await callJson(`${url}${path}`, method, sent, headers)
    return { status, body: answered }
  }

  async checkout(facts: RegistrationFacts, url?: string): Promise<Checkout> {
    const answer = await this.call('POST', '/checkouts', { purchase: register(facts) }, {}, url)
    if (answer.status !== 200)
      throw new Error(`POST /checkouts answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return checkoutSchema.parse(answer.body)
  }

  async read(registrationId: string): Promise<Checkout> {
    return checkoutSchema.parse((await this.call('GET', `/checkouts/${registrationId}`)).body)
  }

  /** Backdates the last fetch of a purchase or membership, so that a refresh is due. */
  async expireRefreshBackoff(id: string): Promise<void> {
    const { db } = this.service.context
    await db.execute(sql`
      update checkout_attempts set checked_at = checked_at - interval '1 hour' where registration_id = ${id}`)
    await db.execute(sql`update membership_attempts set checked_at = checked_at - interval '1 hour' where id = ${id}`)
  }

  /** Refreshes as a parent does who returns from the payment page, with the backoff expired. */
  async refresh(path: `/${'checkouts' | 'orders' | 'membership-checkouts'}/${string}`): Promise<Answer> {
    await this.expireRefreshBackoff(path.split('/')[2] ?? '')
    return this.call('POST', `${path}/refresh?returned=true`)
  }

  async prices(): Promise<Prices> {
    return pricesSchema.parse((await this.call('GET', '/prices')).body)
  }

  async setPrice(sku: string, amount: number): Promise<Answer> {
    return this.call('POST', '/admin/prices', { sku, amount }, adminHeaders)
  }

  async refund(registrationId: string, amount?: number, refundId: string = randomUUIDv7()): Promise<Answer> {
    return this.call(
      'POST',
      '/refunds',
      { registrationId, refundId, ...(amount === undefined ? {} : { amount }) },
      adminHeaders,
    )
  }

  async refunded(registrationId: string, amount?: number): Promise<Refund> {
    const answer = await this.refund(registrationId, amount)
    if (answer.status !== 200)
      throw new Error(`POST /refunds answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return refundSchema.parse(answer.body)
  }

  /** Calls the simulator's control API. */
  async sim(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.call(
      method,
      `/_sim${path}`,
      body ?? (method === 'POST' ? {} : undefined),
      {},
      this.simulator.url,
    )
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /**
   * Advances time until a subscription is renewed or ended and its invoice was charged once: months differ in length, and a
   * day later it would be charged again.
   */
  async renewal(subscriptionId: string): Promise<void> {
    const { items } = await this.stripe.subscriptions.retrieve(subscriptionId)
    const end = items.data[0]?.current_period_end ?? 0
    this.simulator.advanceClock(end + 2 * 3600 - this.simulator.now())
  }

  /** Pays a checkout as a parent on the payment page. */
  async pay(
    checkout: Pick<Checkout, 'checkoutUrl'>,
    card: string = cards.good,
  ): Promise<{ status: string; redirectUrl: string | null }> {
    return (await this.sim('POST', `/checkout/${sessionIdOf(checkout)}/pay`, { card })) as {
      status: string
      redirectUrl: string | null
    }
  }

  /** Opens and pays a checkout; resolves once billing has recorded the payment. */
  async sell(facts: RegistrationFacts = purchase(), card?: string): Promise<Checkout> {
    const checkout = await this.checkout(facts)
    await this.pay(checkout, card)
    const answer = await this.refresh(`/checkouts/${facts.registrationId}`)
    return checkoutSchema.parse(answer.body)
  }

  /** Configures the delivery of webhooks. */
  async webhooks(mode: {
    paused?: boolean
    dropped?: boolean
    duplicate?: number
    reverse?: boolean
    types?: string[]
  }): Promise<void> {
    await this.sim('POST', '/webhooks/config', mode)
  }

  async release(): Promise<void> {
    await this.sim('POST', '/webhooks/release')
    await this.simulator.deliveriesIdle()
  }

  async fault(fault: Record<string, unknown>): Promise<void> {
    await this.sim('POST', '/faults', fault)
  }

  /** Lists Stripe's events of one registration, oldest first. */
  async events(registrationId: string, of: (event: SimEvent) => boolean = () => true): Promise<SimEvent[]> {
    const { events } = (await this.sim('GET', '/events')) as { events: SimEvent[] }
    return events.filter((event) => event.data.object.metadata?.['registrationId'] === registrationId && of(event))
  }

  async sessions(registrationId: string): Promise<Stripe.Checkout.Session[]> {
    const all = await this.stripe.checkout.sessions.list({ limit: 100 }).autoPagingToArray({ limit: 10_000 })
    return all.filter((session) => session.client_reference_id === registrationId)
  }

  /** Posts a webhook as Stripe would, signed with `secret`. */
  async deliver(
    event: unknown,
    options: { secret?: string; signedAt?: number; signature?: string } = {},
  ): Promise<Answer> {
    const payload = typeof event === 'string' ? event : JSON.stringify(event, null, 2)
    const signature =
      options.signature ??
      this.stripe.webhooks.generateTestHeaderString({
        payload,
        secret: options.secret ?? webhookSecret,
        timestamp: options.signedAt ?? Math.floor(Temporal.Now.instant().epochMilliseconds / 1000),
      })
    return this.call('POST', '/webhooks/stripe', payload, { 'stripe-signature': signature })
  }

  /** Delivers the first half one by one, the rest concurrently. @returns the status codes. */
  async deliverInOrder(events: SimEvent[], { keys, copies, lost }: DeliveryOrder): Promise<number[]> {
    const order = Array.from({ length: copies }, () => events)
      .flat()
      .map((event) => ({ event, key: keys.next().value as number }))
      .filter(({ key }) => (key % 100) / 100 >= lost)
      .toSorted((a, b) => a.key - b.key)
    const half = Math.floor(order.length / 2)
    const answers: Answer[] = []
    for (const { event } of order.slice(0, half)) answers.push(await this.deliver(event))
    answers.push(...(await Promise.all(order.slice(half).map(({ event }) => this.deliver(event)))))
    return answers.map(({ status }) => status)
  }

  /** Creates a snapshot event of an object, with a new id unless one is given. */
  event(type: string, objectId: string, differences: Record<string, unknown> = {}) {
    return {
      id: `evt_${randomUUIDv7()}`,
      object: 'event',
      api_version: '2026-10-28.endive',
      created: Math.floor(Temporal.Now.instant().epochMilliseconds / 1000),
      livemode: false,
      pending_webhooks: 1,
      request: null,
      type,
      data: { object: { id: objectId } },
      ...differences,
    }
  }
}

export function sessionIdOf(checkout: Pick<Checkout, 'checkoutUrl'>): string {
  const id = /cs_test_\w+/.exec(checkout.checkoutUrl ?? '')?.[0]
  if (id === undefined) throw new Error(`No session in ${checkout.checkoutUrl}`)
  return id
}

export function codeOf(answer: Answer): string {
  return (answer.body as ErrorBody).code
}

export function messageOf(answer: Answer): string {
  return (answer.body as ErrorBody).message
}

/** The payment intent of a session after an attempt to pay. */
export function intentOf(session: Stripe.Checkout.Session | undefined): string {
  const intent = session?.payment_intent
  if (typeof intent !== 'string') throw new Error('The session has no payment.')
  return intent
}
