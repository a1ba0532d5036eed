import { randomUUIDv7 } from 'node:crypto'
import type { RegisterBody } from '@robokids/contracts/bff'
import { checkoutSchema } from '@robokids/contracts/billing'
import { changeQuoteSchema, changeSchema } from '@robokids/contracts/changes'
import { openingClassPrices } from '@robokids/contracts/opening-prices'
import { owningServices, type OwningService } from '@robokids/local/services'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { eventually } from './src/bed.ts'
import { callJson } from './src/call-json.ts'
import { sampleMember } from './src/samples.ts'
import { startSystem, type System } from './src/system.ts'

/**
 * Each test blocks a process at a chosen point by holding a lock that it needs, kills it with SIGKILL, releases the
 * lock and restarts it. Then the flow has to complete as if nothing had happened.
 */

let system: System
beforeAll(async () => {
  system = await startSystem({ identity: {}, billing: { RECONCILE_EVERY_MS: '60000' } })
})
afterAll(() => system.stop())

/** Runs SQL that takes a lock. @returns a function that releases it */
async function hold(owner: OwningService, statement: string): Promise<() => Promise<void>> {
  const connection = await system.sql(owner).reserve()
  await connection.unsafe('begin')
  await connection.unsafe(statement)
  return async () => {
    await connection.unsafe('rollback')
    connection.release()
  }
}

/** While this lock is held, a service commits but cannot publish. */
const holdPublishing = (owner: OwningService) => hold(owner, `select pg_advisory_xact_lock(hashtext('outbox'))`)

