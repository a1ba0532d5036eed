import { sql, type ExtractTablesWithRelations, type SQL } from 'drizzle-orm'
import { NodePgDatabase, NodePgSession, NodePgTransaction } from 'drizzle-orm/node-postgres'
import { customType, PgDialect, type PgTransactionConfig } from 'drizzle-orm/pg-core'
import pg from 'pg'
import postgres from 'postgres'
import type { DatabaseConfig } from './config.ts'
import { ConnectionError, isConnectionError } from './errors.ts'
import type { Logger } from './telemetry.ts'

/** What runs statements: a pool, on whichever connection is free, or the lease of one connection. */
export interface Queryable {
  query(statement: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult>
}

/** One connection of a pool, for as long as somebody has it to themselves. */
export interface Lease extends Queryable {
  /** Sends statements together: the server goes from one to the next without waiting for this side. */
  queryAll(statements: pg.QueryConfig[]): Promise<pg.QueryResult[]>
  release(): void
}

/** What drizzle runs on. */
export interface Pool extends Queryable {
  lease(): Promise<Lease>
}

export type Database = NodePgDatabase & { $client: Pool }
/** What a use case works on. Only code that holds one can publish an event. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0]

/** A column of a moment, to the millisecond as contracts carry it: what is answered now is what is read later. */
export const instant = customType<{ data: Temporal.Instant; driverData: string }>({
  dataType: () => 'timestamp with time zone',
  toDriver: (value) => value.toString({ fractionalSecondDigits: 3 }),
  fromDriver: (value) => Temporal.Instant.from(value),
})

/** The channel on which a committed transaction wakes the relay or a job; the payload is its name. */
const wakeChannel = 'wake'

/** How long anything may take. All in milliseconds. */
export interface Timeouts {
  /** A statement, by the server. */
  statement: number
  /** Waiting for one lock, by the server. */
  lock: number
  /** A transaction in which nothing is asked any more, by the server. */
  idleInTransaction: number
  /** Making a connection, or waiting for one of a pool that is all in use. */
  connect: number
  /** The server's answer to a statement. Longer than the server's own limits: a network that went silent tells nobody. */
  answer: number
}

/** Far longer than anything that is meant to be: whatever waits longer waits for something that never comes. */
export const standardTimeouts: Timeouts = {
  statement: 60_000,
  lock: 30_000,
  idleInTransaction: 60_000,
  connect: 10_000,
  answer: 70_000,
}

/** So that a peer that vanished without a word is noticed within half a minute: the operating system's default is two hours. */
const keepalives = { tcp_keepalives_idle: 15, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 }

/**
 * A pool of connections to one database. What `pg.Pool` leaves to its user is done here: a connection is only ever given to
 * somebody else after the server itself has ended what ran on it, and is thrown away where that is not certain.
 */
export class ConnectionPool implements Pool {
  readonly #pool: pg.Pool

  /**
   * @param application the name under which the server lists the connections.
   * @param parameters further settings of the server's, for each session.
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
      query_timeout: timeouts.answer,
      connectionTimeoutMillis: timeouts.connect,
      idleTimeoutMillis: 60_000,
      // Of what one lease alone sends together.
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepalives.tcp_keepalives_idle * 1000,
      options: Object.entries({ ...keepalives, ...parameters })
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
    })
    // Without a handler, the end of a connection that nobody uses would end the process.
    this.#pool.on('error', (error) => log.debug({ err: error }, 'an idle database connection ended'))
    this.#pool.on('connect', (client) => {
      client.on('notice', (notice) => log.debug({ notice: notice.message }, 'database notice'))
      // The server's last words may come in one packet with the answer by which a connection changes hands: nobody has a
      // handler on it then, and whoever gets it learns by the first statement.
      client.on('error', () => {})
    })
  }

  /** @throws ConnectionError where none is to be had in time. */
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

