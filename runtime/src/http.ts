import { randomUUIDv7 } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorBody, Issue, ErrorDetails } from '@robokids/contracts/errors'
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
import { isInternalRequest } from './internal-requests.ts'
import type { Logger, Metrics } from './telemetry.ts'
import { beginTrace, type Span, type SpanRecorder } from './trace.ts'

/** A Fastify server whose routes are typed and validated by zod schemas. */
export type Http = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

declare module 'fastify' {
  interface FastifyInstance {
    /** All routes, in the order in which they were added. */
    routeTable: RouteOptions[]
    /** The headers of every response; a process adds its own before it listens. */
    responseHeaders: Record<string, string>
  }
  interface FastifyRequest {
    /** Its span; undefined for probes and scrapes, and before the first hook. */
    span?: Span
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

/** How long open responses may take after the process is told to stop. */
const drainTimeoutMs = 5_000

/** SQLSTATEs of values from a request that the database cannot store. All others of class 22 are our own bugs. */
const unstorableStates = new Set([
  '22021', // character_not_in_repertoire: a NUL in text
  '22P02', // invalid_text_representation
  '22P05', // untranslatable_character
])

interface ErrorResponse {
  code: ErrorCode
  message: string
  issues?: Issue[] | undefined
  details?: ErrorDetails
}

function toErrorResponse(error: unknown): ErrorResponse | undefined {
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
  if (unstorableStates.has(sqlState(error) ?? ''))
    return { code: 'validation_failed', message: 'The request holds a value that cannot be stored.' }
  if (isConnectionError(error)) return { code: 'upstream_unavailable', message: 'Please try again in a moment.' }
  return undefined
}

/** Sends an error response. Its body has the same format everywhere, bypassing the route's own schemas. */
function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const refusal = toErrorResponse(error)
  const code = refusal?.code ?? 'internal'
  const status = errorStatus[code]
  const about = { err: error, route: request.routeOptions.url }
  // `busy` is logged where it is thrown, once a minute.
  if (status >= 500 && code !== 'busy') request.log.error(about, 'request failed')
  else if (unstorableStates.has(sqlState(error) ?? ''))
    request.log.warn(about, 'a request has a value that the database cannot store')
  if (status === 503) void reply.header('retry-after', '2')
  if (status === 429 && !reply.hasHeader('retry-after')) void reply.header('retry-after', '60')
  // An error before the first hook has none of these headers yet. `no-store`, because a cache could otherwise store a 404.
  void reply
    .headers(request.server.responseHeaders)
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

/** Errors of Node's HTTP parser, by its codes. */
const parserErrors: Record<string, [ErrorCode, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The address and the headers are too long.'],
}

const handledSockets = new WeakSet<Socket>()
/** How long a client may take to read the error before the connection is closed. */
const closeDelayMs = 2_000

/** Sends the usual error response to a request that could not be parsed, and closes the connection. */
function sendParserError(http: Http, error: NodeJS.ErrnoException, socket: Socket): void {
  // The parser reports further errors for the rest of the data.
  if (handledSockets.has(socket)) return
  handledSockets.add(socket)
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null }
  if (error.code === 'ECONNRESET' || !socket.writable || response?.headersSent === true) {
    socket.destroy(error)
    return
  }
  const [code, message] = parserErrors[error.code ?? ''] ?? ['malformed_request', 'This is not a valid HTTP request.']
  const requestId = randomUUIDv7()
  const body = JSON.stringify({ code, message, requestId } satisfies ErrorBody)
  const headers = {
    ...http.responseHeaders,
    'cache-control': 'no-store',
    connection: 'close',
    'content-length': String(Buffer.byteLength(body)),
    'content-type': 'application/json; charset=utf-8',
    date: new Date(Temporal.Now.instant().epochMilliseconds).toUTCString(),
    'x-request-id': requestId,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = errorStatus[code]
  // The parser's message is not logged, because it repeats the data.
  http.log.debug({ code: error.code, requestId }, 'a request could not be parsed')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`)
  setTimeout(() => socket.destroy(), closeDelayMs).unref()
}

/**
 * Creates the server of a process, with the same request ids, trace context, error bodies, body limits, metrics and log lines
 * everywhere.
 * @param stopping whether the process will stop soon: each response then closes its connection, so that its client opens the
 * next one to another process.
 * @param isPublic whether strangers call it: their requests start traces of their own, whatever `traceparent` they send.
 */
export function createHttp(
  config: BaseConfig,
  log: Logger,
  metrics: Metrics,
  {
    stopping = () => false,
    recorder,
    isPublic = false,
  }: { stopping?: () => boolean; recorder?: SpanRecorder | undefined; isPublic?: boolean | undefined } = {},
): Http {
  const http: Http = Fastify<RawServerDefault>({
    loggerInstance: log,
    // Malformed URLs, which are detected before routing.
    frameworkErrors: sendError,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.TRUST_PROXY,
    bodyLimit: 100 * 1024,
    http: {
      // 500 ids fit into a query.
      maxHeaderSize: 32 * 1024,
      // Node would respond to a missing Host header, which HTTP/1.1 requires, without a body.
      requireHostHeader: false,
      // How often Node checks for requests that take too long.
      connectionsCheckingInterval: Math.min(config.REQUEST_TIMEOUT_MS, 5_000),
      // Node uses the longer of the two timeouts for the whole request; this one's default is a minute.
      headersTimeout: config.REQUEST_TIMEOUT_MS,
    },
    requestTimeout: config.REQUEST_TIMEOUT_MS,
    clientErrorHandler: (error, socket) => sendParserError(http, error, socket),
    forceCloseConnections: 'idle',
    // Its response would not have our error body.
    return503OnClosing: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUIDv7()
    },
    routerOptions: { maxParamLength: 200 },
  }).withTypeProvider<ZodTypeProvider>()
  http.decorate('routeTable', [])
  http.decorate('responseHeaders', {})
  http.addHook('onRoute', (route) => void http.routeTable.push(route))
  // CONNECT: this is not a proxy.
  http.server.on('connect', (_request, socket) => sendParserError(http, new Error('CONNECT'), socket as Socket))
  // Ignores unknown Expect headers, to which Node would respond without a body.
  http.server.on('checkExpectation', (request, response) => void http.server.emit('request', request, response))
  http.setValidatorCompiler(validatorCompiler)
  http.setSerializerCompiler(serializerCompiler)

  let closing = false
  http.addHook('onRequest', (request, reply, next) => {
    void reply.headers(http.responseHeaders).header('x-request-id', request.id)
    if (closing) throw new DomainError('upstream_unavailable', 'Please try again in a moment.')
    if (request.headers.host === undefined && request.raw.httpVersion !== '1.0')
      throw new DomainError('malformed_request', 'The Host header is missing.')
    const { url: route = 'none', logLevel } = request.routeOptions
    const { traceparent } = request.headers
    const isTrusted = typeof traceparent === 'string' && (!isPublic || isInternalRequest(request))
    const span = beginTrace({
      name: `${request.method} ${route}`,
      kind: 'server',
      // Neither the address nor the query: both can give access to a family's pages.
      attributes: { 'http.request.method': request.method, 'http.route': route, 'request.id': request.id },
      traceparent: isTrusted ? traceparent : undefined,
      requestId: request.id,
      recorder: logLevel === 'silent' ? undefined : recorder,
    })
    request.span = span
    span.run(() => {
      next()
    })
  })
  http.addHook('preClose', (done) => {
    closing = true
    // A client that does not read its response must not delay the stop.
    setTimeout(() => http.server.closeAllConnections(), drainTimeoutMs).unref()
    done()
  })
  // A connection that is kept alive would delay the stop.
  http.addHook('onSend', (_request, reply, payload, done) => {
    if (closing || stopping()) void reply.header('connection', 'close')
    done(null, payload)
  })
  http.addHook('onResponse', (request, reply, next) => {
    const { method, span } = request
    const { url: route = 'none' } = request.routeOptions
    const { statusCode: status, elapsedTime } = reply
    metrics.httpDuration.observe({ method, route, status: String(status) }, elapsedTime / 1000)
    span?.setAttributes({ 'http.response.status_code': status })
    if (status >= 500) span?.fail(String(status))
    // The route, not the address: that can contain references and codes.
    const write = () => request.log.info({ method, route, status, ms: Math.round(elapsedTime) }, 'request')
    if (span) span.run(write)
    else write()
    span?.end()
    next()
  })

  http.setErrorHandler(sendError)
  http.setNotFoundHandler(() => {
    throw new DomainError('not_found', 'There is nothing at this address.')
  })
  return http
}
