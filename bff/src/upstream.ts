import { errorBodySchema } from '@robokids/contracts/errors'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import { inSpan, traceHeaders } from '@robokids/runtime/trace'
import type { z } from 'zod'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import type { Config } from './config.ts'
import { copiesAt, type RawAnswer } from './copies.ts'

/** The maximum number of concurrent requests per service. */
const defaultConnections = 64
/** More, because requests queue at identity, which rejects what it cannot do soon. */
const hashingConnections = 256

interface RawCall {
  headers?: Record<string, string>
  body?: Buffer | undefined
  /**
   * A read's `request.signal`: cancels it if the visitor leaves while it waits for a connection. Once sent, it is read to its end,
   * because aborting it would close its connection. Changes have no signal: a visitor who closes the page after signing out
   * still wants to be signed out. (And `request.signal` aborts as soon as a body has been read.)
   */
  signal?: AbortSignal | undefined
}

export interface Call<Answer> extends Omit<RawCall, 'body'> {
  body?: unknown
  answer: z.ZodType<Answer>
}

/** A service behind the BFF. */
export interface Upstream {
  /**
   * Calls the service and parses its response by its contract.
   * @throws DomainError with the service's own code and message if it rejected the call; `upstream_unavailable` for everything
   * else, including a missing route (`isUnknownRoute`).
   */
  call<Answer>(method: 'GET' | 'POST', path: string, call: Call<Answer>): Promise<Answer>
  /** Whether a call now has to wait for a connection. */
  isFull(): boolean
  /** Sends bytes and returns bytes, whatever the status. @throws DomainError `upstream_unavailable` */
  raw(method: 'GET' | 'POST', path: string, call?: RawCall): Promise<RawAnswer>
}

export interface Services {
  identity: Upstream
  /** Identity, for calls that hash a password: these are slow, and must not block others. */
  hashing: Upstream
  enrollment: Upstream
  billing: Upstream
  notifications: Upstream
}

class UnknownRoute extends Error {}

/**
 * Whether a call failed because the service has no such route: it is of the previous version, during a roll-out. The request is
 * fine, and another process may know the route.
 */
export function isUnknownRoute(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof UnknownRoute
}

/** The error for an overloaded service. */
export function busy(): DomainError {
  return new DomainError('busy', 'Many people are logging in right now. Please try again in a moment.')
}

/** A call without what must not be logged: an id gives access to a family's pages, and a query may contain an email. */
const logNameOf = (method: string, path: string) =>
  `${method} ${path.replace(/\?.*$/s, '').replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, ':id')}`

/** @param timeoutMs for the whole call, including the wait for a connection */
function upstream(url: string, timeoutMs: number, connections = defaultConnections): Upstream {
  const copies = copiesAt(url)
  const limit = new ConcurrencyLimit(connections)

  const raw: Upstream['raw'] = (method, path, call = {}) =>
    inSpan(
      { name: logNameOf(method, path), kind: 'client', attributes: { 'server.address': new URL(url).host } },
      async () => send(method, path, call),
    )

  async function send(method: 'GET' | 'POST', path: string, { headers, body, signal }: RawCall): Promise<RawAnswer> {
    // Read before waiting for a connection.
    const tracing = traceHeaders()
    const timeout = new AbortController()
    const timer = setTimeout(
      () => timeout.abort(new Error(`${logNameOf(method, path)} timed out after ${timeoutMs} ms`)),
      timeoutMs,
    )
    try {
      await limit.acquire(...[timeout.signal, signal].filter((one) => one !== undefined))
      try {
        return await copies.request(method, path, {
          headers: { ...headers, ...tracing },
          body,
          signal: timeout.signal,
        })
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
        // The original error would contain the unreadable text.
        throw unavailable(new Error(`${logNameOf(method, path)} returned ${given.status} without JSON`))
      }
      if (given.status >= 200 && given.status < 300) {
        const read = answer.safeParse(parsed)
        if (read.success) return read.data
        const wrong = read.error.issues.map((issue) => issue.path.map(String).join('.')).join(', ')
        throw unavailable(new Error(`${logNameOf(method, path)} returned an invalid response: ${wrong}`))
      }
      const failure = errorBodySchema.safeParse(parsed)
      if (failure.success && given.status < 500) {
        const { code, message, issues, requestId: _, ...details } = failure.data
        if (code === 'not_found') throw unavailable(new UnknownRoute(`${logNameOf(method, path)} does not exist there`))
        throw new DomainError(code, message, issues, details)
      }
      throw unavailable(new Error(`${logNameOf(method, path)} returned ${given.status}`))
    },
  }
}

/** Connects to the services, each with a limit of concurrent requests. */
export function connectServices(config: Config): Services {
  const { UPSTREAM_TIMEOUT_MS: timeoutMs } = config
  return {
    identity: upstream(config.IDENTITY_URL, timeoutMs),
    hashing: upstream(config.IDENTITY_URL, timeoutMs, hashingConnections),
    enrollment: upstream(config.ENROLLMENT_URL, timeoutMs),
    billing: upstream(config.BILLING_URL, timeoutMs),
    notifications: upstream(config.NOTIFICATIONS_URL, timeoutMs),
  }
}
