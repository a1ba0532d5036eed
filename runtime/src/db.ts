import { sql, type ExtractTablesWithRelations, type SQL } from 'drizzle-orm'
import { NodePgDatabase, NodePgSession, NodePgTransaction } from 'drizzle-orm/node-postgres'
import { customType, PgDialect, type PgTransactionConfig } from 'drizzle-orm/pg-core'
import pg from 'pg'
import postgres from 'postgres'
import type { DatabaseConfig } from './config.ts'
import { ConnectionError, isConnectionError } from './errors.ts'
import type { Logger, Metrics } from './telemetry.ts'
import { inSpan, isRecording } from './trace.ts'

/** Runs statements: a pool, on any free connection, or the lease of one connection. */
export interface Queryable {
  query(statement: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult>
}

/** Exclusive use of one connection of a pool. */
export interface Lease extends Queryable {
  /** Sends statements together: the server goes from one to the next without waiting for this side. */
  queryAll(statements: pg.QueryConfig[]): Promise<pg.QueryResult[]>
  release(): void
}

/** A pool for drizzle. */
export interface Pool extends Queryable {
  lease(): Promise<Lease>
}

export type Database = NodePgDatabase & { $client: Pool }
/** What a use case works on. Only code that holds one can publish an event. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0]

/** A timestamp column with millisecond precision, as in contracts, so that a response now equals what is read later. */
export const instant = customType<{ data: Temporal.Instant; driverData: string }>({
  dataType: () => 'timestamp with time zone',
  toDriver: (value) => value.toString({ fractionalSecondDigits: 3 }),
  fromDriver: (value) => Temporal.Instant.from(value),
})

/** The channel on which a committed transaction wakes the relay or a job; the payload is the name. */
const wakeChannel = 'wake'

/** All in milliseconds. */
export interface Timeouts {
  /** The duration of a statement, enforced by the server. */
  statement: number
  /** The wait for one lock, enforced by the server. */
  lock: number
  /** An idle transaction, enforced by the server. */
  idleInTransaction: number
  /** The wait for a new connection, or for a free one of an exhausted pool. */
  connect: number
  /** The wait for the response to a statement, for a network that fails silently. Longer than the server's own limits. */
  response: number
}

/** Far longer than any legitimate wait. */
export const standardTimeouts: Timeouts = {
  statement: 60_000,
  lock: 30_000,
  idleInTransaction: 60_000,
  connect: 10_000,
  response: 70_000,
}

/** Detects a silently lost peer within half a minute; the operating system's default is two hours. */
const keepalives = { tcp_keepalives_idle: 15, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 }

/**
 * A pool of connections to one database. Unlike `pg.Pool` alone, it reuses a connection only after the server has confirmed
 * the end of the previous work on it, and discards the connection otherwise.
 */
export class ConnectionPool implements Pool {
  readonly #pool: pg.Pool

  /**
   * @param application the connections' `application_name` on the server.
   * @param parameters further server settings per session.
   */
  constructor(
    url: string,
    {
      max,
      application,
      log,
      timeouts = standardTimeouts,
      parameters = {},
    }: {
      max: number
      application: string
      log: Logger
      timeouts?: Timeouts
      parameters?: Record<string, string | number>
    },
  ) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max,
      application_name: application,
      statement_timeout: timeouts.statement,
      lock_timeout: timeouts.lock,
      idle_in_transaction_session_timeout: timeouts.idleInTransaction,
      query_timeout: timeouts.response,
      connectionTimeoutMillis: timeouts.connect,
      idleTimeoutMillis: 60_000,
      // Only `queryAll` sends statements before the responses to earlier ones; all others wait for each other in the lease.
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepalives.tcp_keepalives_idle * 1000,
      options: Object.entries({ ...keepalives, ...parameters })
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
    })
    // Without a handler, the end of an idle connection would crash the process.
    this.#pool.on('error', (error) => log.debug({ err: error }, 'an idle database connection ended'))
    this.#pool.on('connect', (client) => {
      client.on('notice', (notice) => log.debug({ notice: notice.message }, 'database notice'))
      // An error may arrive while the connection changes hands and has no other handler. The next user gets it with the first
      // statement.
      client.on('error', () => {})
    })
  }

  /** @throws ConnectionError if none is available in time. */
  async lease(): Promise<ConnectionLease> {
    try {
      return new ConnectionLease(await this.#pool.connect())
    } catch (error) {
      throw asConnectionError(error)
    }
  }

  async query(statement: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    const lease = await this.lease()
    try {
      return await lease.query(statement, values)
    } finally {
      lease.release()
    }
  }

  /** The number of connections by state, and of statements that wait for one. */
  usage(): { inUse: number; idle: number; waiting: number } {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#pool
    return { inUse: totalCount - idle, idle, waiting }
  }

  /** Waits at most `timeoutMs` for connections in use. */
  async close(timeoutMs = 1_000): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const timedOut = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)))
    await Promise.race([this.#pool.end(), timedOut])
    clearTimeout(timer)
  }
}