/** Waits until the service is blocked by our lock. */
async function waitUntilBlocked(owner: OwningService, statement: RegExp): Promise<void> {
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

/** Checks that this family has one payment, one confirmation and one mail, and that nothing is left over anywhere. */
async function expectCompleted({ email, registrationId }: { email: string; registrationId: string }): Promise<void> {
  await system.reaches(registrationId, 'confirmed', 30_000)
  await eventually(async () => (await system.mailsTo(email)).length >= 1, 30_000)
  for (const owner of owningServices) {
    await eventually(async () => {
      const [row] = await system.sql(owner)<
        { waiting: number }[]
      >`select count(*)::int as waiting from outbox where published_at is null`
      return row?.waiting === 0
    }, 20_000)
    const deadLetters = await system.sql(owner)`select handler, error from dead_letters`
    expect(deadLetters).toEqual([])
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

async function killAndRestart(name: OwningService, release: () => Promise<void>): Promise<void> {
  await system.processes[name].kill()
  await release()
  await system.processes[name].start()
}

/** What families got back by their own changes. */
let changesRefunded = 0
afterEach(async () => {
  expect((await system.atProvider()).refunds).toBe(changesRefunded)
})

describe('A service killed between commit and publishing', () => {
  it('Enrollment killed before publishing a confirmation publishes it after the restart', async () => {
    const release = await holdPublishing('enrollment')
    const family = await newFamily()
    await system.pay(family.checkoutUrl)
    await eventually(async () => (await unpublished('enrollment', 'registration.confirmed')) === 1)
    await killAndRestart('enrollment', release)
    await expectCompleted(family)
  })

  it('Billing killed before publishing a payment publishes it after the restart', async () => {
    const family = await newFamily()
    const release = await holdPublishing('billing')
    await system.pay(family.checkoutUrl)
    await eventually(async () => (await unpublished('billing', 'payment.completed')) === 1)
    expect((await system.state(family.registrationId)).status).toBe('held')
    await killAndRestart('billing', release)
    await expectCompleted(family)
  })

  it('Notifications killed before publishing a sent mail publishes it after the restart, and sends no second mail', async () => {
    const release = await holdPublishing('notifications')
    const family = await newFamily()
    await system.pay(family.checkoutUrl)
    await eventually(async () => (await unpublished('notifications', 'mail.delivered')) === 1)
    await killAndRestart('notifications', release)
    await expectCompleted(family)
  })
})

describe('Identity killed between writing and publishing a code', () => {
  it('Identity killed before publishing a code sends it once after the restart, and the code works', async () => {
    const email = `${randomUUIDv7()}@example.com`
    const release = await holdPublishing('identity')
    const member = sampleMember(email)
    const answer = await system.post('/api/auth/sign-up', member)
    expect(answer.status).toBe(200)
    await killAndRestart('identity', release)
    const [mail] = await eventually(async () => {
      const mails = await system.mailsTo(email)
      return mails.length > 0 && mails
    }, 30_000)
    const [code = ''] = /\b\d{6}\b/.exec(mail?.text ?? '') ?? []
    const confirmed = await system.post('/api/auth/confirm-sign-up', { email, code, password: member.password })
    expect(confirmed.status).toBe(200)
    // The outbox row of a secret is deleted once it is published, and nothing was sent twice.
    await eventually(async () => {
      const kept = await system.sql('identity')`select id from outbox where type = 'code.issued'`
      return kept.length === 0
    })
    expect(await system.mailsTo(email)).toHaveLength(1)
  })
})

describe('A service killed before it has recorded the broker’s acknowledgement', () => {
  it('Enrollment killed before recording the broker’s acknowledgement publishes again, without effect', async () => {
    const releasePublishing = await holdPublishing('enrollment')
    const family = await newFamily()
    await system.pay(family.checkoutUrl)
    await eventually(async () => (await unpublished('enrollment', 'registration.confirmed')) === 1)
    const releaseMarking = await hold('enrollment', 'select 1 from outbox where published_at is null for update')
    await releasePublishing()
    await waitUntilBlocked('enrollment', /update "outbox"/)
    await eventually(async () => (await system.mailsTo(family.email)).length === 1)
    await killAndRestart('enrollment', releaseMarking)
    await expectCompleted(family)
  })
})

describe('A service killed inside a consumer', () => {
  it('Enrollment killed while handling a payment confirms it after the restart', async () => {
    const family = await newFamily()
    const release = await hold(
      'enrollment',
      `select 1 from registrations where id = '${family.registrationId}' for update`,
    )
    await system.pay(family.checkoutUrl)
    await waitUntilBlocked('enrollment', /registrations/)
    await killAndRestart('enrollment', release)
    await expectCompleted(family)
  })

  it('Billing killed while handling a webhook handles the provider’s retry after the restart', async () => {
    const family = await newFamily()
    const release = await hold(
      'billing',
      `select 1 from checkout_attempts where registration_id = '${family.registrationId}' for update`,
    )
    const paying = system.pay(family.checkoutUrl)
    await waitUntilBlocked('billing', /checkout_attempts/)
    await killAndRestart('billing', release)
    await paying
    await expectCompleted(family)
  })

  it('Notifications killed while handling a confirmation sends its one mail after the restart', async () => {
    const family = await newFamily()
    const release = await hold('notifications', 'lock table mails in exclusive mode')
    await system.pay(family.checkoutUrl)
    await waitUntilBlocked('notifications', /insert into "mails"/)
    await killAndRestart('notifications', release)
    await expectCompleted(family)
  })
})

describe('A service killed inside a cancellation or a move', () => {
  /** A paid family with an account, of which only its id matters here. */
  async function paidFamily(differences: Partial<RegisterBody> = {}) {
    const email = `${randomUUIDv7()}@example.com`
    const family = { email, ...(await system.register({ email, ...differences })) }
    await system.pay(family.checkoutUrl)
    await system.reaches(family.registrationId, 'confirmed', 30_000)
    await eventually(async () => (await system.mailsTo(email)).length === 1, 30_000)
    const ownerId = randomUUIDv7()
    const sql = system.sql('enrollment')
    await sql`update registrations set owner_id = ${ownerId} where id = ${family.registrationId}`
    await sql`update change_policies set refunds = ${sql.json([{ days: 0, percent: 50 }])}, move_days = 0`
    const [place] = await sql<{ id: string }[]>`select id from places where registration_id = ${family.registrationId}`
    return { ...family, request: { ownerId, unitAmounts: openingClassPrices, placeIds: [place?.id] } }
  }
  type Paid = Awaited<ReturnType<typeof paidFamily>>

  async function call<T>(service: 'enrollment' | 'billing', schema: z.ZodType<T>, path: string, body: object) {
    const { url } = system.processes[service]
    const answer = await callJson(`${url}${path}`, 'POST', body, {})
    expect(answer.status).toBe(200)
    return schema.parse(answer.body)
  }

  async function confirming({ registrationId, request }: Paid, what: 'cancellation' | 'move', more: object = {}) {
    const path = `/registrations/${registrationId}/${what}`
    const body = { ...request, ...more }
    const { quoteId, terms } = await call('enrollment', changeQuoteSchema, `${path}/quote`, body)
    const confirmation = { ...body, id: randomUUIDv7(), quoteId }
    return { terms, confirm: () => call('enrollment', changeSchema, path, confirmation) }
  }

  /** Checks that one change is made, all that it gives back is refunded once, and one mail tells it. */
  async function expectChanged({ email, registrationId }: Paid, { back }: { back: number }, payments: number) {
    await eventually(async () => (await system.mailsTo(email)).length === 2, 30_000)
    const refunded = () => system.sql('billing')<{ amount: number; status: string }[]>`
      select refunds.amount, refunds.status from refunds join payments on payments.id = payment_id
      join checkout_attempts on checkout_attempts.id = attempt_id where purchase ->> 'registrationId' = ${registrationId}`
    await eventually(async () => {
      expect(await refunded()).toEqual(back === 0 ? [] : [{ amount: back, status: 'succeeded' }])
      return true
    }, 30_000)
    changesRefunded += back === 0 ? 0 : 1
    const [rows] = await system.sql('billing')<{ times: number }[]>`
      select count(*)::int as times from payments join checkout_attempts on checkout_attempts.id = attempt_id
      where purchase ->> 'registrationId' = ${registrationId}`
    expect(rows?.times).toBe(payments)
    const changes = await system.sql('enrollment')`select status from changes where registration_id = ${registrationId}`
    expect(changes).toEqual([{ status: 'done' }])
    const [counts] = await system.sql('enrollment')<{ wrong: number }[]>`
      select count(*)::int as wrong from class_sessions s where sold <> (
        select count(*) from places p join registrations r on r.id = registration_id where p.class_session_id = s.id
          and p.status = 'seated' and r.status in ('confirmed', 'waiver_signed')) or held <> (
        select coalesce(sum(seats), 0) from registrations r where r.class_session_id = s.id and status = 'held')`
    expect(counts?.wrong).toBe(0)
    for (const owner of owningServices)
      expect(await system.sql(owner)`select handler, error from dead_letters`).toEqual([])
    expect(await system.mailsTo(email)).toHaveLength(2)
  }

  it('Enrollment killed after a cancellation, before publishing it, cancels and gives back once when it is asked again', async () => {
    const family = await paidFamily()
    const { terms, confirm } = await confirming(family, 'cancellation')
    const release = await holdPublishing('enrollment')
    const first = await confirm()
    await eventually(async () => (await unpublished('enrollment', 'places.cancelled')) === 1)
    await killAndRestart('enrollment', release)
    expect(await confirm()).toEqual(first)
    await expectChanged(family, terms, 1)
  })

  it('Billing killed twice while handling a cancellation gives back once', async () => {
    const family = await paidFamily()
    const { terms, confirm } = await confirming(family, 'cancellation')
    const releasePayment = await hold(
      'billing',
      `select 1 from payments where registration_id = '${family.registrationId}' for update`,
    )
    await confirm()
    await waitUntilBlocked('billing', /payments/)
    const releaseRefund = await hold('billing', 'lock table refunds in share mode')
    await killAndRestart('billing', releasePayment)
    await waitUntilBlocked('billing', /insert into "refunds"/)
    await killAndRestart('billing', releaseRefund)
    await expectChanged(family, terms, 1)
  })

  it('Billing and enrollment killed while the difference of a move is paid move the child once', async () => {
    const family = await paidFamily({ classType: 'basic' })
    const [to] = await system.sql('enrollment')<{ id: string }[]>`
      select id from class_sessions where class_type = 'intermediate' and starts_at > now() + interval '1 day' and status = 'open'
      order by starts_at limit 1`
    const { terms, confirm } = await confirming(family, 'move', { to: to?.id })
    const { changeId } = await confirm()
    const page = await call('billing', checkoutSchema, '/move-checkouts', { changeId })
    const releaseAttempt = await hold(
      'billing',
      `select 1 from checkout_attempts where registration_id = '${changeId}' for update`,
    )
    const paying = system.pay(page.checkoutUrl ?? '')
    await waitUntilBlocked('billing', /checkout_attempts/)
    const releaseChange = await hold(
      'enrollment',
      `select 1 from registrations where id = '${family.registrationId}' for update`,
    )
    await killAndRestart('billing', releaseAttempt)
    await paying
    await waitUntilBlocked('enrollment', /registrations/)
    await killAndRestart('enrollment', releaseChange)
    await expectChanged(family, terms, 2)
    expect(terms).toMatchObject({ due: openingClassPrices.intermediate - openingClassPrices.basic, back: 0 })
  })
})

describe('A killed broker', () => {
  it('Pages, sign-ins, registrations and payments go on without the broker, also in a process that starts, and their events are sent when it is back', async () => {
    const member = sampleMember(`${randomUUIDv7()}@example.com`)
    const { email, password } = member
    expect((await system.post('/api/auth/sign-up', member)).status).toBe(200)
    const mail = await eventually(async () => (await system.mailsTo(email))[0], 30_000)
    const [code = ''] = /\b\d{6}\b/.exec(mail.text) ?? []
    expect((await system.post('/api/auth/confirm-sign-up', { email, code, password })).status).toBe(200)

    await system.nats.kill()
    for (const name of ['billing', 'bff'] as const) {
      await system.processes[name].kill()
      await system.processes[name].start()
    }
    for (const { url } of Object.values(system.processes)) {
      const answer = await fetch(`${url}/readyz`)
      expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'degraded', bus: false }])
    }
    expect(await system.openDates()).not.toEqual([])
    expect((await system.post('/api/auth/sign-in', { email, password })).status).toBe(200)
    const family = await newFamily()
    await system.pay(family.checkoutUrl)
    await eventually(async () => (await unpublished('billing', 'payment.completed')) === 1)
    // Until then the page promises nothing.
    expect((await system.state(family.registrationId)).status).toBe('held')
    await system.nats.restart()
    await expectCompleted(family)
  })

  it('A payment is confirmed after both the broker and enrollment were killed', async () => {
    const family = await newFamily()
    await system.processes.enrollment.kill()
    await system.pay(family.checkoutUrl)
    await system.nats.kill()
    await system.nats.restart()
    await system.processes.enrollment.start()
    await expectCompleted(family)
  })
})

describe('the BFF', () => {
  it('A stopping BFF answers accepted requests, and each id results in one registration', async () => {
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