  /** Waits for those that are in use, for `timeoutMs` at most. */
  async close(timeoutMs = 1_000): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const impatient = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)))
    await Promise.race([this.#pool.end(), impatient])
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
    client.on('error', this.#lose)
  }

  readonly #lose = (error: Error) => this.#lost.abort(error)

  /** Aborts once the connection is known to be lost. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Runs a statement after those that were asked for before it. @throws ConnectionError where the connection is lost. */
  query(statement: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    return this.#run(() => this.#client.query(statement, values))
  }

  /** @throws what the first statement that failed was refused for, and ConnectionError where the connection is lost. */
  queryAll(statements: pg.QueryConfig[]): Promise<pg.QueryResult[]> {
    return this.#run(async () => {
      const sent = await Promise.allSettled(statements.map((statement) => this.#client.query(statement)))
      return sent.map((result) => {
        if (result.status === 'rejected') throw result.reason
        return result.value
      })
    })
  }

  #run<Result>(send: () => Promise<Result>): Promise<Result> {
    const run = async () => {
      // Whoever goes on with a transaction that is over must not end up in somebody else's.
      if (this.#released) throw new Error('This transaction is over: nothing can be asked in it any more.')
      if (this.#lost.signal.aborted) throw asConnectionError(this.#lost.signal.reason)
      try {
        return await send()
      } catch (error) {
        // After the server's refusal of a statement, the connection is as good as before; after anything else, who knows.
        if (!(error instanceof pg.DatabaseError) || isConnectionError(error)) this.#lose(error as Error)
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
    this.#client.off('error', this.#lose)
    this.#client.release(this.#lost.signal.aborted)
  }
}

/** The driver tells most of what happens to a connection in words alone. */
const connectionMessages =
  /^(Connection terminated|Query read timeout|timeout (expired|exceeded)|Client (has encountered a connection error|was closed)|Cannot use a pool after|The server does not support SSL)/

function asConnectionError(error: unknown): unknown {
  if (isConnectionError(error) || !(error instanceof Error) || !connectionMessages.test(error.message)) return error
  return new ConnectionError(error.message, { cause: error })
}

type NoSchema = Record<string, never>
type NoRelations = ExtractTablesWithRelations<NoSchema>

/** Drizzle's session, with a `transaction` that neither leaks connections nor hands on broken ones. */
class PoolSession extends NodePgSession<NoSchema, NoRelations> {
  readonly #pool: Pool
  readonly #dialect: PgDialect

  constructor(pool: Pool, dialect: PgDialect) {
    // Of a client, drizzle calls `query` alone.
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
        // Where that fails, the connection is lost, and with it what was begun on it.
        await lease.query({ text: 'rollback' }).catch(() => {})
        throw error
      }
      const { command } = await lease.query({ text: 'commit' })
      // The server's answer where a statement failed, and whoever asked for it went on.
      if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed.')
      return result
    } finally {
      lease.release()
    }
  }
}

/** Drizzle on a pool. */
export function databaseOn(pool: Pool): Database {
  // One a database: it remembers columns by their table's name, which another service's table may have too.
  const dialect = new PgDialect()
  return Object.assign(new NodePgDatabase(dialect, new PoolSession(pool, dialect), undefined), { $client: pool })
}

export interface Connection {
  db: Database
  /** Calls `wake` with the name that a committed transaction notified, and with undefined whenever notices may have been missed. */
  listen(wake: (name: string | undefined) => void): Promise<void>
  /** Lets go of what is idle at once, and of what is in use after `timeoutMs` (a second) at the latest. */
  close(timeoutMs?: number): Promise<void>
}

/** Opens the pool of a service's own database. Connections are made when needed and made anew when they break. */
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
  // It takes LISTEN up again by itself, on a connection of its own: docs/adr/0020-two-drivers.md.
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

/** Wakes the job of that name, in whichever process runs it, once `tx` has committed. */
export async function wake(tx: Transaction | Database, job: string): Promise<void> {
  await tx.execute(sql`select pg_notify(${wakeChannel}, ${job})`)
}
