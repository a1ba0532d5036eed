import { randomUUIDv7 } from 'node:crypto'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { paymentCompleted } from '@robokids/contracts/billing'
import { formatMoney } from '@robokids/contracts/pricing'
import { root } from '@robokids/local/settings'
import { connectBus, type Bus } from '@robokids/runtime/bus'
import { newEvent } from '@robokids/runtime/outbox'
import { createLogger } from '@robokids/runtime/telemetry'
import { parse } from 'csv-parse/sync'
import { Stripe } from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { startSystem, type System } from './src/system.ts'

let system: System
let bus: Bus
beforeAll(async () => {
  system = await startSystem({ all: { CONSUMER_RETRY_DELAYS: '20,20' } })
  bus = await connectBus({
    url: system.nats.url,
    replicas: 1,
    name: 'test',
    ackWaitMs: 30_000,
    log: createLogger('test', 'silent'),
  })
})
afterAll(async () => {
  await bus.close()
  await system.stop()
})

/** Runs `npm run admin -- …` as an operator would. */
async function admin(...args: string[]): Promise<{ code: number; output: string }> {
  const env = {
    ...process.env,
    SITE_URL: system.siteUrl,
    ENROLLMENT_URL: system.processes.enrollment.url,
    BILLING_URL: system.processes.billing.url,
    NOTIFICATIONS_URL: system.processes.notifications.url,
  }
  return promisify(execFile)(process.execPath, [join(root, 'deploy/local/src/admin.ts'), ...args], { env }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (error: Error & { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stderr + error.stdout,
    }),
  )
}

const address = () => `${randomUUIDv7()}@example.com`

describe('npm run admin -- dead-letters', () => {
  it('lists, shows and replays an event that nobody could handle, while all others went on', async () => {
    const registrationId = randomUUIDv7()
    const payment = {
      paymentId: randomUUIDv7(),
      attemptId: randomUUIDv7(),
      registrationId,
      amount: 40_000,
      currency: 'usd' as const,
      receiptNumber: 'RK-999999',
      paidAt: '2026-11-28T00:00:00.000Z',
    }
    const poison = newEvent(paymentCompleted, payment.paymentId, payment)
    await bus.publish([poison])
    await bus.publishUnchecked('payment.completed', '{"specversion": "2.0"}')

    const family = await system.register({ email: address() })
    await system.pay(family.checkoutUrl)
    await system.reaches(family.registrationId, 'confirmed')

    const letters = await eventually(async () => {
      const { output } = await admin('dead-letters')
      const lines = output.split('\n').filter((line) => line.includes('enrollment__payment-completed'))
      if (lines.length !== 2) throw new Error(output)
      return lines
    }, 90_000)
    const ids = letters.map((line) => line.split(' ')[0] ?? '')
    const shown = await Promise.all(ids.map((id) => admin('dead-letters', 'show', id)))
    const index = shown.findIndex((one) => one.output.includes(poison.id))
    expect(shown[index]?.output).toContain('enrollment__payment-completed')

    const malformed = await admin('dead-letters', 'replay', ids[1 - index] ?? '')
    expect(malformed.code).toBe(1)
    expect(malformed.output).toContain('validation_failed')

    // What was missing is there now: the registration that the payment was for.
    await system.register({ id: registrationId, email: address() })
    expect((await admin('dead-letters', 'replay', ids[index] ?? '')).code).toBe(0)
    await system.reaches(registrationId, 'confirmed')
    expect((await admin('dead-letters')).output).not.toContain(ids[index])
    expect((await admin('dead-letters', 'replay', ids[index] ?? '')).code).toBe(1)
    // Once is enough: all this took longer than the broker waits before it delivers again what nobody has settled.
    const ever = (await admin('dead-letters', '--all')).output.split('\n')
    expect(ever.filter((line) => line.includes('enrollment__payment-completed'))).toHaveLength(2)
  }, 150_000)
})

