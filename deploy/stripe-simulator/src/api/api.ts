/** Serves the API's endpoints: authentication, request encoding, idempotency, injected faults, error bodies, headers. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Fault } from '../faults.ts'
import { latestApiVersion } from '../protocol/api-versions.ts'
import { ApiError, internalError, invalidRequest } from '../protocol/errors.ts'
import { emptyForm, formOf, parseForm, type FormObject } from '../protocol/form-body.ts'
import { newId } from '../protocol/ids.ts'
import { report } from '../report.ts'
import type { Context } from '../resources/context.ts'
import type { Endpoint, Routes } from '../resources/routes.ts'
import { authenticate } from './auth.ts'
import { expand } from './expand.ts'
import { fingerprint, IdempotencyKeys } from './idempotency.ts'

interface Answer {
  status: number
  body: unknown
}

export class Api {
  readonly idempotencyKeys: IdempotencyKeys
  readonly #ctx: Context

  constructor(ctx: Context) {
    this.#ctx = ctx
    this.idempotencyKeys = new IdempotencyKeys(ctx)
  }

  register(app: FastifyInstance, resources: readonly Routes[]): void {
    for (const routes of resources) {
      routes((endpoint) => {
        app.route<{ Params: { id?: string } }>({
          method: endpoint.method,
          url: endpoint.path,
          handler: (request, reply) => this.#handle(endpoint, request, reply),
        })
      })
    }
  }

  async #handle(
    endpoint: Endpoint,
    request: FastifyRequest<{ Params: { id?: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const requestId = newId('req_')
    const path = request.url.split('?', 1)[0] ?? ''
    const key = endpoint.method === 'POST' ? headerOf(request, 'idempotency-key') : undefined
    void reply.headers({
      'request-id': requestId,
      'stripe-version': latestApiVersion,
      // The simulated time: a client can detect a clock difference from it, as with Stripe's header.
      date: new Date(this.#ctx.clock.ms()).toUTCString(),
    })
    if (key !== undefined) void reply.header('idempotency-key', key)

    let hasKey = false
    let response: Answer
    let faults: Fault[] = []
    try {
      authenticate(request.headers.authorization, this.#ctx.settings.apiKeys)
      checkVersion(request)
      const form = readForm(request)
      faults = this.#ctx.faults.take(endpoint.method, path)
      const injected = faults.find((fault) => fault.kind === 'error' && fault.when === 'before')
      if (faults.some((fault) => fault.kind === 'reset' && fault.when === 'before')) {
        return cut(request, reply)
      }
      if (injected !== undefined) throw injectedError(injected)

      const print = fingerprint(endpoint.method, path, form)
      const saved = key === undefined ? null : this.idempotencyKeys.begin(key, print)
      if (saved !== null) {
        void reply.headers({ 'idempotent-replayed': 'true', 'original-request': saved.requestId })
        response = { status: saved.status, body: saved.body }
      } else {
        hasKey = true
        const params = endpoint.params(form, '')
        await pause(faults, 'before', this.#standingDelay(endpoint))
        response = this.#execute(endpoint, params, request.params.id ?? '', { requestId, idempotencyKey: key ?? null })
        const injectedAfter = faults.find((fault) => fault.kind === 'error' && fault.when === 'after')
        if (injectedAfter !== undefined) {
          response = { status: injectedAfter.status, body: injectedError(injectedAfter).body(requestId) }
        }
        if (key !== undefined) this.idempotencyKeys.save(key, { ...response, requestId })
      }
    } catch (error) {
      // Nothing was executed: the key stays free for a corrected request.
      if (hasKey && key !== undefined) this.idempotencyKeys.release(key)
      const apiError = error instanceof ApiError ? error : unexpected(error)
      response = { status: apiError.status, body: apiError.body(requestId) }
    }
    await pause(faults, 'after')
    if (faults.some((fault) => fault.kind === 'reset' && fault.when === 'after')) {
      return cut(request, reply)
    }
    return reply.code(response.status).send(response.body)
  }

  /** Any failure from here on is an outcome of the execution and is saved. */
  #execute(
    endpoint: Endpoint,
    params: { expand?: string[] | undefined },
    id: string,
    cause: { requestId: string; idempotencyKey: string | null },
  ): Answer {
    try {
      const result = endpoint.run(this.#ctx, params as never, { id }, cause)
      return { status: 200, body: expand(this.#ctx, result, params.expand ?? []) }
    } catch (error) {
      const apiError = error instanceof ApiError ? error : unexpected(error)
      return { status: apiError.status, body: apiError.body(cause.requestId) }
    }
  }

  #standingDelay(endpoint: Endpoint): number {
    const isCreate = endpoint.method === 'POST' && endpoint.path === '/v1/checkout/sessions'
    return isCreate ? this.#ctx.settings.sessionCreateDelayMs : 0
  }
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  const first = Array.isArray(value) ? value[0] : value
  return first === '' ? undefined : first
}

function checkVersion(request: FastifyRequest): void {
  const version = headerOf(request, 'stripe-version')
  if (version === undefined || version === latestApiVersion) return
  throw invalidRequest(
    `Invalid Stripe API version: ${version.slice(0, 60)}. The payment simulator answers in ${latestApiVersion} only.`,
  )
}

/** GET parameters are in the query; POST parameters in the body (of API v2 as JSON), where a query is a client's mistake. */
function readForm(request: FastifyRequest): FormObject {
  const query = request.url.indexOf('?')
  if (request.method !== 'POST') {
    return query === -1 ? emptyForm() : parseForm(request.url.slice(query + 1))
  }
  if (request.body === undefined || request.body === null) return emptyForm()
  if (request.url.startsWith('/v2/') && typeof request.body === 'object') return formOf(request.body)
  if (typeof request.body !== 'string') {
    throw invalidRequest(
      'Invalid request (check that your POST content type is application/x-www-form-urlencoded). If you have any questions, we can help at https://support.stripe.com/.',
    )
  }
  return parseForm(request.body)
}

async function pause(faults: readonly Fault[], when: Fault['when'], standingMs = 0): Promise<void> {
  const delays = faults.filter((fault) => fault.kind === 'delay' && fault.when === when)
  const ms = delays.reduce((sum, fault) => sum + fault.delayMs, standingMs)
  if (ms > 0) await sleep(ms)
}

/** Closes the connection without a response, as a broken network does. */
function cut(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack()
  request.raw.socket.resetAndDestroy()
  return reply
}

function injectedError(fault: Fault): ApiError {
  return new ApiError(fault.status, {
    type: fault.status >= 500 ? 'api_error' : 'invalid_request_error',
    message: 'This error was ordered by a test through /_sim/faults.',
    ...(fault.status === 429 ? { code: 'rate_limit' } : {}),
  })
}

function unexpected(error: unknown): ApiError {
  report('unexpected error', error)
  return internalError()
}
