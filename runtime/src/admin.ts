import { uuid } from '@robokids/contracts/fields'
import { deadLettersSchema, outboxSchema, republishedSchema, resealedSchema } from '@robokids/contracts/operator'
import { systemSchema } from '@robokids/contracts/system'
import type { onRequestHookHandler } from 'fastify'
import { z } from 'zod'
import { accessCheck } from './access-check.ts'
import { DomainError } from './errors.ts'
import { GuessLimit } from './guess-limit.ts'
import type { Http } from './http.ts'
import { wakeJob } from './db.ts'
import { listRejected, readOutboxState, republish, retryRejected } from './outbox.ts'
import { listDeadLetters, replayDeadLetter, type Consumer } from './inbox.ts'
import { isInternalRequest } from './internal-requests.ts'
import { reseal, type SealedColumn } from './reseal.ts'
import { isSameSecret } from './same-secret.ts'
import type { Context } from './service.ts'

/** The parts of a context that the access checks need. */
type Process = Pick<Context<unknown>, 'bus' | 'config' | 'log' | 'metrics'>

/** One hook per process, so that all of its routes share a guess limit. */
const adminHooks = new WeakMap<Process['metrics'], onRequestHookHandler>()

/**
 * Returns the hook for routes that require the admin secret in `x-admin-secret`. Wrong guesses are limited, but they never lock
 * out an operator who sends the right secret at the first attempt.
 */
export function requireAdmin(process: Process): onRequestHookHandler {
  const known = adminHooks.get(process.metrics)
  if (known) return known
  const limit = new GuessLimit(process, { what: 'admin_secret', perNetwork: 10, total: 100, windowMs: 60_000 })
  const refusal = () => new DomainError('admin_secret_invalid', 'This needs the admin secret.')
  const hook = accessCheck('adminSecret', (request, _reply, next) => {
    const given = request.headers['x-admin-secret']
    if (given === undefined) throw refusal()
    if (!limit.isBlocked(request) && isSameSecret(String(given), process.config.ADMIN_SECRET)) return next()
    throw limit.countWrong(request, refusal())
  })
  adminHooks.set(process.metrics, hook)
  return hook
}

/** Returns the hook for routes about the process itself: it admits internal requests and those with the admin secret. */
export function requireInternalOrAdmin(process: Process): onRequestHookHandler {
  const admin = requireAdmin(process)
  return accessCheck('adminSecret', function (request, reply, next) {
    if (isInternalRequest(request)) return next()
    return admin.call(this, request, reply, next)
  })
}

/** Adds `GET /admin/system`: identifies the process and its system, so that operators can check before they change something. */
export function systemRoute<Config>(http: Http, context: Context<Config>): void {
  const { name, config } = context
  http.get(
    '/admin/system',
    { onRequest: requireAdmin(context), schema: { response: { 200: systemSchema } } },
    async () => ({ system: config.SYSTEM_NAME, environment: config.APP_ENV, process: name }),
  )
}

/**
 * Adds the routes that `npm run admin` calls on a service with a database: `GET /admin/dead-letters?all=true`,
 * `POST /admin/dead-letters/:id/replay`, `GET /admin/outbox`, `POST /admin/outbox/republish`, `POST /admin/outbox/:id/retry`,
 * `POST /admin/jobs/:name` and `POST /admin/reseal`. All require the admin secret.
 * @param parts the service's consumers and sealed columns, and the names of its jobs.
 */
export function operatorRoutes<Config>(
  http: Http,
  { consumers, sealed, jobs }: { consumers: Consumer<Config>[]; sealed: SealedColumn<Config>[]; jobs: string[] },
  context: Context<Config>,
): void {
  const { db } = context
  const onRequest = requireAdmin(context)
  http.get(
    '/admin/dead-letters',
    {
      onRequest,
      schema: {
        querystring: z.object({ all: z.stringbool().default(false) }),
        response: { 200: deadLettersSchema },
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
    refused: await listRejected(db),
  }))
  const instantSchema = z.iso.datetime({ offset: true }).transform((text) => Temporal.Instant.from(text))
  http.post(
    '/admin/outbox/republish',
    {
      onRequest,
      schema: {
        body: z.object({ from: instantSchema, to: instantSchema.optional(), dryRun: z.boolean().optional() }),
        response: { 200: republishedSchema },
      },
    },
    async (request) => ({ events: await republish(db, request.body) }),
  )
  http.post(
    '/admin/outbox/:id/retry',
    {
      onRequest,
      schema: { params: z.object({ id: uuid() }), response: { 200: z.object({ retried: z.literal(true) }) } },
    },
    async (request) => {
      await retryRejected(db, request.params.id)
      return { retried: true as const }
    },
  )
  http.post(
    '/admin/jobs/:name',
    {
      onRequest,
      schema: { params: z.object({ name: z.string() }), response: { 200: z.object({ woken: z.literal(true) }) } },
    },
    async ({ params: { name } }) => {
      if (!jobs.includes(name))
        throw new DomainError('job_not_found', `${context.name} has no job ${name}: it has ${jobs.join(', ')}.`)
      await wakeJob(db, name)
      return { woken: true as const }
    },
  )
  http.post('/admin/reseal', { onRequest, schema: { response: { 200: resealedSchema } } }, async () =>
    reseal(db, sealed, context.config),
  )
}
