import { setTimeout as wait } from 'node:timers/promises'
import { requireInternalOrAdmin } from './admin.ts'
import type { Queryable } from './db.ts'
import type { Http } from './http.ts'
import { countDeadLetters } from './inbox.ts'
import { isInternalRequest } from './internal-requests.ts'
import { readOutboxState } from './outbox.ts'
import type { Context } from './service.ts'

/** How long a readiness check waits for the database. */
const databaseTimeoutMs = 2_000

/**
 * Adds `GET /healthz` (the process runs), `/readyz` (it can serve requests) and `/metrics` (Prometheus).
 *
 * Without its broker a process is `degraded`, and still ready: families can be served, events wait in the outbox, and another
 * process would fare no better. The same is true of a backlog in the outbox and of dead letters, which are reported here and in
 * the metrics.
 * @param database a connection that checks can use even if the pool is exhausted; undefined for a process without a database.
 */
export function healthRoutes(
  http: Http,
  context: Pick<Context<unknown>, 'config' | 'log' | 'metrics' | 'bus'>,
  { database, stopping }: { database: Queryable | undefined; stopping: () => boolean },
): void {
  const { bus, metrics } = context

  /** One write at a time: probes of an unresponsive database do not pile up. */
  let pendingWrite: Promise<boolean> | undefined
  /** Writes, because a standby after a failover and a full disk still allow reads. */
  function canWrite(on: Queryable): Promise<boolean> {
    pendingWrite ??= on
      .query({ text: 'update heartbeat set at = now()' })
      .then(
        () => true,
        () => false,
      )
      .finally(() => (pendingWrite = undefined))
    return Promise.race([pendingWrite, wait(databaseTimeoutMs, false, { ref: false })])
  }

  http.get('/healthz', { logLevel: 'silent' }, async () => ({ status: 'ok' }))

  http.get('/readyz', { logLevel: 'silent' }, async (request, reply) => {
    const writable = database ? await canWrite(database) : true
    const ready = writable && !stopping()
    const status = !ready ? 'not ready' : bus.connected() ? 'ready' : 'degraded'
    const details = isInternalRequest(request) && {
      database: writable,
      bus: bus.connected(),
      ...(database && writable ? await readBacklog(database).catch(() => ({})) : {}),
    }
    return reply.code(ready ? 200 : 503).send({ status, ...details })
  })

  if (database) {
    metrics.measure({
      everyMs: 2_000,
      async read() {
        try {
          const now = await readBacklog(database)
          metrics.outboxPending.set(now.outbox.pending)
          metrics.outboxOldest.set(now.outbox.oldestSeconds)
          metrics.outboxSetAside.set(now.outbox.setAside)
          metrics.deadLetters.set(now.deadLetters)
          metrics.databaseUp.set(1)
        } catch (error) {
          metrics.databaseUp.set(0)
          throw error
        }
      },
    })
  }
  http.get('/metrics', { logLevel: 'silent', onRequest: requireInternalOrAdmin(context) }, async (_, reply) => {
    metrics.brokerUp.set(bus.connected() ? 1 : 0)
    return reply.type(metrics.registry.contentType).send(await metrics.expose())
  })
}

async function readBacklog(on: Queryable) {
  const [outbox, deadLetters] = await Promise.all([readOutboxState(on), countDeadLetters(on)])
  return { outbox, deadLetters }
}
