import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { DatabaseConfig } from './config.ts'
import { ConnectionPool, databaseOn, standardTimeouts, type Database, type Transaction } from './db.ts'
import { isConnectionError, sqlState } from './errors.ts'
import type { Logger } from './telemetry.ts'

const runtimeMigrations = fileURLToPath(new URL('../migrations', import.meta.url))

/** How long a service waits for a database that is starting, or for locks held by others. */
const defaultMaxWaitMs = 60_000

/**
 * How long a migration waits for a table lock before it starts over: all other users of the table queue behind it meanwhile,
 * and the version that is still running has to keep working.
 */
const lockTimeoutMs = 5_000
const lockNotAvailable = '55P03'

/**
 * Migrates the database, the runtime's own tables first, and then seeds it. Processes that start at the same time wait for
 * each other. Waits for a database that is not available yet.
 * @throws if a migration was changed after it had been applied, or if the database is not reachable in time (a minute).
 */
export async function prepareDatabase(
  config: DatabaseConfig,
  migrations: string,
  log: Logger,
  seed?: (db: Database) => Promise<void>,
  maxWaitMs = defaultMaxWaitMs,
): Promise<void> {
  const deadline = performance.now() + maxWaitMs
  for (;;) {
    const pool = openPool(config, log)
    try {
      const db = databaseOn(pool)
      await db.execute(sql`select pg_advisory_lock(hashtext('prepare'))`)
      await applyMigrations(db, runtimeMigrations, 'runtime', log)
      await applyMigrations(db, migrations, 'service', log)
      await seed?.(db)
      return
    } catch (error) {
      const locked = sqlState(error) === lockNotAvailable
      if ((!locked && !isConnectionError(error)) || performance.now() > deadline) throw error
      log.warn({ err: error }, locked ? 'waiting for database locks' : 'waiting for the database')
      await wait(500)
    } finally {
      await pool.close(5_000)
    }
  }
}

/** One connection, so that the lock is held for all steps. A migration may take long; waiting for a lock may not. */
function openPool(config: DatabaseConfig, log: Logger): ConnectionPool {
  return new ConnectionPool(config.DATABASE_URL, {
    max: 1,
    application: 'prepare',
    log,
    timeouts: { ...standardTimeouts, statement: 600_000, response: 610_000, lock: lockTimeoutMs },
  })
}

/** How often a process checks whether its database has been prepared, and how often it logs that it waits. */
const checkEveryMs = 1_000
const logEveryMs = 30_000

/**
 * Waits, for as long as it takes, until `prepareDatabase` has been run for these migrations by another process, and changes nothing.
 * @throws if a migration was changed after it had been applied.
 */
export async function awaitPreparation(config: DatabaseConfig, migrations: string, log: Logger): Promise<void> {
  let loggedAt = -Infinity
  for (;;) {
    const pool = openPool(config, log)
    let about: object
    try {
      const db = databaseOn(pool)
      // Not in the middle of it: after the migrations, the rows that every process needs are still to be written.
      await db.execute(sql`select pg_advisory_lock_shared(hashtext('prepare'))`)
      const missing = [
        ...(await findMissing(db, runtimeMigrations, 'runtime')),
        ...(await findMissing(db, migrations, 'service')),
      ]
      if (missing.length === 0) return
      about = { missing: missing.map(({ made }) => made) }
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable && !isConnectionError(error)) throw error
      about = { err: error }
    } finally {
      await pool.close(5_000)
    }
    if (performance.now() - loggedAt >= logEveryMs) {
      log.warn(
        about,
        'waiting for the migrations of this version, which are not applied at its start (MIGRATE_ON_START)',
      )
      loggedAt = performance.now()
    }
    await wait(checkEveryMs)
  }
}

/** Returns the migrations of the folder's journal that this database does not have. */
async function findMissing(db: Database, folder: string, name: string): Promise<MissingMigration[]> {
  const path = `drizzle.${name}`
  const { rows } = await db.execute<{ exists: boolean }>(sql`select to_regclass(${path}) is not null as exists`)
  return missingOf(folder, rows[0]?.exists === true ? await readApplied(db, name) : new Map())
}

interface MissingMigration {
  folderMillis: number
  hash: string
  statements: string[]
  /** When it was made, by which operators find its file. */
  made: string
}

/** Returns the hashes of the applied migrations by the times at which they were made. */
async function readApplied(db: Database | Transaction, name: string): Promise<Map<number, string>> {
  const { rows } = await db.execute<{ hash: string; created_at: string }>(
    sql`select hash, created_at from drizzle.${sql.identifier(name)} order by created_at, id`,
  )
  return new Map(rows.map((row) => [Number(row.created_at), row.hash]))
}

/** @throws if a migration was changed after it had been applied. */
function missingOf(folder: string, applied: ReadonlyMap<number, string>): MissingMigration[] {
  return readMigrationFiles({ migrationsFolder: folder }).flatMap(({ folderMillis, hash, sql: statements }) => {
    const known = applied.get(folderMillis)
    if (known === hash) return []
    const made = new Date(folderMillis).toISOString()
    if (known !== undefined)
      throw new Error(
        `The migration of ${made} in ${folder} was changed after this database had applied it. Put it back as it was, and make the change in a migration of its own.`,
      )
    return [{ folderMillis, hash, statements, made }]
  })
}

/**
 * Applies the migrations of the folder's journal that this database does not have, in order, including those that are older
 * than its newest one (after a merge of two branches). Drizzle's own migrator compares only with the newest one and would skip
 * them silently. The table has drizzle's own format. Migrations applied by a newer version are not in the journal and stay.
 */
async function applyMigrations(db: Database, folder: string, name: string, log: Logger): Promise<void> {
  const table = sql`drizzle.${sql.identifier(name)}`
  await db.execute(sql`create schema if not exists drizzle`)
  await db.execute(
    sql`create table if not exists ${table} (id serial primary key, hash text not null, created_at bigint)`,
  )
  await db.transaction(async (tx) => {
    const applied = await readApplied(tx, name)
    const newest = Math.max(0, ...applied.keys())
    for (const { folderMillis, hash, statements, made } of missingOf(folder, applied)) {
      if (folderMillis < newest) log.warn({ made }, 'applying a migration that is older than the newest applied one')
      for (const statement of statements) await tx.execute(sql.raw(statement))
      await tx.execute(sql`insert into ${table} (hash, created_at) values (${hash}, ${folderMillis})`)
    }
  })
}
