import { errorBodySchema } from '@robokids/contracts/errors'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import { traceHeaders } from '@robokids/runtime/telemetry'
import { Pool } from 'undici'
import type { z } from 'zod'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import type { Config } from './config.ts'

/** Also how many requests a service is sent at once. */
const usualConnections = 64
/** As many wait at identity for their turn there; it refuses by itself what it cannot do soon. */
const hashingConnections = 256

interface RawCall {
  headers?: Record<string, string>
  body?: Buffer | undefined
  /**
   * A read's `request.signal`: while it waits for a connection, it is given up when the visitor leaves. One that was sent
   * is read to its end, since aborting it would close its connection. Changes have no signal: whoever closes the page
   * after a sign-out still wants to be signed out. (And `request.signal` aborts as soon as a body has been read.)
   */
  signal?: AbortSignal | undefined
}

export interface Call<Answer> extends Omit<RawCall, 'body'> {
  body?: unknown
  answer: z.ZodType<Answer>
}

interface RawAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** A service behind the BFF. */
export interface Upstream {
  /**
   * Calls the service and parses its answer by its contract.
   * @throws DomainError with the service's own code and words where it refused; `upstream_unavailable` for everything else,
   * which `isUnknownRoute` tells apart.
   */
  call<Answer>(method: 'GET' | 'POST', path: string, call: Call<Answer>): Promise<Answer>
  /** Whether whoever calls now has to wait for a connection. */
  isFull(): boolean
  /** Calls the service with bytes and answers with bytes, whatever the status. @throws DomainError `upstream_unavailable` */
  raw(method: 'GET' | 'POST', path: string, call?: RawCall): Promise<RawAnswer>
}

export interface Services {
  identity: Upstream
  /** Identity, for what has a password hashed: that takes long, and nothing else is to wait for it. */
  hashing: Upstream
  enrollment: Upstream
  billing: Upstream
  notifications: Upstream
  close(): Promise<void>
}

class UnknownRoute extends Error {}

/**
 * Whether a call failed since the service has no such route: it is of the version before, which may still be running in a
 * roll-out. There is nothing wrong with what was asked for, and the next one who is asked may know it.
 */
export function isUnknownRoute(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof UnknownRoute
}

/** What is told where a service has more to do than it can. */
export function busy(): DomainError {
  return new DomainError('busy', 'Many people are logging in just now. Please try again in a moment.')
}

/** A call as it is logged: an id in its path opens a family's pages, and a query may hold an address. */
const named = (method: string, path: string) =>
  `${method} ${path.replace(/\?.*$/s, '').replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, ':id')}`

/** @param timeoutMs from the call to the last byte of the answer, with the wait for a connection */
function upstream(
  url: string,
  timeoutMs: number,
  connections = usualConnections,
): Upstream & { close(): Promise<void> } {
  // The limit of a whole call is ours: these would begin only once a request has a connection.
  const pool = new Pool(url, { connections, headersTimeout: 0, bodyTimeout: 0, connectTimeout: 2_000 })
  const limit = new ConcurrencyLimit(connections)

  async function raw(
    method: 'GET' | 'POST',
    path: string,
    { headers, body, signal }: RawCall = {},
  ): Promise<RawAnswer> {
    // Read before the wait for a connection.
    const tracing = traceHeaders()
    const givenUp = new AbortController()
    const timer = setTimeout(
      () => givenUp.abort(new Error(`${named(method, path)} was not answered within ${timeoutMs} ms`)),
      timeoutMs,
    )
    try {
      await limit.acquire(...[givenUp.signal, signal].filter((one) => one !== undefined))
      try {
        const answer = await pool.request({
          method,
          path,
          body: body ?? null,
          headers: { ...headers, ...tracing },
          signal: givenUp.signal,
        })
        return {
          status: answer.statusCode,
          headers: answer.headers,
          body: Buffer.from(await answer.body.arrayBuffer()),
        }
      } finally {
        limit.release()
      }
    } catch (error) {
      throw unavailable(error)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    raw,
    isFull: () => limit.isFull,
    close: () => pool.close(),
    async call(method, path, { body, answer, headers, signal }) {
      const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
      const given = await raw(method, path, {
        headers: { ...headers, ...(json ? { 'content-type': 'application/json' } : {}) },
        body: json,
        signal,
      })
      let parsed: unknown
      try {
        parsed = JSON.parse(given.body.toString())
      } catch {
        // The error would repeat what it could not read.
        throw unavailable(new Error(`${named(method, path)} answered ${given.status} without JSON`))
      }
      if (given.status >= 200 && given.status < 300) {
        const read = answer.safeParse(parsed)
        if (read.success) return read.data
        const wrong = read.error.issues.map((issue) => issue.path.map(String).join('.')).join(', ')
        throw unavailable(new Error(`${named(method, path)} answered another shape: ${wrong}`))
      }
      const refusal = errorBodySchema.safeParse(parsed)
      if (refusal.success && given.status < 500) {
        const { code, message, issues, requestId: _, ...details } = refusal.data
        if (code === 'not_found') throw unavailable(new UnknownRoute(`${named(method, path)} is no route there`))
        throw new DomainError(code, message, issues, details)
      }
      throw unavailable(new Error(`${named(method, path)} answered ${given.status}`))
    },
  }
}

/** Opens a pool of connections to each service. */
export function connectServices(config: Config): Services {
  const { UPSTREAM_TIMEOUT_MS: timeoutMs } = config
  const services = {
    identity: upstream(config.IDENTITY_URL, timeoutMs),
    hashing: upstream(config.IDENTITY_URL, timeoutMs, hashingConnections),
    enrollment: upstream(config.ENROLLMENT_URL, timeoutMs),
    billing: upstream(config.BILLING_URL, timeoutMs),
    notifications: upstream(config.NOTIFICATIONS_URL, timeoutMs),
  }
  return {
    ...services,
    async close() {
      await Promise.all(Object.values(services).map((one) => one.close()))
    },
  }
}
