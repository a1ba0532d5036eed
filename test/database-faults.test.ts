import { randomUUIDv7 } from 'node:crypto'
import { appendFile, chmod, chown, cp, glob, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@robokids/local/postgres'
import { freePort } from '@robokids/local/processes'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { breakableProxy } from './src/breakable-proxy.ts'
import { inContainers, testPostgres, type TestServer } from './src/infrastructure.ts'
import { sampleFamily } from './src/samples.ts'
import { startSystem, type System } from './src/system.ts'

/**
 * The database of all services fails under load and comes back. Every seat that was confirmed to a family exists, every
 * payment is confirmed and mailed once, nobody is charged twice, and no process exits.
 */

const settings = { all: { LOG_LEVEL: 'error' }, billing: { RECONCILE_EVERY_MS: '1000' } }
const services = ['enrollment', 'billing', 'notifications'] as const

async function addCapacity(system: System): Promise<void> {
  await system.sql('enrollment')`update class_sessions set capacity = 100000`
}

/** Registers and pays for one family after another, with a browser's retries. */
async function enrollUntil(over: AbortSignal, system: System): Promise<{ email: string; registrationId: string }[]> {
  const families = []
  while (!over.aborted) {
    const email = `${randomUUIDv7()}@example.com`
    const [first] = await eventually(() => system.openDates('basic'), 60_000)
    const body = { ...sampleFamily(), id: randomUUIDv7(), email, classType: 'basic', startDate: first?.date }
    const { checkoutUrl, registrationId } = await eventually(async () => {
      const answer = await system.post('/api/registrations', body)
      if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body as { checkoutUrl: string; registrationId: string }
    }, 60_000)
    await system.pay(checkoutUrl)
    families.push({ email, registrationId })
  }
  return families
}

/** Breaks the database while eight families register in parallel. */
async function breakUnderLoad(system: System, breaks: () => Promise<void>): Promise<void> {
  const over = new AbortController()
  const before = await system.atProvider()
  const load = Promise.all(Array.from({ length: 8 }, () => enrollUntil(over.signal, system)))
  const paid = async () => (await system.atProvider()).charges - before.charges
  await eventually(async () => (await paid()) > 15, 60_000)
  await breaks()
  const since = await paid()
  await eventually(async () => (await paid()) > since + 15, 60_000)
  over.abort()
  const families = (await load).flat()

  for (const { registrationId } of families) await system.reaches(registrationId, 'confirmed', 60_000)
  for (const name of services) {
    expect(system.processes[name].isRunning()).toBe(true)
    await eventually(async () => {
      const [row] = await system.sql(name)<{ waiting: number }[]>`
        select count(*)::int as waiting from outbox where published_at is null`
      return row?.waiting === 0
    }, 30_000)
    expect(await system.sql(name)`select handler, error from dead_letters`).toEqual([])
  }
  await eventually(async () => {
    const [row] = await system.sql('notifications')<{ waiting: number }[]>`
      select count(*)::int as waiting from mails where status = 'pending'`
    return row?.waiting === 0
  }, 60_000)
  for (const { email } of families) expect([email, (await system.mailsTo(email)).length]).toEqual([email, 1])
  const after = await system.atProvider()
  expect([after.charges - before.charges, after.refunds]).toEqual([families.length, before.refunds])
  const [seats] = await system.sql('enrollment')`
    select (select sum(sold)::int from class_sessions) as sold, (select sum(held)::int from class_sessions) as held,
      (select sum(seats)::int from registrations where status = 'confirmed') as confirmed`
  expect(seats).toEqual({ sold: seats?.['confirmed'], held: 0, confirmed: seats?.['confirmed'] })
}

describe('PostgreSQL under load', () => {
  let server: TestServer
  let system: System
  beforeAll(async () => {
    server = await testPostgres({ durable: true })
    system = await startSystem(settings, server.url)
    await addCapacity(system)
  })
  afterAll(async () => {
    await system.stop()
    await server.stop()
  })

  it('A killed and restarted PostgreSQL loses nobody, and nobody is charged or mailed twice', async () => {
    await breakUnderLoad(system, async () => {
      await server.kill()
      for (const name of services)
        await eventually(async () => (await fetch(`${system.processes[name].url}/readyz`)).status === 503, 30_000)
      await server.restart()
    })
  }, 240_000)

  it('Repeatedly terminated connections lose nobody, and nobody is charged or mailed twice', async () => {
    const admin = postgres(`${server.url}/postgres`, { max: 1, onnotice: () => {} })
    await breakUnderLoad(system, async () => {
      for (let round = 0; round < 5; round += 1) {
        const { charges } = await system.atProvider()
        await admin`
          select pg_terminate_backend(pid) from pg_stat_activity
          where pid <> pg_backend_pid() and backend_type = 'client backend'`
        await eventually(async () => (await system.atProvider()).charges > charges, 30_000)
      }
    })
    await admin.end()
  }, 240_000)
})

describe.skipIf(inContainers)('A standby that takes over under load', () => {
  it('A standby that takes over has everything that was acknowledged, and nobody is charged or mailed twice', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'robokids-failover-'))
    await chmod(folder, 0o755)
    const ports = { primary: await freePort(), standby: await freePort() }
    const at = (name: keyof typeof ports) => ({ dataDir: join(folder, name), port: ports[name] })
    const first = await startPostgres(at('primary'))
    await first.stop()
    await cp(at('primary').dataDir, at('standby').dataDir, { recursive: true })
    await writeFile(join(at('standby').dataDir, 'standby.signal'), '')
    await appendFile(
      join(at('standby').dataDir, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${ports.primary} user=postgres application_name=standby'\n`,
    )
    await ownAs(at('primary').dataDir, at('standby').dataDir)
    const primary = await startPostgres(at('primary'))
    const standby = await startPostgres(at('standby'))
    const ask = postgres(`${primary.url}/postgres`, { max: 1, onnotice: () => {} })
    await ask`alter system set synchronous_standby_names = 'standby'`
    await ask`select pg_reload_conf()`
    await eventually(async () => (await ask`select 1 from pg_stat_replication where sync_state = 'sync'`).length === 1)
    const proxy = await breakableProxy(ports.primary)
    const system = await startSystem(settings, `postgres://postgres@127.0.0.1:${proxy.port}`)
    try {
      await addCapacity(system)
      await breakUnderLoad(system, async () => {
        await primary.kill()
        const promoting = postgres(`${standby.url}/postgres`, { max: 1, onnotice: () => {} })
        await promoting`select pg_promote()`
        await promoting.end()
        proxy.lead(ports.standby)
        proxy.reset()
      })
    } finally {
      await system.stop()
      await ask.end({ timeout: 1 })
      await standby.stop()
      await proxy.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }, 300_000)
})

/** Gives a copied folder the original's owner: PostgreSQL does not run as root. */
async function ownAs(original: string, copy: string): Promise<void> {
  const { uid, gid, mode } = await stat(original)
  for await (const entry of glob('**', { cwd: copy })) await chown(join(copy, entry), uid, gid)
  await chown(copy, uid, gid)
  await chmod(copy, mode)
}
