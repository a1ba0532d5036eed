import { randomUUIDv7 } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorBody, Issue, RefusalDetails } from '@robokids/contracts/errors'
import { errorStatus, type ErrorCode } from '@robokids/contracts/errors'
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
  type RouteOptions,
} from 'fastify'
import {
  hasZodFastifySchemaValidationErrors,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod'
import type { BaseConfig } from './config.ts'
import { DomainError, isConnectionError, sqlState } from './errors.ts'
import { inTrace, type Logger, type Metrics } from './telemetry.ts'

/** A Fastify server whose routes are typed and checked by zod schemas. */
export type Http = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route, in the order in which they were added. */
    routeTable: RouteOptions[]
    /** What each answer carries; a server adds its own before it listens. */
    answerHeaders: Record<string, string>
  }
}

const frameworkErrors: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is too large.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['malformed_body', 'The body is empty.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['malformed_body', 'The body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_body', 'The body is shorter or longer than announced.'],
  FST_ERR_BAD_URL: ['validation_failed', 'The address cannot be read.'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'There is nothing at this address.'],
  FST_ERR_VALIDATION: ['validation_failed', 'The request is not valid.'],
}

/** How long answers may take once the process is told to stop. */
const lastAnswersMs = 5_000

/** A value that somebody sent and the database cannot hold. Everything else of class 22 is a fault of ours. */
const unstorable = new Set([
  '22021', // character_not_in_repertoire: a NUL in text
  '22P02', // invalid_text_representation
  '22P05', // untranslatable_character
])

interface Refusal {
  code: ErrorCode
  message: string
  issues?: Issue[] | undefined
  details?: RefusalDetails
}

function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof DomainError) return error
  if (hasZodFastifySchemaValidationErrors(error)) {
    const issues = error.validation.map((issue) => ({
      path: issue.instancePath.replace(/^\//, '').replaceAll('/', '.'),
      message: issue.message ?? 'Not valid.',
    }))
    return { code: 'validation_failed', message: issues[0]?.message ?? 'The request is not valid.', issues }
  }
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  const known = Object.hasOwn(frameworkErrors, code) ? frameworkErrors[code] : undefined
  if (known) return { code: known[0], message: known[1] }
  if (error instanceof SyntaxError && statusCode === 400)
    return { code: 'malformed_body', message: 'The body is not valid JSON.' }
  if (statusCode >= 400 && statusCode < 500) return { code: 'validation_failed', message: 'The request is not valid.' }
  if (unstorable.has(sqlState(error) ?? ''))
    return { code: 'validation_failed', message: 'The request holds a value that cannot be stored.' }
  if (isConnectionError(error)) return { code: 'upstream_unavailable', message: 'Please try again in a moment.' }
  return undefined
}

/** Answers what was thrown: an error body has one shape everywhere, also past a route's own schemas. */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const refusal = refusalOf(error)
  const code = refusal?.code ?? 'internal'
  const status = errorStatus[code]
  const about = { err: error, route: request.routeOptions.url }
  // Whoever is busy has said so, in a line a minute.
  if (status >= 500 && code !== 'busy') request.log.error(about, 'request failed')
  else if (unstorable.has(sqlState(error) ?? '')) request.log.warn(about, 'the database cannot hold what was sent')
  if (status === 503) void reply.header('retry-after', '2')
  if (status === 429 && !reply.hasHeader('retry-after')) void reply.header('retry-after', '60')
  // What failed before the first hook has none of these yet. A refusal is about this one request; a cache may keep a 404 else.
  void reply
    .headers(request.server.answerHeaders)
    .header('x-request-id', request.id)
    .header('cache-control', 'no-store')
  const body: ErrorBody = {
    code,
    message: refusal?.message ?? 'Something went wrong.',
    requestId: request.id,
    ...(refusal?.issues ? { issues: refusal.issues } : {}),
    ...refusal?.details,
  }
  return reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(body)
}

/** What could not be read as HTTP, by the parser's own codes. */
const parserErrors: Record<string, [ErrorCode, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The address and the headers are too long.'],
}

const answered = new WeakSet<Socket>()
/** How long somebody may take to read why the connection is closed. */
const lastWordMs = 2_000

