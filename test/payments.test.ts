import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { sampleFamily } from './src/samples.ts'
import { startSystem, type System } from './src/system.ts'

let system: System
beforeAll(async () => {
  system = await startSystem({ billing: { RECONCILE_EVERY_MS: '1000' } })
})
afterAll(() => system.stop())

const address = () => `${randomUUIDv7()}@example.com`
const control = (path: string, body: object = {}) =>
  fetch(`${system.simulator.url}/_sim/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Lets a registration's hold expire. */
/** Makes a hold due, and wakes the job that releases it. */
async function endHold(registrationId: string): Promise<void> {
  await system.sql('enrollment')`
    update registrations set held_until = now() - interval '1 hour' where id = ${registrationId}`
  await system.wake('enrollment', 'expire-holds')
}

async function expireHold(registrationId: string): Promise<void> {
  await endHold(registrationId)
  await system.reaches(registrationId, 'expired')
}

async function fill(classType: 'basic' | 'intermediate' | 'advanced', startDate: string, seats: number): Promise<void> {
  const families = Array.from({ length: seats }, () => system.register({ classType, startDate, email: address() }))
  for (const { registrationId, checkoutUrl } of await Promise.all(families)) {
    await system.pay(checkoutUrl)
    await system.reaches(registrationId, 'confirmed')
  }
}

describe('Webhooks of a payment', () => {
  it('Duplicated and reordered webhooks, before the success page opens, make one payment, one confirmation and one mail', async () => {
    const email = address()
    const { registrationId, checkoutUrl } = await system.register({ email })
    const before = await system.atProvider()
    await control('webhooks/config', { paused: true, duplicate: 2, reverse: true })
    await system.pay(checkoutUrl)
    await control('webhooks/release')
    await system.reaches(registrationId, 'confirmed')
    const pages = await Promise.all(Array.from({ length: 20 }, () => system.state(registrationId)))
    expect(new Set(pages.map((page) => page.status))).toEqual(new Set(['confirmed']))
    await eventually(async () => (await system.mailsTo(email)).length === 1)
    await system.simulator.deliveriesIdle()
    expect((await system.atProvider()).charges).toBe(before.charges + 1)
    const [counts] = await system.sql('billing')`
      select (select count(*)::int from payments where registration_id = ${registrationId}) as payments,
             (select count(*)::int from outbox where type = 'payment.completed' and envelope->'data'->>'registrationId' = ${registrationId}) as completed`
    expect(counts).toEqual({ payments: 1, completed: 1 })
    const [confirmed] = await system.sql('enrollment')`
      select count(*)::int as times from outbox where type = 'registration.confirmed' and envelope->>'subject' = ${registrationId}`
    expect(confirmed?.['times']).toBe(1)
    expect(await system.mailsTo(email)).toHaveLength(1)
  })

  it('Reconciliation finds a payment whose webhooks never arrive', async () => {
    const email = address()
    const { registrationId, checkoutUrl } = await system.register({ email })
    await control('webhooks/config', { dropped: true })
    await system.pay(checkoutUrl)
    await control('webhooks/config', { dropped: false })
    // Not through the page, which would itself fetch from the provider.
    await eventually(async () => {
      const [row] = await system.sql('enrollment')`select status from registrations where id = ${registrationId}`
      return row?.['status'] === 'confirmed'
    }, 30_000)
    await eventually(async () => (await system.mailsTo(email)).length === 1)
  })
})

describe('A parent who returns to pay', () => {
  it('A parent who returns after the checkout expired, before any webhook, keeps the last seat and gets a valid checkout', async () => {
    const startDate = (await system.openDates('custom'))[0]?.date ?? ''
    const kids = Array.from({ length: 9 }, (_, index) => ({ childName: `Child ${index}`, childAge: 11 }))
    const { registrationId, checkoutUrl } = await system.register({ classType: 'custom', startDate, siblings: kids })
    const session = new URL(checkoutUrl).pathname.split('/').at(-1)
    await control('webhooks/config', { paused: true })
    await control(`checkout/${session}/expire`)
    // Half an hour has passed.
    await system.sql(
      'enrollment',
    )`update registrations set held_until = now() + interval '4 minutes' where id = ${registrationId}`
    const rival = () =>
      system.post('/api/registrations', { ...sampleFamily(), email: address(), classType: 'custom', startDate })
    let over = false
    const back = system.post(`/api/registrations/${registrationId}/checkout`, {}).finally(() => {
      over = true
    })
    const rivals = new Set<number>()
    while (!over) rivals.add((await rival()).status)
    const answer = await back
    expect(answer.status).toBe(200)
    await control('webhooks/release')
    await control('webhooks/config', { paused: false })
    await system.simulator.deliveriesIdle()
    rivals.add((await rival()).status)
    expect(rivals).toEqual(new Set([409]))
    const next = (answer.body as { checkoutUrl: string }).checkoutUrl
    expect(next).not.toBe(checkoutUrl)
    expect((await system.pay(next)).status).toBe('paid')
    await system.reaches(registrationId, 'confirmed')
  })
})

describe('A payment that completes after its hold expired', () => {
  /**
   * Lets a hold expire while the parent is on the payment page and billing has not heard of it, runs `meanwhile`, has
   * the parent pay, and unblocks enrollment.
   */
  async function payTooLate(
    { registrationId, checkoutUrl }: { registrationId: string; checkoutUrl: string },
    meanwhile: () => Promise<void> = async () => {},
  ): Promise<void> {
    const connection = await system.sql('enrollment').reserve()
    await connection`begin`
    await connection`select pg_advisory_xact_lock(hashtext('outbox'))`
    try {
      await endHold(registrationId)
      await eventually(async () => {
        const [row] = await system.sql('enrollment')`select status from registrations where id = ${registrationId}`
        return row?.['status'] === 'expired'
      }, 30_000)
      await meanwhile()
      expect((await system.pay(checkoutUrl)).status).toBe('paid')
    } finally {
      await connection`rollback`
      connection.release()
    }
  }

  it('A late payment gets a seat if one is free', async () => {
    const email = address()
    const family = await system.register({ classType: 'intermediate', email })
    const before = await system.atProvider()
    await payTooLate(family)
    await system.reaches(family.registrationId, 'confirmed')
    await eventually(async () => (await system.mailsTo(email)).length === 1)
    expect((await system.atProvider()).refunds).toBe(before.refunds)
  })

  it('A late payment without a seat is refunded once, with one mail and a page that says so', async () => {
    const email = address()
    const [date = ''] = (await system.openDates('advanced')).map((session) => session.date)
    await fill('advanced', date, 9)
    const late = await system.register({ classType: 'advanced', startDate: date, email })
    const before = await system.atProvider()
    await payTooLate(late, async () => {
      await system.register({ classType: 'advanced', startDate: date, email: address() })
    })

    const rejected = await system.reaches(late.registrationId, 'rejected')
    expect(rejected.rejectionReason).toBe('class_full')
    await eventually(async () => (await system.state(late.registrationId)).checkout?.refunds[0]?.status === 'succeeded')
    expect((await system.state(late.registrationId)).checkout?.refunds).toEqual([
      { amount: 75_000, currency: 'usd', status: 'succeeded', refundedAt: expect.any(String), reason: 'seat_gone' },
    ])
    await eventually(async () => (await system.mailsTo(email)).length === 1)
    const [mail] = await system.mailsTo(email)
    expect(mail?.text).toContain('$750.00')
    const { events } = (await (await fetch(`${system.simulator.url}/_sim/events`)).json()) as {
      events: { id: string }[]
    }
    for (const event of events.slice(-12)) await control(`events/${event.id}/resend`)
    await system.simulator.deliveriesIdle()
    expect((await system.atProvider()).refunds).toBe(before.refunds + 1)
    expect(await system.mailsTo(email)).toHaveLength(1)
  })
})

describe('A hold that an operator releases', () => {
  it('Releasing a hold closes the checkout, and paying afterwards charges nothing', async () => {
    const { registrationId, checkoutUrl } = await system.register({ email: address() })
    const expired = await fetch(`${system.processes.enrollment.url}/registrations/${registrationId}/expire`, {
      method: 'POST',
      headers: { 'x-admin-secret': 'local-admin' },
    })
    expect(expired.status).toBe(200)
    await eventually(async () => (await system.state(registrationId)).checkout?.status === 'expired')
    const before = await system.atProvider()
    expect((await system.pay(checkoutUrl)).status).toBe('expired')
    expect((await system.atProvider()).charges).toBe(before.charges)
    expect((await system.state(registrationId)).status).toBe('expired')
  })

  it('The family can take up a released hold again at the current price, while there are seats', async () => {
    const { registrationId } = await system.register({ email: address() })
    await expireHold(registrationId)
    await eventually(async () => (await system.state(registrationId)).checkout?.status === 'expired')
    const resumed = await system.post(`/api/registrations/${registrationId}/checkout`, {})
    expect(resumed.status).toBe(200)
    const { checkoutUrl } = resumed.body as { checkoutUrl: string }
    await system.pay(checkoutUrl)
    await system.reaches(registrationId, 'confirmed')
  })
})

describe('A payment that takes days', () => {
  it('A bank debit that fails after its hold expired and was taken up again ends that hold at once', async () => {
    const { registrationId, checkoutUrl } = await system.register({ email: address() })
    const session = new URL(checkoutUrl).pathname.split('/').at(-1)
    await control(`checkout/${session}/complete-async`)
    await eventually(async () => (await system.state(registrationId)).checkout?.status === 'processing')
    await expireHold(registrationId)
    const resumed = await system.post(`/api/registrations/${registrationId}/checkout`, {})
    expect(resumed.body).toMatchObject({ checkoutUrl: expect.stringContaining('/robokids/success?') as string })
    expect((await system.state(registrationId)).status).toBe('held')
    await control(`checkout/${session}/settle-async`, { outcome: 'failed' })
    const view = await system.reaches(registrationId, 'expired')
    expect(view.checkout?.status).toBe('failed')
  })
})