export class ConnectionLease implements Lease {
  readonly #client: pg.PoolClient
  readonly #lost = new AbortController()
  #last: Promise<unknown> = Promise.resolve()
  #released = false

  constructor(client: pg.PoolClient) {
    this.#client = client
    client.on('error', this.#markLost)
  }

  readonly #markLost = (error: Error) => this.#lost.abort(error)

  /** Aborts when the connection is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Runs a statement after the previous ones. @throws ConnectionError if the connection is lost. */
  query(statement: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    return this.#run(() => traced(statement, () => this.#client.query(statement, values)))
  }

  /** @throws the error of the first statement that failed, or ConnectionError if the connection is lost. */
  queryAll(statements: pg.QueryConfig[]): Promise<pg.QueryResult[]> {
    return this.#run(async () => {
      const sent = await Promise.allSettled(
        statements.map((statement) => traced(statement, () => this.#client.query(statement))),
      )
      return sent.map((result) => {
        if (result.status === 'rejected') throw result.reason
        return result.value
      })
    })
  }

  #run<Result>(send: () => Promise<Result>): Promise<Result> {
    const run = async () => {
      // A statement after the end of its transaction must not run in the next one.
      if (this.#released) throw new Error('This transaction has ended: it can run no more statements.')
      if (this.#lost.signal.aborted) throw asConnectionError(this.#lost.signal.reason)
      try {
        return await send()
      } catch (error) {
        // After an error from the server the connection is still usable; after any other error its state is unknown.
        if (!(error instanceof pg.DatabaseError) || isConnectionError(error)) this.#markLost(error as Error)
        throw asConnectionError(error)
      }
    }
    const result = this.#last.then(run)
    this.#last = result.catch(() => {})
    return result
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    this.#client.off('error', this.#markLost)
    this.#client.release(this.#lost.signal.aborted)
  }
}

/** Sends a statement in a span with its text, which never contains values: they are parameters. */
function traced(statement: pg.QueryConfig, send: () => Promise<pg.QueryResult>): Promise<pg.QueryResult> {
  if (!isRecording() || statement.text === 'begin') return send()
  const { text } = statement
  const operation = /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? 'SQL'
  const table = /\b(?:from|into|update)\s+"?([a-z_]+)/i.exec(text)?.[1]
  const name = statement.name ?? (table === undefined ? operation : `${operation} ${table}`)
  return inSpan({ name, kind: 'client', attributes: { 'db.system.name': 'postgresql', 'db.query.text': text } }, send)
}

/** The driver reports most connection errors without a code, only by their message. */
const connectionMessages =
  /^(Connection terminated|Query read timeout|timeout (expired|exceeded)|Client (has encountered a connection error|was closed)|Cannot use a pool after|The server does not support SSL)/

function asConnectionError(error: unknown): unknown {
  if (isConnectionError(error) || !(error instanceof Error) || !connectionMessages.test(error.message)) return error
  return new ConnectionError(error.message, { cause: error })
}

type NoSchema = Record<string, never>
type NoRelations = ExtractTablesWithRelations<NoSchema>

/** Drizzle's session, with a `transaction` that neither leaks connections nor reuses broken ones. */
class PoolSession extends NodePgSession<NoSchema, NoRelations> {
  readonly #pool: Pool
  readonly #dialect: PgDialect

  constructor(pool: Pool, dialect: PgDialect) {
    // Drizzle calls only `query` of its client.
    super(pool as unknown as pg.Pool, dialect, undefined)
    this.#pool = pool
    this.#dialect = dialect
  }

  override async transaction<T>(
    work: (tx: NodePgTransaction<NoSchema, NoRelations>) => Promise<T>,
    config?: PgTransactionConfig,
  ): Promise<T> {
    const lease = await this.#pool.lease()
    try {
      const session = new NodePgSession<NoSchema, NoRelations>(
        lease as unknown as pg.PoolClient,
        this.#dialect,
        undefined,
      )
      const tx = new NodePgTransaction<NoSchema, NoRelations>(this.#dialect, session, undefined)
      await lease.query({ text: 'begin' })
      let result: T
      try {
        if (config) await tx.setTransaction(config)
        result = await work(tx)
      } catch (error) {
        // If this fails, the connection is lost, and the server rolls back.
        await lease.query({ text: 'rollback' }).catch(() => {})
        throw error
      }
      const { command } = await lease.query({ text: 'commit' })
      // The server answers ROLLBACK if a statement failed and the error was ignored.
      if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed.')
      return result
    } finally {
      lease.release()
    }
  }
}

/** Returns drizzle on a pool. */
export function databaseOn(pool: Pool): Database {
  // One dialect per database: it caches columns by table name, and another service may have a table of the same name.
  const dialect = new PgDialect()
  return Object.assign(new NodePgDatabase(dialect, new PoolSession(pool, dialect), undefined), { $client: pool })
}

export interface Connection {
  db: Database
  /** Calls `wake` with each notified name, and with undefined whenever notifications may have been missed. */
  listen(wake: (name: string | undefined) => void): Promise<void>
  /** Adds the pool to a process's metrics. */
  measure(metrics: Metrics): void
  /** Closes idle connections immediately, and those in use after at most `timeoutMs` (default: a second). */
  close(timeoutMs?: number): Promise<void>
}

/** Opens the pool of a service's own database. It connects on demand and replaces broken connections. */
export function connect(
  config: DatabaseConfig,
  service: string,
  log: Logger,
  timeouts: Timeouts = standardTimeouts,
): Connection {
  const pool = new ConnectionPool(config.DATABASE_URL, {
    max: config.DATABASE_POOL,
    application: service,
    log,
    timeouts,
  })
  // Listens on a separate connection and resumes by itself after a reconnect: docs/adr/0020-two-drivers.md.
  const listener = postgres(config.DATABASE_URL, {
    max: 1,
    fetch_types: false,
    connection: { application_name: `${service} listener`, ...keepalives },
    keep_alive: keepalives.tcp_keepalives_idle,
    backoff: (retries) => Math.min(0.05 * 2 ** retries, 2),
    onnotice: () => {},
  })
  return {
    db: databaseOn(pool),
    async listen(wake) {
      await listener.listen(
        wakeChannel,
        (name) => wake(name),
        () => wake(undefined),
      )
    },
    measure(metrics) {
      metrics.databaseConnectionsMax.set(config.DATABASE_POOL)
      metrics.measure({
        everyMs: 0,
        async read() {
          const { inUse, idle, waiting } = pool.usage()
          metrics.databaseConnections.set({ state: 'in_use' }, inUse)
          metrics.databaseConnections.set({ state: 'idle' }, idle)
          metrics.databaseWaiting.set(waiting)
        },
      })
    },
    async close(timeoutMs = 1_000) {
      await Promise.all([listener.end({ timeout: timeoutMs / 1000 }), pool.close(timeoutMs)])
    },
  }
}

/**
 * Runs statements as one transaction, prepared and sent together, for what must be fast: whatever they lock is held for no way
 * to the server and back. Each sees what was committed while those before it waited for a lock.
 * @param statements by the names under which each connection keeps their plans: a name stands for one text.
 * @returns the rows of the last one.
 */
export async function runTogether<Row extends object>(db: Database, statements: Record<string, SQL>): Promise<Row[]> {
  const dialect = new PgDialect()
  const prepared = Object.entries(statements).map(([name, statement]) => {
    const { sql: text, params: values } = dialect.sqlToQuery(statement)
    return { name, text, values }
  })
  const lease = await db.$client.lease()
  try {
    const results = await lease.queryAll([{ text: 'begin' }, ...prepared, { text: 'commit' }])
    return (results.at(-2)?.rows ?? []) as Row[]
  } finally {
    lease.release()
  }
}

/** Wakes the job of that name in all processes once `tx` has committed. */
export async function wakeJob(tx: Transaction | Database, job: string): Promise<void> {
  await tx.execute(sql`select pg_notify(${wakeChannel}, ${job})`)
}
