import { execFile } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findToolsFolder } from '@robokids/local/admin/postgres-tools'
import { startPostgres } from '@robokids/local/postgres'
import { freePort, type LocalServer } from '@robokids/local/processes'
import type { OwningService } from '@robokids/local/services'
import { root } from '@robokids/local/settings'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { startSystem, type System } from './src/system.ts'

/** pg_dump refuses servers that are newer than itself, so the server is of the same installation. */
const folder = await findToolsFolder()
const services = ['enrollment', 'billing', 'notifications'] as const satisfies OwningService[]

describe.skipIf(folder === undefined)('A backup', () => {
  let server: LocalServer
  let system: System
  let directory: string
  /** Of its own, because PostgreSQL may run as another user. */
  let data: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'robokids-backup-'))
    data = await mkdtemp(join(tmpdir(), 'robokids-postgres-'))
    const binaries = { initdb: join(folder ?? '', 'initdb'), postgres: join(folder ?? '', 'postgres') }
    server = await startPostgres({ dataDir: data, port: await freePort(), scratch: true, binaries })
    system = await startSystem({ billing: { RECONCILE_EVERY_MS: '1000' } }, server.url)
  })
  afterAll(async () => {
    await system.stop()
    await server.stop()
    for (const path of [directory, data]) await rm(path, { recursive: true, force: true })
  })

  async function admin(...args: string[]): Promise<{ code: number; output: string }> {
    const urls = services.map((name) => [`${name.toUpperCase()}_DATABASE_URL`, system.databaseUrls[name]])
    const of = services.flatMap((name) => ['--service', name])
    const env = { ...process.env, SYSTEM_NAME: 'the test’s', ...(Object.fromEntries(urls) as Record<string, string>) }
    const chosen = args.includes('--service') ? [] : of
    const command = [join(root, 'deploy/local/src/admin.ts'), ...args, ...chosen]
    return promisify(execFile)(process.execPath, command, { env }).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        output: stderr + stdout,
      }),
    )
  }

  const backUp = async () => {
    const path = join(directory, randomUUIDv7())
    const { code, output } = await admin('backup', path)
    expect([code, output]).toEqual([0, expect.stringContaining('3 databases')])
    return path
  }

  /** Loses the databases and the broker, and restores each service from a backup. */
  async function restore(from: Record<(typeof services)[number], string>): Promise<void> {
    await Promise.all(Object.values(system.processes).map((one) => one.stop()))
    await system.nats.kill()
    await system.nats.restartEmpty()
    await system.disconnect()
    const client = postgres(`${server.url}/postgres`, { max: 1, onnotice: () => {} })
    for (const name of services) {
      const database = new URL(system.databaseUrls[name]).pathname.slice(1)
      await client.unsafe(`drop database "${database}" with (force)`)
      await client.unsafe(`create database "${database}"`)
    }
    await client.end()
    for (const name of services)
      expect(await admin('restore', from[name], '--service', name)).toMatchObject({ code: 0 })
    await Promise.all([...services, 'bff' as const].map((name) => system.processes[name].start()))
  }

  const everywhere = (path: string) => ({ enrollment: path, billing: path, notifications: path })
  const address = () => `${randomUUIDv7()}@example.com`
  const family = async () => {
    const email = address()
    return { email, ...(await system.register({ email })) }
  }
  const paid = async () => {
    const one = await family()
    await system.pay(one.checkoutUrl)
    await system.reaches(one.registrationId, 'confirmed')
    await eventually(async () => (await system.mailsTo(one.email)).length)
    return one
  }
  const confirmations = async (email: string) => (await system.mailsTo(email)).length
  const settled = () =>
    eventually(async () => {
      for (const name of services) {
        const [row] = await system.sql(name)<{ left: number }[]>`
          select ((select count(*) from outbox where published_at is null) + (select count(*) from dead_letters))::int as left`
        expect([name, row?.left]).toEqual([name, 0])
      }
      return true
    }, 60_000)

  it('Everything is restored with an empty broker, what was paid since is found, and nothing happens twice', async () => {
    const before = await paid()
    const waiting = await family()
    const path = await backUp()
    const seatsBefore = (await system.openDates())[0]?.seatsLeft
    // Paid after the backup: only the provider knows of it.
    await system.pay(waiting.checkoutUrl)
    await system.reaches(waiting.registrationId, 'confirmed')
    await eventually(() => confirmations(waiting.email))
    const atProvider = await system.atProvider()
    await restore(everywhere(path))

    await system.reaches(waiting.registrationId, 'confirmed', 60_000)
    await settled()
    expect((await system.state(before.registrationId)).status).toBe('confirmed')
    expect((await system.openDates())[0]?.seatsLeft).toBe(seatsBefore)
    expect(await system.atProvider()).toEqual(atProvider)
    expect(await confirmations(before.email)).toBe(1)
    // Its restored service does not know that it was sent: it is the same mail, once more.
    await eventually(async () => (await confirmations(waiting.email)) === 2)
    const later = await paid()
    expect(await confirmations(later.email)).toBe(1)
  }, 240_000)

  it.each([
    ['enrollment is older than billing', 'enrollment'],
    ['billing is older than enrollment', 'billing'],
  ] as const)(
    'The services agree again although the backup of %s',
    async (_, older) => {
      const one = await family()
      const first = await backUp()
      await system.pay(one.checkoutUrl)
      await system.reaches(one.registrationId, 'confirmed')
      await eventually(() => confirmations(one.email))
      const second = await backUp()
      const atProvider = await system.atProvider()
      await restore({ ...everywhere(second), [older]: first })
      await eventually(async () => {
        const { status, checkout } = await system.state(one.registrationId)
        expect([status, checkout?.status]).toEqual(['confirmed', 'paid'])
        return true
      }, 60_000)
      await settled()
      expect(await system.atProvider()).toEqual(atProvider)
      expect(await confirmations(one.email)).toBe(1)
    },
    240_000,
  )

  it('A damaged backup, one of a newer version, and one into a database with tables are refused', async () => {
    const path = await backUp()
    const filled = await admin('restore', path)
    expect([filled.code, filled.output]).toEqual([1, expect.stringContaining('has tables')])
    expect((await admin('backup', path)).output).toContain('is there already')

    const manifest = join(path, 'manifest.json')
    const text = await readFile(manifest, 'utf8')
    await writeFile(manifest, text.replace(/("service": \[\s+)\d+/, '$199999999999999'))
    expect((await admin('restore', path)).output).toContain('was made by a newer version')
    await writeFile(manifest, text)
    await writeFile(join(path, 'billing.dump'), 'PGDMP')
    expect((await admin('restore', path)).output).toContain('billing.dump is damaged')
    expect((await admin('restore', dirname(path))).output).toContain('is not a backup')
  })
})
