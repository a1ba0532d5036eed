import { randomUUID } from 'node:crypto'
import { DomainError, isConnectionError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { countedNetworks, type CountedNetwork } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { authorizeAdministrator } from './administrators.ts'
import type { Config } from '../config.ts'
import { IdentityError, invalid, missing } from './errors.ts'
import { SignInMetrics } from './sign-in-metrics.ts'
import { HashQueue, type HashSlot } from '../factors/hash-queue.ts'

const targetPrefix = 'AWSCognitoIdentityProviderService.'
const contentType = 'application/x-amz-json-1.1'

/** The context of an operation's call. */
export interface Call {
  context: Context<Config>
  /** The client's network address as limits count it (`networkOf`). */
  address: string
  /** The networks to count requests by: `address` and those that contain it. */
  networks: CountedNetwork[]
  /** The request's slot in the password hash queue. */
  hashing: HashSlot
}

/** One operation of the protocol. */
export interface Operation {
  /** Whether an administrator's AWS signature is required. */
  administrators: boolean
  input: z.ZodType
  run(input: never, call: Call): Promise<object>
}

/** Declares a public operation, which checks its own credentials. */
export function operation<Input>(
  input: z.ZodType<Input>,
  run: (input: Input, call: Call) => Promise<object>,
): Operation {
  return { administrators: false, input, run }
}

/** Declares an administrator operation. */
export function administration<Input>(
  input: z.ZodType<Input>,
  run: (input: Input, call: Call) => Promise<object>,
): Operation {
  return { administrators: true, input, run }
}

/** Deeper than any valid input, and far from exhausting the stack. */
const maxDepth = 32

/** Drops nulls, which clients send for absent fields, and rejects text that PostgreSQL cannot store. */
function clean(value: unknown, path: string, depth = 0): unknown {
  if (depth > maxDepth) throw new IdentityError('SerializationException', 'The body is nested too deeply.')
  if (typeof value === 'string') {
    if (value.includes('\u0000') || !value.isWellFormed()) throw invalid(`${path} has characters that are not allowed.`)
    return value
  }
  if (Array.isArray(value)) return value.map((entry) => clean(entry, path, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, entry]) => entry !== null)
      .map(([key, entry]) => [clean(key, path), clean(entry, path === '' ? key : `${path}.${key}`, depth + 1)]),
  )
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key]
  return value
}

/** Parses a request body. @throws IdentityError SerializationException or InvalidParameterException */
function read(input: z.ZodType, text: string): unknown {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new IdentityError('SerializationException', 'The body is not valid JSON.')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new IdentityError('SerializationException', 'The body is not a JSON object.')
  }
  const given = clean(body, '')
  const parsed = input.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const name = issue?.path.join('.') ?? ''
  if (issue && valueAt(given, issue.path) === undefined) throw missing(name)
  if (issue?.code === 'invalid_type') throw new IdentityError('SerializationException', `${name} has the wrong type.`)
  throw invalid(`1 validation error detected: Value at '${name}' failed to satisfy constraint: ${issue?.message ?? ''}`)
}

function toIdentityError(error: unknown, request: FastifyRequest): IdentityError {
  if (error instanceof IdentityError) return error
  const statusCode =
    error instanceof DomainError ? error.status : ((error as { statusCode?: number }).statusCode ?? 500)
  if (statusCode === 413) return new IdentityError('SerializationException', 'The body is too large.')
  if (statusCode >= 400 && statusCode < 500)
    return new IdentityError('SerializationException', 'The request is not valid.')
  // The process is shutting down.
  if (statusCode === 503) return new IdentityError('InternalErrorException', 'Please try again in a moment.')
  if (isConnectionError(error)) request.log.warn({ err: error }, 'database is unavailable')
  else request.log.error({ err: error, target: request.headers['x-amz-target'] }, 'operation failed')
  return new IdentityError('InternalErrorException', 'Something went wrong.')
}

/** Serves the protocol at `POST /`; the header `X-Amz-Target` names the operation. */
export function protocolRoutes(http: Http, context: Context<Config>, operations: Record<string, Operation>): void {
  const queue = new HashQueue(context)
  const signIns = new SignInMetrics(context)
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  http.addHook('onSend', async (_request, reply) => {
    void reply.header('x-amzn-requestid', randomUUID()).header('cache-control', 'no-store')
  })
  http.setErrorHandler((error, request, reply) => {
    const { name, message } = toIdentityError(error, request)
    const status = name === 'InternalErrorException' ? 500 : name === 'ServiceUnavailable' ? 503 : 400
    if (status === 503) void reply.header('retry-after', '2')
    return reply
      .code(status)
      .header('x-amzn-errortype', name)
      .type(contentType)
      .serializer(JSON.stringify)
      .send({ __type: name, message })
  })
  http.route({
    method: ['GET', 'PUT', 'PATCH', 'DELETE'],
    url: '/',
    handler: async () => {
      throw new IdentityError('UnknownOperationException', 'Operations are sent by POST.')
    },
  })
  http.post('/', async (request, reply) => {
    const target = String(request.headers['x-amz-target'] ?? '')
    const name = target.startsWith(targetPrefix) ? target.slice(targetPrefix.length) : ''
    const found = Object.hasOwn(operations, name) ? operations[name] : undefined
    if (!found) throw new IdentityError('UnknownOperationException', `Unknown operation ${name}`)
    const text = typeof request.body === 'string' ? request.body : ''
    const hashing = queue.slot(() => request.raw.socket.destroyed)
    if (found.administrators) {
      await authorizeAdministrator(request, text, context)
      hashing.account = 'administrators'
    }
    const networks = countedNetworks(request.ip)
    const call = { context, address: networks[0].name, networks, hashing }
    const input = read(found.input, text)
    const answer = await signIns.count(name, input, () => found.run(input as never, call))
    return reply.type(contentType).serializer(JSON.stringify).send(answer)
  })
}
