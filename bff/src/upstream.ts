import { errorBodySchema } from '@robokids/contracts/errors'
import { DomainError } from '@robokids/runtime/errors'
import { currentRequestId, currentTraceparent } from '@robokids/runtime/telemetry'
import { Pool } from 'undici'
import type { z } from 'zod'
import type { Config } from './config.ts'

interface Call<Answer> {
  body?: unknown
  answer: z.ZodType<Answer>
  headers?: Record<string, string>
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
   * @throws DomainError with the service's own code and words where it refused; `upstream_unavailable` for everything else.
   */
  call<Answer>(method: 'GET' | 'POST', path: string, call: Call<Answer>): Promise<Answer>
  /** Calls the service with bytes and answers with bytes, whatever the status. @throws DomainError `upstream_unavailable` */
  raw(method: 'GET' | 'POST', path: string, headers: Record<string, string>, body?: Buffer): Promise<RawAnswer>
}

export interface Services {
  identity: Upstream
  enrollment: Upstream
  billing: Upstream
  notifications: Upstream
  close(): Promise<void>
}

/** What a service could not be asked is told as, with its cause for the log. */
export function unavailable(cause: unknown): DomainError {
  const error = new DomainError('upstream_unavailable', 'Please try again in a moment.')
  error.cause = cause
  return error
}

function upstream(pool: Pool): Upstream {
  async function raw(
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string>,
    body?: Buffer,
  ): Promise<RawAnswer> {
    const traceparent = currentTraceparent()
    const requestId = currentRequestId()
    try {
      const answer = await pool.request({
        method,
        path,
        body: body ?? null,
        headers: {
          ...headers,
          ...(traceparent === undefined ? {} : { traceparent }),
          ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
        },
      })
      return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) }
    } catch (error) {
      throw unavailable(error)
    }
  }

  return {
    raw,
    async call(method, path, { body, answer, headers }) {
      const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
      const given = await raw(
        method,
        path,
        { ...headers, ...(json ? { 'content-type': 'application/json' } : {}) },
        json,
      )
      let parsed: unknown
      try {
        parsed = JSON.parse(given.body.toString())
      } catch (error) {
        throw unavailable(error)
      }
      if (given.status >= 200 && given.status < 300) {
        const read = answer.safeParse(parsed)
        if (read.success) return read.data
        throw unavailable(read.error)
      }
      const refusal = errorBodySchema.safeParse(parsed)
      if (refusal.success && given.status < 500)
        throw new DomainError(refusal.data.code, refusal.data.message, refusal.data.issues)
      throw unavailable(new Error(`${method} ${path} answered ${given.status}`))
    },
  }
}

/** Opens a pool of connections to each service. */
export function connectServices(config: Config): Services {
  const pool = (url: string) =>
    new Pool(url, {
      connections: 64,
      headersTimeout: config.UPSTREAM_TIMEOUT_MS,
      bodyTimeout: config.UPSTREAM_TIMEOUT_MS,
      connectTimeout: 2_000,
    })
  const pools = {
    identity: pool(config.IDENTITY_URL),
    enrollment: pool(config.ENROLLMENT_URL),
    billing: pool(config.BILLING_URL),
    notifications: pool(config.NOTIFICATIONS_URL),
  }
  return {
    identity: upstream(pools.identity),
    enrollment: upstream(pools.enrollment),
    billing: upstream(pools.billing),
    notifications: upstream(pools.notifications),
    async close() {
      await Promise.all(Object.values(pools).map((one) => one.close()))
    },
  }
}
