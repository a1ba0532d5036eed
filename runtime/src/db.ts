import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import { customType } from 'drizzle-orm/pg-core'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import type { DatabaseConfig } from './config.ts'
import { isConnectionError } from './errors.ts'
import type { Logger } from './telemetry.ts'

export type Database = PostgresJsDatabase & { $client: postgres.Sql }
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

export interface Connection {
  db: Database
  /** Calls `wake` with the name that a committed transaction notified, and with undefined whenever notices may have been missed. */
  listen(wake: (name: string | undefined) => void): Promise<void>
  close(): Promise<void>
}

/**
 * What waits for something that never comes gives up, and its connection is free again: a transaction in which nothing
 * is asked any more, a lock, a statement. Far longer than anything that is meant to be.
 */
const patience = { idle_in_transaction_session_timeout: 60_000, lock_timeout: 30_000, statement_timeout: 60_000 }

/** Opens the pool of a service's own database. Connections are made when needed and made anew when they break. */
export function connect(config: DatabaseConfig, service: string, log: Logger): Connection {
  const client = postgres(config.DATABASE_URL, {
    max: config.DATABASE_POOL,
    connection: { application_name: service, ...patience },
    connect_timeout: 10,
    backoff: (retries) => Math.min(0.05 * 2 ** retries, 2),
    onnotice: (notice) => log.debug({ notice: notice['message'] }, 'database notice'),
  })
  return {
    db: drizzle(client),
    async listen(wake) {
      await client.listen(
        wakeChannel,
        (name) => wake(name),
        () => wake(undefined),
      )
    },
    close: () => client.end({ timeout: 5 }),
  }
}

/**
 * Runs one statement prepared, for the one that must be fast. Nothing else is sent on its connection meanwhile: the
 * driver would line up other requests' statements behind it, and they would wait for its locks as well.
 */
export async function runPrepared<Row extends object>(
  db: Database,
  statement: (sql: postgres.ReservedSql) => PromiseLike<Row[]>,
): Promise<Row[]> {
  const connection = await db.$client.reserve()
  let broken = false
  try {
    return await statement(connection)
  } catch (error) {
    broken = isConnectionError(error)
    throw error
  } finally {
    // A connection that broke goes back to the driver by itself, to be made anew.
    if (!broken) connection.release()
  }
}

/** Wakes the job of that name, in whichever process runs it, once `tx` has committed. */
export async function wake(tx: Transaction | Database, job: string): Promise<void> {
  await tx.execute(sql`select pg_notify(${wakeChannel}, ${job})`)
}

const runtimeMigrations = fileURLToPath(new URL('../migrations', import.meta.url))

/** How long a service waits for a database that is still starting. */
const patienceMs = 60_000

/**
 * Brings the database up to date, the runtime's own tables first, and then seeds it. Processes that start at once wait
 * for each other under an advisory lock; a database that is not there yet is waited for.
 */
export async function prepareDatabase(
  config: DatabaseConfig,
  migrations: string,
  log: Logger,
  seed?: (db: Database) => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const client = postgres(config.DATABASE_URL, { max: 1, onnotice: () => {} })
    try {
      const db = drizzle(client)
      await db.execute(sql`select pg_advisory_lock(hashtext('prepare'))`)
      await migrate(db, { migrationsFolder: runtimeMigrations, migrationsTable: 'runtime' })
      await migrate(db, { migrationsFolder: migrations, migrationsTable: 'service' })
      await seed?.(db)
      return
    } catch (error) {
      if (!isConnectionError(error) || performance.now() > deadline) throw error
      log.warn({ err: error }, 'waiting for the database')
      await new Promise((resolve) => setTimeout(resolve, 500))
    } finally {
      await client.end({ timeout: 5 })
    }
  }
}

/**
 * Runs `work` if no other process is at the same work right now, holding the lock for as long as it runs.
 * @returns false where another process has the lock.
 */
export async function exclusively(
  db: Database,
  lock: string,
  work: (tx: Transaction) => Promise<void>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [row] = await tx.execute<{ locked: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtext(${lock})) as locked`,
    )
    if (!row?.locked) return false
    // The work may go on elsewhere for as long as it takes.
    await tx.execute(sql`set local idle_in_transaction_session_timeout = 0`)
    await work(tx)
    return true
  })
}
