/**
 * Idempotency keys of POST requests. Once a request has started to execute, its response is saved, errors included, and
 * replayed for repetitions. A request that was rejected for its parameters has not started, so its key stays free.
 */
import { createHash } from 'node:crypto'
import { ApiError, invalidRequest } from '../protocol/errors.ts'
import type { FormObject } from '../protocol/form-body.ts'
import type { Context } from '../resources/context.ts'
import type { SavedResponse } from '../store/store.ts'

const retentionSeconds = 24 * 3600
const maxKeyLength = 255

export function fingerprint(method: string, path: string, params: FormObject): string {
  return createHash('sha256')
    .update(`${method} ${path}\n${canonical(params)}`)
    .digest('hex')
}

function canonical(value: FormObject | string): string {
  if (typeof value === 'string') return JSON.stringify(value)
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? '')}`)
  return `{${entries.join(',')}}`
}

export class IdempotencyKeys {
  readonly #ctx: Context
  /** The keys and fingerprints of requests in flight. */
  readonly #inFlight = new Map<string, string>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Returns the saved response to replay, or null: then the caller executes and must finish with `save` or `release`. */
  begin(key: string, print: string): SavedResponse | null {
    if (key.length > maxKeyLength) {
      throw invalidRequest(
        `Idempotency keys can have up to ${maxKeyLength} characters, but you passed in one of ${key.length}.`,
      )
    }
    const saved = this.#ctx.store.savedResponses.get(key)
    const isValid = saved !== undefined && this.#ctx.clock.seconds() - saved.createdAt < retentionSeconds
    const used = isValid ? saved.fingerprint : this.#inFlight.get(key)
    if (used !== undefined && used !== print) {
      throw new ApiError(400, {
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      })
    }
    if (this.#inFlight.has(key)) {
      throw new ApiError(409, {
        type: 'invalid_request_error',
        code: 'idempotency_key_in_use',
        message: `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`,
      })
    }
    if (isValid) return saved
    this.#inFlight.set(key, print)
    return null
  }

  save(key: string, response: { status: number; body: unknown; requestId: string }): void {
    const print = this.#inFlight.get(key)
    this.#inFlight.delete(key)
    if (print === undefined) return
    this.#forget()
    this.#ctx.store.savedResponses.set(key, {
      key,
      fingerprint: print,
      status: response.status,
      body: structuredClone(response.body),
      requestId: response.requestId,
      createdAt: this.#ctx.clock.seconds(),
    })
  }

  release(key: string): void {
    this.#inFlight.delete(key)
  }

  /** Responses older than a day, which come first in the map. */
  #forget(): void {
    const oldest = this.#ctx.clock.seconds() - retentionSeconds
    for (const [key, saved] of this.#ctx.store.savedResponses) {
      if (saved.createdAt > oldest) return
      this.#ctx.store.savedResponses.delete(key)
    }
  }
}
