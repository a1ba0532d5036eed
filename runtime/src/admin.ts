import { BlockList, isIP } from 'node:net'
import { uuid } from '@robokids/contracts/fields'
import { systemSchema } from '@robokids/contracts/system'
import type { FastifyRequest, preHandlerHookHandler } from 'fastify'
import { z } from 'zod'
import { DomainError } from './errors.ts'
import type { Http } from './http.ts'
import { listRefused, outboxSchema, readOutboxState, republish } from './outbox.ts'
import { deadLetterSchema, listDeadLetters, replayDeadLetter, type Consumer } from './inbox.ts'
import { isSameSecret } from './same-secret.ts'
import type { Context } from './service.ts'

/** A hook for routes that only administrators may call: they send the admin secret as `x-admin-secret`. */
export function requireAdmin(secret: string): preHandlerHookHandler {
  return (request, _reply, next) => {
    const given = request.headers['x-admin-secret']
    if (typeof given === 'string' && isSameSecret(given, secret)) return next()
    throw new DomainError('admin_secret_invalid', 'This needs the admin secret.')
  }
}

const privateAddresses = new BlockList()
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  privateAddresses.addSubnet(network, prefix, 'ipv4')
privateAddresses.addAddress('::1', 'ipv6')
privateAddresses.addSubnet('fc00::', 7, 'ipv6')
privateAddresses.addSubnet('fe80::', 10, 'ipv6')

/**
 * Whether a request comes from this machine or its private network, and through no proxy: from a scraper or a probe. Goes
 * by the connection itself, so that no header makes a visitor one.
 */
export function isNeighbour({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  if (headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined) return false
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:(?=[\d.]+$)/, '')
  return isIP(address) !== 0 && privateAddresses.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** A hook for what is about this process and nobody else's business: neighbours, or whoever has the admin secret. */
export function neighbourOrAdmin(secret: string): preHandlerHookHandler {
  const admin = requireAdmin(secret)
  return function (request, reply, next) {
    if (isNeighbour(request)) return next()
    return admin.call(this, request, reply, next)
  }
}

/** `GET /admin/system`: what process of what system answers here, for whoever is about to change something. */
export function systemRoute<Config>(http: Http, { name, config }: Context<Config>): void {
  http.get(
    '/admin/system',
    { preHandler: requireAdmin(config.ADMIN_SECRET), schema: { response: { 200: systemSchema } } },
    async () => ({ system: config.SYSTEM_NAME, environment: config.APP_ENV, process: name }),
  )
}

/**
 * What `npm run admin` asks of a service with a database, with the admin secret: `GET /admin/dead-letters?all=true`,
 * `POST /admin/dead-letters/:id/replay`, `GET /admin/outbox`, `POST /admin/outbox/republish` and `POST /admin/streams/prune`.
 */
export function operatorRoutes<Config>(http: Http, consumers: Consumer<Config>[], context: Context<Config>): void {
  const { db, bus } = context
  const preHandler = requireAdmin(context.config.ADMIN_SECRET)
  http.get(
    '/admin/dead-letters',
    {
      preHandler,
      schema: {
        querystring: z.object({ all: z.stringbool().default(false) }),
        response: { 200: z.object({ deadLetters: z.array(deadLetterSchema) }) },
      },
    },
    async (request) => ({ deadLetters: await listDeadLetters(db, request.query.all) }),
  )
  http.post(
    '/admin/dead-letters/:id/replay',
    {
      preHandler,
      schema: { params: z.object({ id: uuid() }), response: { 200: z.object({ replayed: z.literal(true) }) } },
    },
    async (request) => {
      await replayDeadLetter(consumers, request.params.id, context)
      return { replayed: true as const }
    },
  )
  http.get('/admin/outbox', { preHandler, schema: { response: { 200: outboxSchema } } }, async () => ({
    ...(await readOutboxState(db.$client)),
    refused: await listRefused(db),
  }))
  const moment = z.iso.datetime({ offset: true }).transform((text) => Temporal.Instant.from(text))
  http.post(
    '/admin/outbox/republish',
    {
      preHandler,
      schema: {
        body: z.object({ from: moment, to: moment.optional() }),
        response: { 200: z.object({ events: z.int() }) },
      },
    },
    async (request) => ({ events: await republish(db, request.body) }),
  )
  http.post(
    '/admin/streams/prune',
    { preHandler, schema: { response: { 200: z.object({ removed: z.array(z.string()) }) } } },
    async () => ({ removed: await bus.pruneStreams() }),
  )
}
