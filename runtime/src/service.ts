import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { EventDefinition } from '@robokids/contracts/event'
import type { RouteOptions } from 'fastify'
import { operatorRoutes, systemRoute } from './admin.ts'
import { busOptions, connectBus, prepareStreams, type Bus } from './bus.ts'
import { Clock } from './clock.ts'
import { readConfig, readDatabaseConfig, type BaseConfig, type Environment, type Settings } from './config.ts'
import { connect, type Connection, type Database } from './db.ts'
import { healthRoutes } from './health.ts'
import { createHttp, type Http } from './http.ts'
import { startConsumers, type Consumer } from './inbox.ts'
import { idleMs, sleepUntil, startLoop, type Job, type Loop } from './jobs.ts'
import { openLocks, type Locks } from './locks.ts'
import { createRelay } from './outbox.ts'
import { awaitPreparation, prepareDatabase } from './prepare-database.ts'
import type { SealedColumn } from './reseal.ts'
import type { Claims } from './streams.ts'
import { runtimeTables, sweep, type TableLives } from './sweep.ts'
import { createLogger, createMetrics, type Logger, type Metrics } from './telemetry.ts'
import { inTrace, type SpanRecorder } from './trace.ts'

/** The context of use cases, routes, consumers and jobs. */
export interface Context<Config> {
  /** The service's name, also that of its stream and the prefix of its durables. */
  name: string
  config: BaseConfig & Config
  /** The service's own database. */
  db: Database
  bus: Bus
  clock: Clock
  log: Logger
  metrics: Metrics
  /** Undefined if traces are not exported. */
  recorder?: SpanRecorder | undefined
}

/** The definition of a service, or of the BFF. */
export interface Service<Config> {
  name: string
  /** Its own settings; the runtime adds the base settings. */
  config: Settings<Config>
  /** Whether strangers call it: their requests do not continue a trace of theirs. */
  isPublic?: boolean
  /** The folder of its SQL migrations; omitted by a process without a database. */
  migrations?: string
  /** Writes required rows after the migrations, under the same lock. Must be safe to run at every start. */
  seed?(db: Database, clock: Clock, config: Config): Promise<void>
  routes?(http: Http, context: Context<Config>): void | Promise<void>
  consumers?: Consumer<Config>[]
  /** The events that it watches (`bus.watch`). */
  watches?: readonly EventDefinition[]
  /** The keys that its copies claim (`bus.claim`). */
  claims?: readonly Claims[]
  /** The columns with sealed values, for `npm run admin -- reseal`. */
  sealed?: SealedColumn<Config>[]
  jobs?: Job<Config>[]
  /** How long the rows of its tables are kept: each of them has an entry. */
  tables?: TableLives
}

export interface RunningService<Config> {
  /** `http://host:port` */
  url: string
  context: Context<Config>
  /** All of its routes. */
  routes: readonly RouteOptions[]
  /** Runs all jobs and the outbox relay now: for tests that must not wait. */
  wakeAll(): void
  /** Stops gracefully: serves for `DRAIN_MS`, finishes accepted requests and events, then closes all connections. */
  stop(): Promise<void>
}

/** How often the outbox is published while the broker is away, an event is retried, or another process publishes it. */
const relayEveryMs = 1_000
const jobLimitMs = 600_000
/** How long a stop waits for running work. Without `DRAIN_MS`, the whole stop fits into the ten seconds that containers are given. */
const stopTimeoutMs = 6_000

function noDatabase(name: string): Database {
  return new Proxy({} as Database, {
    get() {
      throw new Error(`${name} has no database`)
    },
  })
}

/** Applies the migrations, and writes the rows that the service requires. */
async function prepare<Config>(
  service: Service<Config>,
  config: Config,
  env: Environment,
  clock: Clock,
  log: Logger,
): Promise<void> {
  if (service.migrations === undefined) return
  const seed = service.seed?.bind(service)
  await prepareDatabase(readDatabaseConfig(env), service.migrations, log, seed && ((db) => seed(db, clock, config)))
}

