import type { AddressInfo } from 'node:net'
import { sql } from 'drizzle-orm'
import type { z } from 'zod'
import { deadLetterRoutes, isNeighbour, neighbourOrAdmin } from './admin.ts'
import { connectBus, type Bus } from './bus.ts'
import { Clock } from './clock.ts'
import { readConfig, readDatabaseConfig, type BaseConfig, type Environment } from './config.ts'
import { connect, type Connection, type Database } from './db.ts'
import { createHttp, type Http } from './http.ts'
import { startConsumers, type Consumer } from './inbox.ts'
import { startLoop, type Job, type Loop } from './jobs.ts'
import { openLocks, type Locks } from './locks.ts'
import { countUnpublished, relayBatch } from './outbox.ts'
import { prepareDatabase } from './prepare-database.ts'
import { createLogger, createMetrics, inTrace, type Logger, type Metrics } from './telemetry.ts'

/** What a use case, route, consumer or job works with. */
export interface Context<Config> {
  /** The service's name, which is also its stream's and its durables' prefix. */
  name: string
  config: BaseConfig & Config
  /** The service's own database. */
  db: Database
  bus: Bus
  clock: Clock
  log: Logger
  metrics: Metrics
}

/** A service, or the BFF, in one value: its table of contents. */
export interface Service<Config> {
  name: string
  /** Its own settings, read from the environment; the runtime adds the base ones. */
  config: z.ZodType<Config>
  /** The folder of its SQL migrations; left out by a process without a database. */
  migrations?: string
  /** Writes the rows that must exist, after the migrations and under their lock; safe to run at every start. */
  seed?(db: Database, clock: Clock, config: Config): Promise<void>
  routes?(http: Http, context: Context<Config>): void | Promise<void>
  consumers?: Consumer<Config>[]
  jobs?: Job<Config>[]
}

export interface RunningService<Config> {
  /** `http://host:port` */
  url: string
  context: Context<Config>
  /** Runs every job and relays the outbox now: for tests that must not wait. */
  nudge(): void
  /** Answers what was accepted, finishes what is being handled, then lets go of everything. */
  stop(): Promise<void>
}

const relayEveryMs = 1_000

function noDatabase(name: string): Database {
  return new Proxy({} as Database, {
    get() {
      throw new Error(`${name} has no database`)
    },
  })
}

/** Starts a service in this process. Rejects with `ConfigError` before anything is opened where a setting is wrong. */
export async function startService<Config>(
  service: Service<Config>,
  env: Environment,
): Promise<RunningService<Config>> {
  const config = readConfig(service.config, env)
  const log = createLogger(service.name, config.LOG_LEVEL)
  const metrics = createMetrics()
  const clock = new Clock(Temporal.Duration.from(config.CLOCK_OFFSET))

  let connection: Connection | undefined
  let locks: Locks | undefined
  if (service.migrations !== undefined) {
    const databaseConfig = readDatabaseConfig(env)
    const seed = service.seed?.bind(service)
    await prepareDatabase(databaseConfig, service.migrations, log, seed && ((db) => seed(db, clock, config)))
    connection = connect(databaseConfig, service.name, log)
    locks = openLocks(databaseConfig, service.name, log)
  }
  const bus = await connectBus({
    url: config.NATS_URL,
    replicas: config.NATS_REPLICAS,
    name: service.name,
    ackWaitMs: config.CONSUMER_ACK_WAIT_MS,
    log,
  })
  const context: Context<Config> = {
    name: service.name,
    config,
    db: connection?.db ?? noDatabase(service.name),
    bus,
    clock,
    log,
    metrics,
  }

  const http = createHttp(config, log, metrics)
  let stopping = false
  http.get('/healthz', { logLevel: 'silent' }, async () => ({ status: 'ok' }))
  http.get('/readyz', { logLevel: 'silent' }, async (request, reply) => {
    const database = connection
      ? await connection.db.execute(sql`select 1`).then(
          () => true,
          () => false,
        )
      : true
    const ready = database && bus.connected() && !stopping
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ready' : 'not ready',
      ...(isNeighbour(request) ? { database, bus: bus.connected() } : {}),
    })
  })
  http.get('/metrics', { logLevel: 'silent', preHandler: neighbourOrAdmin(config.ADMIN_SECRET) }, async (_, reply) => {
    if (connection) metrics.outboxPending.set(await countUnpublished(connection.db))
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
  if (connection) deadLetterRoutes(http, service.consumers ?? [], context)
  await service.routes?.(http, context)
  await http.listen({ host: config.HOST, port: config.PORT })
  const { port } = http.server.address() as AddressInfo

  const loops = new Map<string, Loop>()
  const stopSignal = new AbortController()
  if (connection && locks) {
    const { db } = connection
    const ofService = locks
    const relay = async () => {
      let more = false
      await ofService.exclusively('outbox', async () => {
        more = await relayBatch(db, bus, metrics)
      })
      return more
    }
    loops.set(
      'outbox',
      startLoop(relayEveryMs, relay, (error) => log.warn({ err: error }, 'outbox could not be published yet')),
    )
    for (const job of service.jobs ?? []) {
      const run = async () => {
        await ofService.exclusively(`job:${job.name}`, async (lost) => {
          const signal = AbortSignal.any([lost, stopSignal.signal])
          await inTrace(undefined, undefined, () => job.run(context, signal))
          metrics.jobRuns.inc({ job: job.name, outcome: 'done' })
        })
        return false
      }
      const failed = (error: unknown) => {
        metrics.jobRuns.inc({ job: job.name, outcome: 'failed' })
        log.error({ err: error, job: job.name }, 'job failed and will run again')
      }
      const everyMs = typeof job.everyMs === 'number' ? job.everyMs : job.everyMs(config)
      loops.set(job.name, startLoop(everyMs, run, failed))
    }
    await connection.listen((name) => {
      if (name === undefined) for (const loop of loops.values()) loop.wake()
      else loops.get(name)?.wake()
    })
  }
  const consumers = startConsumers(service.consumers ?? [], bus, context)
  log.info({ port }, 'ready')

  let stopped: Promise<void> | undefined
  return {
    url: `http://${config.HOST}:${port}`,
    context,
    nudge() {
      for (const loop of loops.values()) loop.wake()
    },
    stop() {
      stopping = true
      stopSignal.abort()
      stopped ??= (async () => {
        await http.close()
        await Promise.all(consumers.map((consumer) => consumer.stop()))
        await Promise.all([...loops.values()].map((loop) => loop.stop()))
        await bus.close()
        await Promise.all([locks?.close(), connection?.close()])
        log.info('stopped')
      })()
      return stopped
    },
  }
}
