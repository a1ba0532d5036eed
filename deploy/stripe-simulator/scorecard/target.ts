/** The target of the scorecard: the simulator, another stand-in, or Stripe's sandbox. */
import { Stripe } from 'stripe'

export interface Target {
  url: string
  key: string
  stripe: Stripe
  /** Whether the simulator's control API is available. */
  hasControl: boolean
}

export function targetAt(url: string, key: string, hasControl: boolean): Target {
  const { hostname, port, protocol } = new URL(url)
  const isPlain = protocol === 'http:'
  const stripe = new Stripe(key, {
    host: hostname,
    port: port === '' ? (isPlain ? 80 : 443) : port,
    protocol: isPlain ? 'http' : 'https',
    maxNetworkRetries: 0,
    telemetry: false,
    timeout: 20_000,
  })
  return { url: url.replace(/\/+$/, ''), key, stripe, hasControl }
}

export const sections = ['shapes', 'calls', 'flows', 'delivery', 'idempotency', 'clock'] as const
export type Section = (typeof sections)[number]

export interface Check {
  section: Section
  name: string
  needsControl?: true
  run(target: Target): Promise<void>
}

export type Json = Record<string, unknown>

/** An object as on the wire, before the SDK's conversions. */
export async function raw(target: Target, path: string): Promise<Json> {
  const answer = await fetch(target.url + path, { headers: { authorization: `Bearer ${target.key}` } })
  if (!answer.ok) throw new Error(`GET ${path} answered ${answer.status}`)
  return (await answer.json()) as Json
}

/** Calls the simulator's control API. */
export async function control<T = Json>(target: Target, path: string, body: unknown = {}): Promise<T> {
  const answer = await fetch(`${target.url}/_sim${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`POST /_sim${path} answered ${answer.status}`)
  return (await answer.json()) as T
}

/** Polls until the check succeeds; throws its last error on timeout. */
export async function eventually<T>(check: () => Promise<T>, timeoutMs = 5000): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