async function openDatabase<Config>(
  service: Service<Config>,
  config: BaseConfig & Config,
  env: Environment,
  clock: Clock,
  log: Logger,
): Promise<{ connection: Connection; locks: Locks } | undefined> {
  if (service.migrations === undefined) return undefined
  const where = readDatabaseConfig(env)
  if (config.MIGRATE_ON_START) await prepare(service, config, env, clock, log)
  else await awaitPreparation(where, service.migrations, log)
  return { connection: connect(where, service.name, log), locks: openLocks(where, service.name, log) }
}

/** Returns the recorder of spans if a collector is configured; the SDK is not even loaded otherwise. */
async function openRecorder(service: string, config: BaseConfig): Promise<SpanRecorder | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === undefined) return undefined
  const { createSpanRecorder, exportTo } = await import('./span-recorder.ts')
  return createSpanRecorder({
    service,
    system: config.SYSTEM_NAME,
    exporter: exportTo(endpoint),
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    delayMs: config.OTEL_BSP_SCHEDULE_DELAY,
  })
}

/** Adds the routes that every process has, and those of a service. */
export async function addRoutes<Config>(
  http: Http,
  service: Service<Config>,
  context: Context<Config>,
  health: Parameters<typeof healthRoutes>[2],
): Promise<void> {
  const { consumers = [], sealed = [], jobs = [] } = service
  healthRoutes(http, context, health)
  systemRoute(http, context)
  if (service.migrations !== undefined) {
    const names = ['outbox', 'sweep', ...jobs.map(({ name }) => name)]
    operatorRoutes(http, { consumers, sealed, jobs: names }, context)
  }
  await service.routes?.(http, context)
}

/**
 * Prepares the database and the broker's streams for this version of a service, and starts nothing: the job before a roll-out.
 * Safe to run while processes of the previous version, or of this one, are running.
 * @throws ConfigError before anything is changed if a setting is wrong.
 */
export async function migrateService<Config>(service: Service<Config>, env: Environment): Promise<void> {
  const config = readConfig(service.config, env, { database: service.migrations !== undefined })
  const log = createLogger(service.name, config.LOG_LEVEL)
  // First, so that wrong credentials end it before anything is changed.
  await prepareStreams(busOptions(config, service.name, log))
  await prepare(service, config, env, new Clock(config.CLOCK_OFFSET), log)
  log.info('prepared for this version')
}

/**
 * Starts a service in this process. It waits for its database, but not for the broker.
 * @throws ConfigError before anything is opened if a setting is wrong, or if the broker refuses its user
 */
