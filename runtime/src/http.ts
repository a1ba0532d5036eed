import { randomUUIDv7 } from 'node:crypto'
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
  if (status >= 500) request.log.error(about, 'request failed')
  else if (unstorable.has(sqlState(error) ?? '')) request.log.warn(about, 'the database cannot hold what was sent')
  if (status === 503) void reply.header('retry-after', '2')
  // A refusal is about this one request; a cache may keep a 404 else.
  void reply.header('cache-control', 'no-store')
  const body: ErrorBody = {
    code,
    message: refusal?.message ?? 'Something went wrong.',
    requestId: request.id,
    ...(refusal?.issues ? { issues: refusal.issues } : {}),
    ...refusal?.details,
  }
  return reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(body)
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
    // A page of 500 ids fits into a query.
    http: { maxHeaderSize: 32 * 1024 },
    requestTimeout: 30_000,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUIDv7()
    },
    routerOptions: { maxParamLength: 200 },
  }).withTypeProvider<ZodTypeProvider>()
  http.setValidatorCompiler(validatorCompiler)
  http.setSerializerCompiler(serializerCompiler)

  http.addHook('onRequest', (request, reply, next) => {
    void reply.header('x-request-id', request.id)
    const traceparent = request.headers['traceparent']
    inTrace(typeof traceparent === 'string' ? traceparent : undefined, request.id, () => {
      next()
    })
  })
  let closing = false
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
