import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Stripe } from 'stripe'
import { expect, onTestFinished } from 'vitest'
import { createSimulator, type Simulator, type SimulatorOptions } from '../src/app.ts'
import { Store, Table } from '../src/store/store.ts'

/**
 * Starts a simulator for one test, with the official SDK. At the test's end its state file must match
 * its memory: so every test also shows that its changes were saved.
 */
export async function start(options: SimulatorOptions = {}) {
  const file = options.stateFile ?? stateFile()
  const store = new Store(file)
  const simulator = await createSimulator({ retryDelaysMs: [5, 10, 20, 40], ...options }, store)
  onTestFinished(async () => {
    await simulator.stop()
    if (options.stateFile === undefined) expectSaved(file, store)
  })
  return { simulator, stripe: sdkFor(simulator) }
}

/** A path for a state file in a folder that does not exist yet. */
export function stateFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stripe-simulator-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'deep', 'state.db')
}

/** Expects a stopped simulator's file to match its store, in the same order. */
export function expectSaved(file: string, store: Store): void {
  const read = new Store(file)
  try {
    expect(recordsOf(read)).toEqual(recordsOf(store))
  } finally {
    read.close()
  }
}

/** The records of each table with their keys, in order, and the clock. */
export function recordsOf(store: Store): Record<string, unknown> {
  const tables = Object.entries(store).filter(([, table]) => table instanceof Table)
  return {
    clockOffsetMs: store.clockOffsetMs,
    ...Object.fromEntries(tables.map(([name, table]: [string, Table<object>]) => [name, [...table]])),
  }
}

export function sdkFor(simulator: Simulator, key = 'sk_test_simulator', config: { maxNetworkRetries?: number } = {}) {
  return new Stripe(key, { ...simulator.sdk, maxNetworkRetries: 0, telemetry: false, ...config })
}

export const create: Stripe.Checkout.SessionCreateParams = {
  mode: 'payment',
  allowed_payment_method_types: ['card'],
  line_items: [
    {
      quantity: 1,
      price_data: {
        currency: 'usd',
        unit_amount: 40_000,
        product_data: { name: 'Robotics Foundations', description: 'Four live classes' },
      },
    },
  ],
  customer_email: 'ada.lind@example.com',
  success_url: 'http://localhost:3000/success?session={CHECKOUT_SESSION_ID}',
  cancel_url: 'http://localhost:3000/back',
  metadata: { registration: 'r-1' },
  payment_intent_data: { metadata: { registration: 'r-1' }, description: 'Robotics Foundations' },
}

export const subscribe: Stripe.Checkout.SessionCreateParams = {
  mode: 'subscription',
  allowed_payment_method_types: ['card'],
  line_items: [
    {
      quantity: 1,
      price_data: {
        currency: 'usd',
        unit_amount: 700,
        recurring: { interval: 'month' },
        product_data: { name: 'Membership' },
      },
    },
  ],
  customer_email: 'ada.lind@example.com',
  success_url: 'http://localhost:3000/success?reference=r-1',
  cancel_url: 'http://localhost:3000/back',
  metadata: { attempt: 'a-1' },
  subscription_data: { metadata: { attempt: 'a-1' } },
}

export interface PayAnswer {
  status: string
  message: string
  redirectUrl: string | null
  field: string | null
  code: string | null
  declineCode: string | null
}

/** Calls the control API. */
export async function control<T = Record<string, unknown>>(
  simulator: Simulator,
  path: string,
  body?: unknown,
  method = body === undefined ? 'GET' : 'POST',
): Promise<T> {
  const answer = await fetch(`${simulator.url}/_sim${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  return (await answer.json()) as T
}

export function pay(simulator: Simulator, sessionId: string, card = '4242424242424242', more: object = {}) {
  return control<PayAnswer>(simulator, `/checkout/${sessionId}/pay`, { card, ...more })
}

interface ControlEvents {
  events: { id: string; type: string; data: { object: Record<string, unknown> }; pending_webhooks: number }[]
}

export async function eventTypes(simulator: Simulator): Promise<string[]> {
  const { events } = await control<ControlEvents>(simulator, '/events')
  return events.map((event) => event.type)
}

interface Received {
  headers: IncomingHttpHeaders
  body: string
  type: string
  id: string
}

/** A webhook receiver that stores requests; `answer` sends the responses. */
export async function receiver(answer: (index: number, response: ServerResponse) => void = respond(200)) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const { id, type } = JSON.parse(body) as { id: string; type: string }
      received.push({ headers: request.headers, body, id, type })
      answer(received.length - 1, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.address() as AddressInfo
  return { received, url: `http://127.0.0.1:${port}/webhooks/stripe` }
}

export function respond(status: number, headers: Record<string, string> = {}) {
  return (_index: number, response: ServerResponse) => {
    response.writeHead(status, headers).end()
  }
}

/** Polls until the check succeeds; throws its last error on timeout. */
export async function eventually(check: () => unknown, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The error of a call of the SDK. */
export async function refusal(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await call
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error
    throw error
  }
  throw new Error('The call was not refused')
}
