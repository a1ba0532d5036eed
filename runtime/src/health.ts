import { setTimeout as wait } from 'node:timers/promises'
import { requireInternalOrAdmin } from './admin.ts'
import type { Queryable } from './db.ts'
import type { Http } from './http.ts'
import { countDeadLetters } from './inbox.ts'
import { isInternalRequest } from './internal-requests.ts'
import { readOutboxState } from './outbox.ts'
import type { Context } from './service.ts'

/** How long a check of readiness waits for the database's answer. */
const answerWithinMs = 2_000

/**
 * `GET /healthz` (the process runs), `/readyz` (it can serve) and `/metrics` (Prometheus).
 *
 * What waits in the outbox or for an operator does not make a process unready: the next one would wait for the same, and
 * families can be served meanwhile. It is told, here and by the metrics.
 * @param database which a check may use however busy the pool is; undefined for a process without one.
 */
export function healthRoutes(
  http: Http,
  context: Pick<Context<unknown>, 'config' | 'log' | 'metrics' | 'bus'>,
  { database, stopping }: { database: Queryable | undefined; stopping: () => boolean },
): void {
  const { bus, metrics } = context

  /** One at a time: a database that is silent is not asked once more by each probe. */
  let writing: Promise<boolean> | undefined
  /** A write, since a standby after a fail-over, or a full disk, still answers whoever only reads. */
  function canWrite(on: Queryable): Promise<boolean> {
    writing ??= on
      .query({ text: 'update heartbeat set at = now()' })
      .then(
        () => true,
        () => false,
      )
      .finally(() => (writing = undefined))
    return Promise.race([writing, wait(answerWithinMs, false, { ref: false })])
  }

  http.get('/healthz', { logLevel: 'silent' }, async () => ({ status: 'ok' }))

  http.get('/readyz', { logLevel: 'silent' }, async (request, reply) => {
    const writable = database ? await canWrite(database) : true
    const ready = writable && bus.connected() && !stopping()
    const details = isInternalRequest(request) && {
      database: writable,
      bus: bus.connected(),
      ...(database && writable ? await waiting(database).catch(() => ({})) : {}),
    }
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', ...details })
  })

  http.get('/metrics', { logLevel: 'silent', onRequest: requireInternalOrAdmin(context) }, async (_, reply) => {
    if (database) {
      // Without a database, the last figures and all others are still told.
      const now = await waiting(database).catch(() => undefined)
      if (now) {
        metrics.outboxPending.set(now.outbox.pending)
        metrics.outboxOldest.set(now.outbox.oldestSeconds)
        metrics.outboxSetAside.set(now.outbox.setAside)
        metrics.deadLetters.set(now.deadLetters)
      }
    }
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}

async function waiting(on: Queryable) {
  const [outbox, deadLetters] = await Promise.all([readOutboxState(on), countDeadLetters(on)])
  return { outbox, deadLetters }
}
