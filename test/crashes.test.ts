import { randomUUIDv7 } from 'node:crypto'
import { owningServices, type OwningService } from '@robokids/local/services'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { sampleMember } from './src/samples.ts'
import { startSystem, type System } from './src/system.ts'

/*
 * Each test stops a process at a chosen point by holding a lock that it needs there, kills it with SIGKILL, lets go and
 * starts it again. Then the flow has to end as if nothing had happened.
 */

let system: System
beforeAll(async () => {
  system = await startSystem({ identity: {}, billing: { RECONCILE_EVERY_MS: '60000' } })
})
afterAll(() => system.stop())

/** Runs SQL that takes a lock. @returns how to let it go. */
async function hold(owner: OwningService, statement: string): Promise<() => Promise<void>> {
  const connection = await system.sql(owner).reserve()
  await connection.unsafe('begin')
  await connection.unsafe(statement)
  return async () => {
    await connection.unsafe('rollback')
    connection.release()
  }
}

/** While this is held, a service commits but cannot publish. */
const holdPublishing = (owner: OwningService) => hold(owner, `select pg_advisory_xact_lock(hashtext('outbox'))`)

/** Waits until the service hangs at a lock that we hold. */
async function hangs(owner: OwningService, statement: RegExp): Promise<void> {
  const sql = system.sql(owner)
  await eventually(async () => {
    const rows = await sql<{ query: string }[]>`
      select query from pg_stat_activity
      where datname = current_database() and application_name = ${owner} and wait_event_type = 'Lock'`
    return rows.some((row) => statement.test(row.query))
  })
}

async function unpublished(owner: OwningService, type: string): Promise<number> {
  const [row] = await system.sql(owner)<{ waiting: number }[]>`
    select count(*)::int as waiting from outbox where published_at is null and type = ${type}`
  return row?.waiting ?? 0
}

async function newFamily() {
  const email = `${randomUUIDv7()}@example.com`
  return { email, ...(await system.register({ email })) }
}

/** One payment, one confirmation, one mail: nothing more for this family, and nothing left behind anywhere. */
async function endedWell({ email, registrationId }: { email: string; registrationId: string }): Promise<void> {
  await system.reaches(registrationId, 'confirmed', 30_000)
  await eventually(async () => (await system.mailsTo(email)).length >= 1, 30_000)
  for (const owner of owningServices) {
    await eventually(async () => {
      const [row] = await system.sql(owner)<
        { waiting: number }[]
      >`select count(*)::int as waiting from outbox where published_at is null`
      return row?.waiting === 0
    }, 20_000)
    const letters = await system.sql(owner)`select handler, error from dead_letters`
    expect(letters).toEqual([])
  }
  const [payments] = await system.sql(
    'billing',
  )`select count(*)::int as times from payments where registration_id = ${registrationId}`
  expect(payments?.['times']).toBe(1)
  const [confirmations] = await system.sql('enrollment')`
    select count(*)::int as times from outbox where type = 'registration.confirmed' and envelope->>'subject' = ${registrationId}`
  expect(confirmations?.['times']).toBe(1)
  expect(await system.mailsTo(email)).toHaveLength(1)
}

async function killAndRestart(name: OwningService, letGo: () => Promise<void>): Promise<void> {
  await system.processes[name].kill()
  await letGo()
  await system.processes[name].start()
}

afterEach(async () => {
  expect((await system.atProvider()).refunds).toBe(0)
})

describe('a service that is killed between its commit and its publishing', () => {
  it('publishes the confirmation after its restart (enrollment)', async () => {
    const letGo = await holdPublishing('enrollment')
    const family = await newFamily()
    await system.pay(family.checkoutUrl)
    await eventually(async () => (await unpublished('enrollment', 'registration.confirmed')) === 1)
    await killAndRestart('enrollment', letGo)
    await endedWell(family)
  })

  it('publishes the payment after its restart (billing)', async () => {
    const family = await newFamily()
    const letGo = await holdPublishing('billing')
    await system.pay(family.checkoutUrl)
    await eventually(async () => (await unpublished('billing', 'payment.completed')) === 1)
    expect((await system.state(family.registrationId)).status).toBe('held')
    await killAndRestart('billing', letGo)
    await endedWell(family)
  })

  it('tells of the mail after its restart, and sends no second one (notifications)', async () => {
    const letGo = await holdPublishing('notifications')
    const family = await newFamily()
    await system.pay(family.checkoutUrl)
    await eventually(async () => (await unpublished('notifications', 'mail.delivered')) === 1)
    await killAndRestart('notifications', letGo)
    await endedWell(family)
  })
})

