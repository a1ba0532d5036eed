import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@robokids/local/postgres'
import { freePort, isListening, type LocalServer } from '@robokids/local/processes'
import { applications, owningServices } from '@robokids/local/services'
import { root } from '@robokids/local/settings'
import { prepareDatabase } from '@robokids/runtime/prepare-database'
import { createLogger } from '@robokids/runtime/telemetry'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

async function dataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'robokids-lock-'))
  folders.push(folder)
  return folder
}

const start = async (dataDir: string) => startPostgres({ dataDir, port: await freePort(), scratch: true })
const portOf = (url: string) => Number(new URL(url).port)

describe('PostgreSQL of npm start', () => {
  it('PostgreSQL starts on data whose lock names an unrelated process, and leaves that process alone', async () => {
    const data = await dataDir()
    await (await start(data)).stop()
    // Run by the same user as the server, so that a signal would reach it.
    const { uid, gid } = await stat(data)
    const stranger = spawn('sleep', ['600'], { uid, gid, stdio: 'ignore' })
    try {
      await once(stranger, 'spawn')
      const lock = join(data, 'postmaster.pid')
      await writeFile(lock, `${stranger.pid}\n${data}\n1700000000\n4020\n\n127.0.0.1\n  1234  5678\nready   \n`)
      await chown(lock, uid, gid)
      const server = await start(data)
      expect(await isListening(portOf(server.url))).toBe(true)
      expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null])
      await server.stop()
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  it('PostgreSQL does not start on data that is in use, or a copy of such data', async () => {
    const data = await dataDir()
    const server = await start(data)
    try {
      await expect(start(data)).rejects.toThrow(`PostgreSQL runs on ${data} already, as process `)
      const copy = await dataDir()
      for (const file of ['PG_VERSION', 'postmaster.pid']) await cp(join(data, file), join(copy, file))
      await expect(start(copy)).rejects.toThrow(`If these data are a copy, delete ${copy}/postmaster.pid.`)
      expect(await isListening(portOf(server.url))).toBe(true)
      expect((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[1]).toBe(data)
    } finally {
      await server.stop()
    }
  })

  it('PostgreSQL recovers data that were left by a crash', async () => {
    const data = await dataDir()
    const server = await start(data)
    await server.kill()
    const again = await start(data)
    expect(await isListening(portOf(again.url))).toBe(true)
    await again.stop()
  })
})

describe('the role of a service', () => {
  let server: LocalServer
  beforeAll(async () => {
    server = await start(await dataDir())
  })
  afterAll(() => server.stop())

  /** Runs `node deploy/local/src/create-databases.ts`. */
  async function createDatabases(env: Record<string, string>): Promise<{ code: unknown; printed: string }> {
    const program = join(root, 'deploy/local/src/create-databases.ts')
    return new Promise((resolve) => {
      execFile(process.execPath, [program], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, printed: stdout + stderr }),
      )
    })
  }
  /** Runs a statement as a role. @returns the SQLSTATE of its error, or its first row */
  async function run(role: string, database: string, statement: string): Promise<unknown> {
    const client = postgres(`postgres://${role}@127.0.0.1:${portOf(server.url)}/${database}`, { max: 1 })
    try {
      return (await client.unsafe(statement))[0]
    } catch (error) {
      return (error as { code?: string }).code
    } finally {
      await client.end()
    }
  }
  const denied = '42501'

  it('A role is created with its database, and its password is changed, by a command that takes passwords as settings', async () => {
    const local = { APP_ENV: 'local', DATABASE_SERVER_URL: server.url }
    expect(await createDatabases({ ...local, APP_ENV: 'production', DATABASE_PASSWORD_BILLING: 'billing' })).toEqual({
      code: 1,
      printed: expect.stringMatching(/DATABASE_PASSWORD_IDENTITY: has to be set[^]*DATABASE_PASSWORD_BILLING: can be/),
    })
    expect(await createDatabases(local)).toEqual({
      code: 0,
      printed: expect.stringContaining('billing has a new data'),
    })
    const passwordOf = () => run('postgres', 'postgres', `select rolpassword from pg_authid where rolname = 'billing'`)
    const before = await passwordOf()
    const again = await createDatabases({ ...local, DATABASE_PASSWORD_BILLING: "it's another" })
    expect(again).toEqual({ code: 0, printed: expect.stringContaining('billing has its data') })
    expect(await passwordOf()).not.toEqual(before)
  })

  it('A role applies the migrations of its service, and may do nothing else', async () => {
    const log = createLogger('test', 'silent')
    for (const name of owningServices) {
      const { migrations } = await applications[name].load()
      const url = `postgres://${name}@127.0.0.1:${portOf(server.url)}/${name}`
      await prepareDatabase({ DATABASE_URL: url, DATABASE_POOL: 2 }, migrations ?? '', log)
      for (const other of ['postgres', 'template1', ...owningServices.filter((one) => one !== name)])
        expect([name, other, await run(name, other, 'select 1')]).toEqual([name, other, denied])
      for (const statement of [
        'create role another',
        'create database another',
        `alter role ${name} createdb`,
        'set session authorization postgres',
        'alter system set work_mem = 1',
        `select pg_read_file('PG_VERSION')`,
        `copy (select 1) to program 'cat'`,
        'select rolpassword from pg_authid',
        'create extension file_fdw',
      ])
        expect([name, statement, await run(name, name, statement)]).toEqual([name, statement, denied])
    }
  })

  it('A role cannot read what others are running', async () => {
    const client = postgres(`${server.url}/billing`, { max: 1 })
    try {
      await client`select 'somebody else’s'`
      const seen = await run(
        'enrollment',
        'enrollment',
        `select array_agg(distinct query) as queries from pg_stat_activity where usename = 'postgres' and query <> ''`,
      )
      expect(seen).toEqual({ queries: ['<insufficient privilege>'] })
    } finally {
      await client.end()
    }
  })
})