describe('npm run admin -- registrations', () => {
  it('finds an expired registration by its email, with its attempt', async () => {
    const email = address()
    const { registrationId } = await system.register({ email })
    expect((await admin('expire', registrationId)).code).toBe(0)
    await system.reaches(registrationId, 'expired')
    const { registrations } = JSON.parse((await admin('registrations', '--email', email.toUpperCase())).output) as {
      registrations: {
        registrationId: string
        status: string
        attemptId: string
        createdAt: string
        updatedAt: string
      }[]
    }
    expect(registrations).toHaveLength(1)
    expect(registrations[0]).toMatchObject({
      registrationId,
      status: 'expired',
      attemptId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    })
  })

  it('exports rows that a spreadsheet reads as text, not as formulas', async () => {
    const email = address()
    const typed = {
      guardianName: '=HYPERLINK("http://evil.example","x")',
      childName: '+1+1',
      addressLine1: '@SUM(A1)',
      addressLine2: '=1+1',
      city: '-2+3',
      state: 'a"b,c',
      zipCode: '02139',
    }
    await system.register({ email, ...typed })
    const rows = parse<Record<string, string>>((await admin('registrations', '--email', email, '--csv')).output, {
      columns: true,
    })
    expect(rows).toHaveLength(1)
    expect(rows[0]?.['zipCode']).toBe('02139')
    expect(rows[0]?.['state']).toBe('a"b,c')
    for (const cell of Object.values(rows[0] ?? {})) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
    const { registrations } = JSON.parse((await admin('registrations', '--email', email)).output) as {
      registrations: { guardianName: string; children: { childName: string }[]; address: Record<string, string> }[]
    }
    expect(registrations[0]?.guardianName).toBe(typed.guardianName)
    expect(registrations[0]?.children[0]?.childName).toBe(typed.childName)
    expect(registrations[0]?.address['addressLine1']).toBe(typed.addressLine1)
  })

  it('lists and exports all of them, however many, or as many as are asked for', async () => {
    const email = address()
    const { registrationId } = await system.register({ email })
    const others = 520
    await system.sql('enrollment')`
      insert into registrations select (jsonb_populate_record(one, jsonb_build_object(
        'id', gen_random_uuid(), 'status', 'expired', 'held_until', null,
        'created_at', one.created_at - n * interval '1 second'))).*
      from registrations as one, generate_series(1, ${others}) as n where one.id = ${registrationId}`
    type List = { registrations: { registrationId: string }[]; nextCursor: string | null }
    const list = async (...args: string[]) =>
      JSON.parse((await admin('registrations', '--email', email, ...args)).output) as List

    const all = await list()
    expect(all.nextCursor).toBeNull()
    const ids = all.registrations.map((one) => one.registrationId)
    expect([new Set(ids).size, ids[0]]).toEqual([others + 1, registrationId])
    const rows = parse<Record<string, string>>((await admin('registrations', '--email', email, '--csv')).output, {
      columns: true,
    })
    expect(rows.map((row) => row['registrationId'])).toEqual(ids)

    const first = await list('--limit', '2')
    const second = await list('--limit', '2', '--cursor', first.nextCursor ?? '')
    expect([...first.registrations, ...second.registrations].map((one) => one.registrationId)).toEqual(ids.slice(0, 4))
    expect((await admin('registrations', '--limit', '501')).code).toBe(1)
  })

  it('needs the secret', async () => {
    const answer = await fetch(`${system.siteUrl}/api/getAllRegistrations`, { headers: { 'x-admin-secret': 'guess' } })
    expect(answer.status).toBe(401)
  })
})

describe('npm run admin -- refund', () => {
  it('gives back no more than was paid, and frees the seat when all of it went back', async () => {
    const email = address()
    const { registrationId, checkoutUrl } = await system.register({ email })
    await system.pay(checkoutUrl)
    await system.reaches(registrationId, 'confirmed')
    for (const amount of ['40001', '0', '-1', '1.5', 'all']) {
      const refused = await admin('refund', registrationId, amount)
      expect(refused.code).toBe(1)
      expect(refused.output.length).toBeGreaterThan(10)
    }
    const both = await Promise.all([admin('refund', registrationId), admin('refund', registrationId)])
    expect(both.map((one) => one.code).toSorted((a, b) => a - b)).toEqual([0, 1])
    await system.reaches(registrationId, 'cancelled')
    const view = await system.state(registrationId)
    expect(view.checkout?.refunds.map((refund) => refund.amount)).toEqual([40_000])
    await eventually(async () =>
      (await system.mailsTo(email)).some((mail) => mail.text.includes('$400.00') && /refund/i.test(mail.subject)),
    )
  })
})

describe('npm run ledger', () => {
  const ledger = () => admin('ledger')
  const stripe = () => new Stripe('sk_test_dashboard', { ...system.simulator.sdk, telemetry: false })

  it('shows every cent of a purchase and its refund beside the provider’s list, and a difference of $0.00', async () => {
    const { registrationId, checkoutUrl } = await system.register({ email: address() })
    await system.pay(checkoutUrl)
    await system.reaches(registrationId, 'confirmed')
    expect((await admin('refund', registrationId, '15000')).code).toBe(0)
    const { code, output } = await ledger()
    expect([code, output]).toEqual([0, expect.stringMatching(/^difference +\$0\.00$/m)])
    const listed = await stripe().balanceTransactions.list({ limit: 100 }).autoPagingToArray({ limit: 1_000 })
    const net = formatMoney({ amount: listed.reduce((sum, one) => sum + one.net, 0), currency: 'usd' })
    for (const side of ['provider', 'ledger']) {
      expect(output).toMatch(new RegExp(`^${side} +${RegExp.escape(net)}  in ${listed.length} transactions$`, 'm'))
    }
    expect(output).toMatch(/^refunds +\$\d/m)
  })

  it('names what has no explanation, and ends with 1', async () => {
    const session = await stripe().checkout.sessions.create({
      mode: 'payment',
      success_url: 'https://elsewhere.example',
      line_items: [
        { quantity: 1, price_data: { currency: 'usd', unit_amount: 500, product_data: { name: 'Something else' } } },
      ],
    })
    await system.pay(session.url ?? '')
    const { code, output } = await ledger()
    expect([code, output]).toEqual([1, expect.stringContaining('$5.00 came in and belongs to nothing known')])
  })
})

describe('npm run admin', () => {
  it('explains itself', async () => {
    expect((await admin()).output).toContain('dead-letters')
    expect((await admin('frobnicate')).code).toBe(1)
  })
})