/** Answers on a connection whose request never became one, as any other error is answered, and closes it. */
function answerParserError(http: Http, error: NodeJS.ErrnoException, socket: Socket): void {
  // What comes after it on the same connection cannot be read either.
  if (answered.has(socket)) return
  answered.add(socket)
  const { _httpMessage: begun } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null }
  if (error.code === 'ECONNRESET' || !socket.writable || begun?.headersSent === true) {
    socket.destroy(error)
    return
  }
  const [code, message] = parserErrors[error.code ?? ''] ?? ['malformed_request', 'This is not a valid HTTP request.']
  const requestId = randomUUIDv7()
  const body = JSON.stringify({ code, message, requestId } satisfies ErrorBody)
  const headers = {
    ...http.answerHeaders,
    'cache-control': 'no-store',
    connection: 'close',
    'content-length': String(Buffer.byteLength(body)),
    'content-type': 'application/json; charset=utf-8',
    date: new Date(Temporal.Now.instant().epochMilliseconds).toUTCString(),
    'x-request-id': requestId,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = errorStatus[code]
  // Its own words stay out of the log: they repeat what was sent.
  http.log.debug({ code: error.code, requestId }, 'a request could not be read')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`)
  setTimeout(() => socket.destroy(), lastWordMs).unref()
}

/** Creates the server of a process: request ids, trace context, error bodies, body limits and metrics are the same everywhere. */
export function createHttp(config: BaseConfig, log: Logger, metrics: Metrics): Http {
  const http: Http = Fastify<RawServerDefault>({
    loggerInstance: log,
    // Addresses that cannot be read, before there is a route.
    frameworkErrors: answerError,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.TRUST_PROXY,
    bodyLimit: 100 * 1024,
    http: {
      // A page of 500 ids fits into a query.
      maxHeaderSize: 32 * 1024,
      // Node would answer a request without a Host, which HTTP/1.1 asks for, with nothing but a status.
      requireHostHeader: false,
      // How often it is looked for requests that take too long.
      connectionsCheckingInterval: Math.min(config.REQUEST_TIMEOUT_MS, 5_000),
      // Of the two limits, Node takes the longer for the whole request: by default that would be a minute.
      headersTimeout: config.REQUEST_TIMEOUT_MS,
    },
    requestTimeout: config.REQUEST_TIMEOUT_MS,
    clientErrorHandler: (error, socket) => answerParserError(http, error, socket),
    forceCloseConnections: 'idle',
    // It would be answered without our body.
    return503OnClosing: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUIDv7()
    },
    routerOptions: { maxParamLength: 200 },
  }).withTypeProvider<ZodTypeProvider>()
  http.decorate('routeTable', [])
  http.decorate('answerHeaders', {})
  http.addHook('onRoute', (route) => void http.routeTable.push(route))
  // No proxy: a tunnel is asked for by mistake or by somebody who looks for one.
  http.server.on('connect', (_request, socket) => answerParserError(http, new Error('CONNECT'), socket as Socket))
  // An expectation that is not known is none: Node would answer it without a body.
  http.server.on('checkExpectation', (request, response) => void http.server.emit('request', request, response))
  http.setValidatorCompiler(validatorCompiler)
  http.setSerializerCompiler(serializerCompiler)

  let closing = false
  http.addHook('onRequest', (request, reply, next) => {
    void reply.headers(http.answerHeaders).header('x-request-id', request.id)
    if (closing) throw new DomainError('upstream_unavailable', 'Please try again in a moment.')
    if (request.headers.host === undefined && request.raw.httpVersion !== '1.0')
      throw new DomainError('malformed_request', 'The Host header is missing.')
    const traceparent = request.headers['traceparent']
    inTrace(typeof traceparent === 'string' ? traceparent : undefined, request.id, () => {
      next()
    })
  })
  http.addHook('preClose', (done) => {
    closing = true
    // Whoever does not read an answer to its end does not hold up the stop.
    setTimeout(() => http.server.closeAllConnections(), lastAnswersMs).unref()
    done()
  })
  // An answer to what was accepted before the stop: kept alive after it, its connection would hold up the stop.
  http.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) void reply.header('connection', 'close')
    done(null, payload)
  })
  http.addHook('onResponse', (request, reply, next) => {
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: String(reply.statusCode),
    }
    metrics.httpDuration.observe(labels, reply.elapsedTime / 1000)
    next()
  })

  http.setErrorHandler(answerError)
  http.setNotFoundHandler(() => {
    throw new DomainError('not_found', 'There is nothing at this address.')
  })
  return http
}