describe('identity, killed between writing and publishing a code', () => {
  it('has it sent once after its restart, and the code works', async () => {
    const email = `${randomUUIDv7()}@example.com`
    const letGo = await holdPublishing('identity')
    const member = sampleMember(email)
    const answer = await system.post('/api/auth/sign-up', member)
    expect(answer.status).toBe(200)
    await killAndRestart('identity', letGo)
    const [mail] = await eventually(async () => {
      const mails = await system.mailsTo(email)
      return mails.length > 0 && mails
    }, 30_000)
    const [code = ''] = /\b\d{6}\b/.exec(mail?.text ?? '') ?? []
    const confirmed = await system.post('/api/auth/confirm-sign-up', { email, code, password: member.password })
    expect(confirmed.status).toBe(200)
    // The row of a secret is gone once it is published, and nothing was sent twice.
    await eventually(async () => {
      const kept = await system.sql('identity')`select id from outbox where type = 'code.issued'`
      return kept.length === 0
    })
    expect(await system.mailsTo(email)).toHaveLength(1)
  })
})

describe('a service that is killed after the broker has the event and before it knows so', () => {
  it('publishes it again, which changes nothing (enrollment)', async () => {
    const letGoOfPublishing = await holdPublishing('enrollment')
    const family = await newFamily()
    await system.pay(family.checkoutUrl)
    await eventually(async () => (await unpublished('enrollment', 'registration.confirmed')) === 1)
    const letGoOfMarking = await hold('enrollment', 'select 1 from outbox where published_at is null for update')
    await letGoOfPublishing()
    await hangs('enrollment', /update "outbox"/)
    await eventually(async () => (await system.mailsTo(family.email)).length === 1)
    await killAndRestart('enrollment', letGoOfMarking)
    await endedWell(family)
  })
})

describe('a service that is killed in the middle of a consumer', () => {
  it('confirms after its restart (enrollment)', async () => {
    const family = await newFamily()
    const letGo = await hold(
      'enrollment',
      `select 1 from registrations where id = '${family.registrationId}' for update`,
    )
    await system.pay(family.checkoutUrl)
    await hangs('enrollment', /registrations/)
    await killAndRestart('enrollment', letGo)
    await endedWell(family)
  })

  it('takes the repeated notice of the provider after its restart (billing)', async () => {
    const family = await newFamily()
    const letGo = await hold(
      'billing',
      `select 1 from checkout_attempts where registration_id = '${family.registrationId}' for update`,
    )
    const paying = system.pay(family.checkoutUrl)
    await hangs('billing', /checkout_attempts/)
    await killAndRestart('billing', letGo)
    await paying
    await endedWell(family)
  })

  it('sends the one mail after its restart (notifications)', async () => {
    const family = await newFamily()
    const letGo = await hold('notifications', 'lock table mails in exclusive mode')
    await system.pay(family.checkoutUrl)
    await hangs('notifications', /insert into "mails"/)
    await killAndRestart('notifications', letGo)
    await endedWell(family)
  })
})

describe('a broker that is killed', () => {
  it('before the payment is told: it is told when the broker is back, and until then the page promises nothing', async () => {
    const family = await newFamily()
    await system.nats.kill()
    await system.pay(family.checkoutUrl)
    expect((await system.state(family.registrationId)).status).toBe('held')
    await system.nats.restart()
    await endedWell(family)
  })

  it('together with enrollment, while the payment waits on it', async () => {
    const family = await newFamily()
    await system.processes.enrollment.kill()
    await system.pay(family.checkoutUrl)
    await system.nats.kill()
    await system.nats.restart()
    await system.processes.enrollment.start()
    await endedWell(family)
  })
})

describe('the BFF', () => {
  it('answers accepted requests before it stops, and the same id ends in one registration', async () => {
    await fetch(`${system.simulator.url}/_sim/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'delay', method: 'POST', path: '/v1/checkout/sessions', delayMs: 1500, times: 8 }),
    })
    const date = (await system.openDates())[2]?.date ?? ''
    const families = Array.from({ length: 8 }, () => ({
      id: randomUUIDv7(),
      startDate: date,
      email: `${randomUUIDv7()}@example.com`,
    }))
    const asking = families.map((family) => system.register(family).catch((error: unknown) => error))
    await eventually(async () => {
      const [row] = await system.sql('enrollment')<{ held: number }[]>`
        select count(*)::int as held from registrations where id in ${system.sql('enrollment')(families.map((family) => family.id))}`
      return row?.held === 8
    })
    await system.processes.bff.stop()
    const answers = await Promise.all(asking)
    expect(answers.filter((answer) => answer instanceof Error)).toEqual([])
    await system.processes.bff.start()
    const again = await Promise.all(families.map((family) => system.register(family)))
    expect(again).toEqual(answers)
  })
})
