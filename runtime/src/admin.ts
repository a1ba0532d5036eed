import { uuid } from '@robokids/contracts/fields'
import { systemSchema } from '@robokids/contracts/system'
import type { onRequestHookHandler } from 'fastify'
import { z } from 'zod'
import { accessCheck } from './access-check.ts'
import { DomainError } from './errors.ts'
import { GuessLimit } from './guess-limit.ts'
import type { Http } from './http.ts'
import { listRefused, outboxSchema, readOutboxState, republish } from './outbox.ts'
import { deadLetterSchema, listDeadLetters, replayDeadLetter, type Consumer } from './inbox.ts'
import { isInternalRequest } from './internal-requests.ts'
import { reseal, resealedSchema, type SealedColumn } from './reseal.ts'
import { isSameSecret } from './same-secret.ts'
import type { Context } from './service.ts'

/** What knows of a process as much as its doors need. */
type Process = Pick<Context<unknown>, 'config' | 'log' | 'metrics'>

/** All doors of a process count guesses together. */
const doors = new WeakMap<Process['metrics'], onRequestHookHandler>()

/**
 * A hook for routes that only administrators may call: they send the admin secret as `x-admin-secret`. Guesses are limited;
 * an operator who has the right one at the first try gets in whatever others guess.
 */
export function requireAdmin(process: Process): onRequestHookHandler {
  const known = doors.get(process.metrics)
  if (known) return known
  const limit = new GuessLimit(process, { what: 'admin_secret', ofNetwork: 10, ofAll: 100, windowMs: 60_000 })
  const refusal = () => new DomainError('admin_secret_invalid', 'This needs the admin secret.')
  const door = accessCheck((request, _reply, next) => {
    const given = request.headers['x-admin-secret']
    if (given === undefined) throw refusal()
    if (!limit.isDeaf(request) && isSameSecret(String(given), process.config.ADMIN_SECRET)) return next()
    throw limit.wrong(request, refusal())
  })
  doors.set(process.metrics, door)
  return door
}

/** A hook for what is about this process and nobody else's business: neighbours, or whoever has the admin secret. */
export function requireInternalOrAdmin(process: Process): onRequestHookHandler {
  const admin = requireAdmin(process)
  return accessCheck(function (request, reply, next) {
    if (isInternalRequest(request)) return next()
    return admin.call(this, request, reply, next)
  })
}

/** `GET /admin/system`: what process of what system answers here, for whoever is about to change something. */
export function systemRoute<Config>(http: Http, context: Context<Config>): void {
  const { name, config } = context
  http.get(
    '/admin/system',
    { onRequest: requireAdmin(context), schema: { response: { 200: systemSchema } } },
    async () => ({ system: config.SYSTEM_NAME, environment: config.APP_ENV, process: name }),
  )
}

/**
 * What `npm run admin` asks of a service with a database, with the admin secret: `GET /admin/dead-letters?all=true`,
 * `POST /admin/dead-letters/:id/replay`, `GET /admin/outbox`, `POST /admin/outbox/republish`, `POST /admin/streams/prune`
 * and `POST /admin/reseal`.
 */
export function operatorRoutes<Config>(
  http: Http,
  { consumers, sealed }: { consumers: Consumer<Config>[]; sealed: SealedColumn<Config>[] },
  context: Context<Config>,
): void {
  const { db, bus } = context
  const onRequest = requireAdmin(context)
  http.get(
    '/admin/dead-letters',
    {
      onRequest,
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
      onRequest,
      schema: { params: z.object({ id: uuid() }), response: { 200: z.object({ replayed: z.literal(true) }) } },
    },
    async (request) => {
      await replayDeadLetter(consumers, request.params.id, context)
      return { replayed: true as const }
    },
  )
  http.get('/admin/outbox', { onRequest, schema: { response: { 200: outboxSchema } } }, async () => ({
    ...(await readOutboxState(db.$client)),
    refused: await listRefused(db),
  }))
  const moment = z.iso.datetime({ offset: true }).transform((text) => Temporal.Instant.from(text))
  http.post(
    '/admin/outbox/republish',
    {
      onRequest,
      schema: {
        body: z.object({ from: moment, to: moment.optional() }),
        response: { 200: z.object({ events: z.int() }) },
      },
    },
    async (request) => ({ events: await republish(db, request.body) }),
  )
  http.post(
    '/admin/streams/prune',
    { onRequest, schema: { response: { 200: z.object({ removed: z.array(z.string()) }) } } },
    async () => ({ removed: await bus.pruneStreams() }),
  )
  http.post('/admin/reseal', { onRequest, schema: { response: { 200: resealedSchema } } }, async () =>
    reseal(db, sealed, context.config),
  )
}
