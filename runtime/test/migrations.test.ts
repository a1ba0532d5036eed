import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { randomUUIDv7 } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureDatabase } from '@robokids/local/postgres'
import { awaitPreparation, prepareDatabase } from '@robokids/runtime/prepare-database'
import { createLogger, type Logger } from '@robokids/runtime/telemetry'
import { eventually } from '@robokids/test/bed'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'robokids-migrations-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A new database, and a `start` for versions of a service with different migrations. */
async function databaseWithVersions() {
  const url = await ensureDatabase(inject('postgresUrl'), `test_${randomUUIDv7().replaceAll('-', '')}`)
  const db = postgres(url, { max: 2, onnotice: () => {} })
  const warnings: string[] = []
  const silent = createLogger('test', 'silent')
  const log = Object.assign(Object.create(silent) as Logger, {
    warn: (_about: unknown, message: string) => warnings.push(message),
  })
  async function write(migrations: Record<string, string>): Promise<string> {
    const at = join(folder, randomUUIDv7())
    await mkdir(join(at, 'meta'), { recursive: true })
    const entries = Object.keys(migrations).map((tag, idx) => ({
      idx,
      version: '7',
      // `0003_…` was created on January 3.
      when: Date.UTC(2026, 0, Number(tag.slice(0, 4))),
      tag,
      breakpoints: true,
    }))
    await writeFile(join(at, 'meta/_journal.json'), JSON.stringify({ version: '7', dialect: 'postgresql', entries }))
    for (const [tag, statements] of Object.entries(migrations)) await writeFile(join(at, `${tag}.sql`), statements)
    return at
  }
  const config = { DATABASE_URL: url, DATABASE_POOL: 2 }
  const start = async (migrations: Record<string, string>, seed?: () => Promise<void>) =>
    prepareDatabase(config, await write(migrations), log, seed)
  /** A start that leaves the migrations to others. */
  const startAfterwards = async (migrations: Record<string, string>) =>
    awaitPreparation(config, await write(migrations), log)
  const tables = async () =>
    (await db<{ name: string }[]>`select tablename as name from pg_tables where tablename like 'of_%' order by 1`).map(
      ({ name }) => name,
    )
  return { db, start, startAfterwards, tables, warnings }
}

const first = { '0001_first': 'create table of_first (n int)' }
const second = { '0002_second': 'create table of_second (n int)' }
const third = { '0003_third': 'create table of_third (n int)' }

describe('migrations', () => {
  it('are applied with a warning if they are older than the newest applied one, as after a merge of two branches', async () => {
    const { db, start, tables, warnings } = await databaseWithVersions()
    await start({ ...first, ...third })
    expect(await tables()).toEqual(['of_first', 'of_third'])
    await start({ ...first, ...second, ...third })
    expect(await tables()).toEqual(['of_first', 'of_second', 'of_third'])
    expect(warnings).toEqual(['applying a migration that is older than the newest applied one'])
    await start({ ...first, ...second, ...third })
    expect(warnings).toHaveLength(1)
    await db.end()
  })

  it('of a newer version are kept when an older version starts', async () => {
    const { db, start, tables } = await databaseWithVersions()
    await start({ ...first, ...second })
    await start(first)
    expect(await tables()).toEqual(['of_first', 'of_second'])
    await db.end()
  })

  it('fail if they were changed after they had been applied', async () => {
    const { db, start, tables } = await databaseWithVersions()
    await start(first)
    await expect(start({ '0001_first': 'create table of_other (n int)', ...second })).rejects.toThrow(
      /was changed after this database had applied it/,
    )
    expect(await tables()).toEqual(['of_first'])
    await db.end()
  })

  it('are applied in one transaction', async () => {
    const { db, start, tables } = await databaseWithVersions()
    await expect(start({ ...first, '0002_second': 'create table of_second (n nonsense)' })).rejects.toThrow('nonsense')
    expect(await tables()).toEqual([])
    await start({ ...first, ...second })
    expect(await tables()).toEqual(['of_first', 'of_second'])
    await db.end()
  })

  it('wait for a table in use without blocking other users of it for long', async () => {
    const { db, start, tables, warnings } = await databaseWithVersions()
    await start(first)
    const [used, use] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const inUse = db.begin(async (tx) => {
      await tx`select 1 from of_first`
      used.resolve()
      await use.promise
    })
    await used.promise
    const migrating = start({ ...first, '0002_second': 'alter table of_first rename to of_renamed' })
    await eventually(() => warnings.includes('waiting for database locks'), 20_000)
    use.resolve()
    await inUse
    await migrating
    expect(await tables()).toEqual(['of_renamed'])
    await db.end()
  })
})

describe('a start that does not migrate', () => {
  it('waits until another process has applied every migration and written its rows, and changes nothing', async () => {
    const { db, start, startAfterwards, tables, warnings } = await databaseWithVersions()
    let started = false
    const starting = startAfterwards({ ...first, ...second }).then(() => (started = true))
    await eventually(() => warnings.some((message) => message.startsWith('waiting for the migrations')))
    expect(await db`select 1 from pg_namespace where nspname = 'drizzle'`).toHaveLength(0)

    await start(first)
    const [seeding, seed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const migrating = start({ ...first, ...second }, async () => {
      seeding.resolve()
      await seed.promise
    })
    await seeding.promise
    expect(await tables()).toEqual(['of_first', 'of_second'])
    // It waits for the lock that is held until all is written.
    await eventually(async () => {
      const waiting = await db`select 1 from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and not granted
        and database = (select oid from pg_database where datname = current_database())`
      return waiting.length === 1
    })
    expect(started).toBe(false)
    seed.resolve()
    await Promise.all([migrating, starting])
    await db.end()
  })

  it('is immediate where nothing is missing, also for an older version than the database is for', async () => {
    const { db, start, startAfterwards, warnings } = await databaseWithVersions()
    await start({ ...first, ...second })
    await startAfterwards({ ...first, ...second })
    await startAfterwards(first)
    expect(warnings).toEqual([])
    await expect(startAfterwards({ '0001_first': 'create table of_other (n int)' })).rejects.toThrow(
      /was changed after this database had applied it/,
    )
    await db.end()
  })
})
