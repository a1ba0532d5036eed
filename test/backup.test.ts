import { randomUUIDv7 } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findToolsFolder } from '@robokids/local/admin/postgres-tools'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { backedUp, startRestorableSystem, type RestorableSystem } from './src/restorable-system.ts'
import type { System } from './src/system.ts'

const folder = await findToolsFolder()

describe.skipIf(folder === undefined)('A backup', () => {
  let restorable: RestorableSystem
  let system: System
  beforeAll(async () => {
    restorable = await startRestorableSystem(folder ?? '', { billing: { RECONCILE_EVERY_MS: '1000' } })
    system = restorable.system
  })
  afterAll(() => restorable.stop())

  const admin = (...args: string[]) => restorable.admin(...args)
  const backUp = () => restorable.backUp()

  /** Loses everything, and restores each service from a backup. */
  async function restore(from: Parameters<RestorableSystem['restore']>[0]): Promise<void> {
    await restorable.lose()
    await restorable.restore(from)
    await restorable.start()
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
      for (const name of backedUp) {
        const [row] = await system.sql(name)<{ left: number }[]>`
          select ((select count(*) from outbox where published_at is null) + (select count(*) from dead_letters))::int as left`
        expect([name, row?.left]).toEqual([name, 0])
      }
      return true
    }, 60_000)

  it('Everything is restored with an empty broker, what happened since is found, and nothing happens twice', async () => {
    const [before, meanwhile, waiting] = [await paid(), await family(), await family()]
    const older = await backUp()
    await system.pay(meanwhile.checkoutUrl)
    await system.reaches(meanwhile.registrationId, 'confirmed')
    await eventually(() => confirmations(meanwhile.email))
    const path = await backUp()
    const seatsLeft = (await system.openDates())[0]?.seatsLeft
    // Only the provider knows of it.
    await system.pay(waiting.checkoutUrl)
    await system.reaches(waiting.registrationId, 'confirmed')
    await eventually(() => confirmations(waiting.email))
    const atProvider = await system.atProvider()
    // Enrollment has never heard of the payment in between, which billing and notifications know.
    await restore({ ...everywhere(path), enrollment: older })

    for (const { registrationId } of [before, meanwhile, waiting])
      await system.reaches(registrationId, 'confirmed', 60_000)
    await settled()
    expect((await system.openDates())[0]?.seatsLeft).toBe(seatsLeft)
    expect(await system.atProvider()).toEqual(atProvider)
    // The restored service does not know that it had sent the last one.
    await eventually(async () => (await confirmations(waiting.email)) === 2)
    for (const { email } of [before, meanwhile]) expect(await confirmations(email)).toBe(1)
    expect(await confirmations((await paid()).email)).toBe(1)
  }, 240_000)

  it('A payment that only enrollment knows of is found again as the same one by an older billing', async () => {
    const one = await family()
    const older = await backUp()
    await system.pay(one.checkoutUrl)
    await system.reaches(one.registrationId, 'confirmed')
    await eventually(() => confirmations(one.email))
    const path = await backUp()
    const atProvider = await system.atProvider()
    await restore({ ...everywhere(path), billing: older })
    await eventually(async () => {
      expect((await system.state(one.registrationId)).checkout?.status).toBe('paid')
      return true
    }, 60_000)
    await settled()
    const paymentOf = (name: 'enrollment' | 'billing') =>
      name === 'billing'
        ? system.sql(name)`select id from payments where registration_id = ${one.registrationId}`
        : system.sql(name)`select payment_id as id from registrations where id = ${one.registrationId}`
    expect(await paymentOf('billing')).toEqual(await paymentOf('enrollment'))
    expect(await system.atProvider()).toEqual(atProvider)
    expect(await confirmations(one.email)).toBe(1)
  }, 240_000)

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