export async function startService<Config>(
  service: Service<Config>,
  env: Environment,
): Promise<RunningService<Config>> {
  const config = readConfig(service.config, env, { database: service.migrations !== undefined })
  const log = createLogger(service.name, config.LOG_LEVEL)
  const metrics = createMetrics()
  const clock = new Clock(config.CLOCK_OFFSET)
  const recorder = await openRecorder(service.name, config)

  // First, so that wrong credentials end the start before anything is opened.
  const bus = await connectBus(busOptions(config, service.name, log))
  const database = await openDatabase(service, config, env, clock, log).catch(async (error: unknown) => {
    await settlesWithin(1_000, bus.close())
    throw error
  })
  const context: Context<Config> = {
    name: service.name,
    config,
    db: database?.connection.db ?? noDatabase(service.name),
    bus,
    clock,
    log,
    metrics,
    recorder,
  }

  let stopping = false
  const http = createHttp(config, log, metrics, { stopping: () => stopping, recorder, isPublic: service.isPublic })
  await addRoutes(http, service, context, { database: database?.locks, stopping: () => stopping })
  await http.listen({ host: config.HOST, port: config.PORT })
  const { port } = http.server.address() as AddressInfo

  const loops = new Map<string, Loop>()
  const stop = new AbortController()
  if (database) {
    const { connection, locks } = database
    const { db } = connection
    const options = { delaysMs: config.CONSUMER_RETRY_DELAYS, metrics, log }
    const relay = createRelay(service.name, db, bus, options)
    connection.measure(metrics)
    const relayOnce = async () => {
      if (!bus.connected()) return false
      let next: boolean | number = false
      await locks.withLock('outbox', async (lost) => {
        const publishing = { name: 'publish events', recorder, isLoop: true }
        const more = await inTrace(publishing, () => relay.publishPending())
        next = more ? !lost.aborted : await relay.sleepMs(relayEveryMs)
      })
      return next
    }
    loops.set(
      'outbox',
      startLoop(relayEveryMs, relayOnce, (error) => log.warn({ err: error }, 'outbox could not be published yet')),
    )
    const sweepJob: Job<Config> = {
      name: 'sweep',
      everyMs: 3_600_000,
      run: (_, signal) => sweep(db, { ...runtimeTables(config.NATS_STREAM_DAYS), ...service.tables }, clock, signal),
    }
    for (const job of [sweepJob, ...(service.jobs ?? [])]) {
      const everyMs = typeof job.everyMs === 'number' ? job.everyMs : job.everyMs(config)
      const { name } = job
      metrics.jobInterval.set({ name }, Math.max(everyMs, job.nextDue ? idleMs : 0) / 1000)
      const runOnce = async (...ends: AbortSignal[]): Promise<number | false> => {
        const overdue = new AbortController()
        const timer = setTimeout(() => {
          log.warn({ job: name }, 'job takes too long and is aborted')
          overdue.abort()
        }, job.limitMs ?? jobLimitMs)
        const signal = AbortSignal.any([...ends, stop.signal, overdue.signal])
        const measured = metrics.jobDuration.startTimer({ name })
        await inTrace({ name: `job ${name}`, recorder, isLoop: true }, () => job.run(context, signal)).finally(() => {
          clearTimeout(timer)
          measured()
        })
        metrics.jobRuns.inc({ name, outcome: 'done' })
        metrics.jobLastSuccess.setToCurrentTime({ name })
        return job.nextDue ? sleepUntil(await job.nextDue(context), everyMs, clock) : false
      }
      const run = async () => {
        if (job.inAllProcesses) return runOnce()
        let next: number | false = false
        await locks.withLock(`job:${name}`, async (lost) => {
          next = await runOnce(lost)
        })
        return next
      }
      const failed = (error: unknown) => {
        metrics.jobRuns.inc({ name: job.name, outcome: 'failed' })
        log.error({ err: error, job: job.name }, 'job failed and will run again')
      }
      loops.set(job.name, startLoop(everyMs, run, failed))
    }
    // The broker may have lost events.
    bus.onReconnect(() => loops.get('outbox')?.wake())
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
    routes: http.routeTable,
    wakeAll() {
      for (const loop of loops.values()) loop.wake()
    },
    stop() {
      stopping = true
      stopped ??= (async () => {
        await wait(config.DRAIN_MS)
        const begun = performance.now()
        const remainingMs = () => Math.max(0, stopTimeoutMs - (performance.now() - begun))
        stop.abort()
        const answered = http.close()
        const { outbox, ...jobs } = Object.fromEntries(loops)
        const idle = Promise.all([
          answered,
          ...consumers.map((consumer) => consumer.stop()),
          ...Object.values(jobs).map((job) => job.stop()),
        ])
        // Work that is still running loses its connection and is resumed by the next process.
        if (!(await settlesWithin(remainingMs(), idle))) log.warn('stopping although work is still running')
        // Sends the events that were published last.
        outbox?.wake()
        await settlesWithin(Math.min(remainingMs(), 1_000), outbox?.stop())
        await settlesWithin(1_000, bus.close())
        await Promise.all([
          database?.locks.close(),
          database?.connection.close(),
          settlesWithin(1_000, recorder?.close()),
        ])
        log.info('stopped')
      })()
      return stopped
    },
  }
}

/** Returns whether `work` completes in time. */
async function settlesWithin(ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  return Promise.race([Promise.resolve(work).then(() => true), wait(ms, false, { ref: false })])
}
