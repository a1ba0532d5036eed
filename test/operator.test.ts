import { randomUUIDv7 } from 'node:crypto'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { paymentCompleted, refundsSchema } from '@robokids/contracts/billing'
import { formatMoney } from '@robokids/contracts/pricing'
import { root } from '@robokids/local/settings'
import type { Bus } from '@robokids/runtime/bus'
import { localAdminSecret } from '@robokids/runtime/config'
import { newEvent } from '@robokids/runtime/outbox'
import { parse } from 'csv-parse/sync'
import { Stripe } from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { connectAsOperator } from './src/operator-bus.ts'
import { startSystem, type System } from './src/system.ts'
import { readTaggedPdf } from './src/tagged-pdf.ts'

const systemName = 'the operator’s'
let system: System
let bus: Bus
beforeAll(async () => {
  system = await startSystem({ all: { CONSUMER_RETRY_DELAYS: '20,20', SYSTEM_NAME: systemName } })
  bus = await connectAsOperator(system.nats, 'test')
})
afterAll(async () => {
  await bus.close()
  await system.stop()
})

/** Runs `npm run admin -- …` with changes to its environment. */
async function adminWith(
  differences: Record<string, string | undefined>,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = {
    ...process.env,
    SITE_URL: system.siteUrl,
    ENROLLMENT_URL: system.processes.enrollment.url,
    BILLING_URL: system.processes.billing.url,
    NOTIFICATIONS_URL: system.processes.notifications.url,
    SYSTEM_NAME: systemName,
    NATS_URL: system.nats.url,
    NATS_STREAM_MEGABYTES: '256',
    ...differences,
  }
  return promisify(execFile)(process.execPath, [join(root, 'deploy/local/src/admin.ts'), ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Error & { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      stdout: error.stdout,
      stderr: error.stderr,
    }),
  )
}

async function admin(...args: string[]): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await adminWith({}, ...args)
  return { code, output: code === 0 ? stdout : stderr + stdout }
}

const address = () => `${randomUUIDv7()}@example.com`

describe('npm run admin -- dead-letters', () => {
  it('An event that no handler accepts can be listed, shown and replayed, while all others are handled', async () => {
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

    // The missing registration exists now.
    await system.register({ id: registrationId, email: address() })
    expect((await admin('dead-letters', 'replay', ids[index] ?? '')).code).toBe(0)
    await system.reaches(registrationId, 'confirmed')
    expect((await admin('dead-letters')).output).not.toContain(ids[index])
    expect((await admin('dead-letters', 'replay', ids[index] ?? '')).code).toBe(1)
    // Once is enough: the broker's redelivery wait is over by now.
    const ever = (await admin('dead-letters', '--all')).output.split('\n')
    expect(ever.filter((line) => line.includes('enrollment__payment-completed'))).toHaveLength(2)
  }, 150_000)
})

describe('npm run admin -- registrations', () => {
  it('An expired registration is found by its email, with its attempt', async () => {
    const email = address()
    const { registrationId } = await system.register({ email })
    expect((await admin('expire', registrationId, '--yes')).code).toBe(0)
    await system.reaches(registrationId, 'expired')
    const { registrations } = JSON.parse(
      (await admin('registrations', '--email', email.toUpperCase(), '--json')).output,
    ) as {
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

  it('Exported rows are text, not formulas, in a spreadsheet', async () => {
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
      bom: true,
      columns: true,
    })
    expect(rows).toHaveLength(1)
    expect(rows[0]?.['zipCode']).toBe('02139')
    expect(rows[0]?.['state']).toBe('a"b,c')
    for (const cell of Object.values(rows[0] ?? {})) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
    const { registrations } = JSON.parse((await admin('registrations', '--email', email, '--json')).output) as {
      registrations: { guardianName: string; children: { childName: string }[]; address: Record<string, string> }[]
    }
    expect(registrations[0]?.guardianName).toBe(typed.guardianName)
    expect(registrations[0]?.children[0]?.childName).toBe(typed.childName)
    expect(registrations[0]?.address['addressLine1']).toBe(typed.addressLine1)
  })

  it('Registrations are listed and exported completely, or up to a limit', async () => {
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
      JSON.parse((await admin('registrations', '--email', email, '--json', ...args)).output) as List

    const all = await list()
    expect(all.nextCursor).toBeNull()
    const ids = all.registrations.map((one) => one.registrationId)
    expect([new Set(ids).size, ids[0]]).toEqual([others + 1, registrationId])
    const rows = parse<Record<string, string>>((await admin('registrations', '--email', email, '--csv')).output, {
      bom: true,
      columns: true,
    })
    expect(rows.map((row) => row['registrationId'])).toEqual(ids)

    const first = await list('--limit', '2')
    const second = await list('--limit', '2', '--cursor', first.nextCursor ?? '')
    expect([...first.registrations, ...second.registrations].map((one) => one.registrationId)).toEqual(ids.slice(0, 4))
    expect((await admin('registrations', '--limit', '501')).code).toBe(1)
  })

  it('The exported file opens with correct names, and is written completely or not at all', async () => {
    const email = address()
    await system.register({ email, guardianName: 'Zoë Müller' })
    const folder = await mkdtemp(join(tmpdir(), 'robokids-operator-'))
    const file = join(folder, 'registrations.csv')
    // npm runs scripts in the project's folder, wherever it is called.
    const inFolder = { INIT_CWD: folder }
    const asked = ['registrations', '--email', email, '--csv']
    expect(await adminWith(inFolder, ...asked, '--output', 'registrations.csv')).toMatchObject({ code: 0, stdout: '' })
    const bytes = await readFile(file)
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    const rows = parse<Record<string, string>>(bytes, { bom: true, columns: true })
    expect(rows.map((row) => row['guardianName'])).toEqual(['Zoë Müller'])
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
    // The same on stdout.
    expect((await adminWith({}, ...asked)).stdout).toBe(bytes.toString())

    const nowhere = await adminWith(inFolder, ...asked, '--output', 'no/such/folder.csv')
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('was not written')])
    expect(await readdir(folder)).toEqual(['registrations.csv'])
  })

  it('A CSV is not printed after npm’s own output', async () => {
    const throughNpm = { npm_lifecycle_event: 'admin', npm_config_loglevel: undefined }
    const refused = await adminWith(throughNpm, 'registrations', '--csv')
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('use --output FILE, or npm run --silent admin')
    const silent = await adminWith({ ...throughNpm, npm_config_loglevel: 'silent' }, 'registrations', '--csv')
    expect([silent.code, silent.stdout.slice(0, 15)]).toEqual([0, '\uFEFFregistrationId'])
  })

  it('Exporting registrations needs the secret', async () => {
    const answer = await fetch(`${system.siteUrl}/api/getAllRegistrations`, { headers: { 'x-admin-secret': 'guess' } })
    expect(answer.status).toBe(401)
  })
})

describe('npm run admin -- refund', () => {
  it('A refund is never more than was paid, and a full refund frees the seat', async () => {
    const email = address()
    const { registrationId, checkoutUrl } = await system.register({ email })
    await system.pay(checkoutUrl)
    await system.reaches(registrationId, 'confirmed')
    for (const amount of ['40001', '0', '-1', '1.5', 'all']) {
      const refused = await admin('refund', registrationId, amount, '--yes')
      expect(refused.code).toBe(1)
      expect(refused.output).not.toContain('Add --yes')
    }
    const both = await Promise.all([1, 2].map(() => admin('refund', registrationId, '--yes')))
    expect(both.map((one) => one.code).toSorted((a, b) => a - b)).toEqual([0, 1])
    await system.reaches(registrationId, 'cancelled')
    const view = await system.state(registrationId)
    expect(view.checkout?.refunds.map((refund) => refund.amount)).toEqual([40_000])
    // The receipt's PDF says so too, once the money is back.
    await eventually(async () => {
      const answer = await fetch(`${system.siteUrl}/api/registrations/${registrationId}/receipt.pdf`)
      const { text } = await readTaggedPdf(new Uint8Array(await answer.arrayBuffer()))
      expect(text).toMatch(
        /Amount paid \$400\.00 Receipt number \S+ Refunded \$400\.00 This registration was canceled\./,
      )
      return true
    })
    await eventually(async () =>
      (await system.mailsTo(email)).some((mail) => mail.text.includes('$400.00') && /refund/i.test(mail.subject)),
    )
  })
})

describe('npm run admin -- refund --payment', () => {
  it('A refund that the bank returned can be repeated, as npm run admin -- refunds lists it', async () => {
    const { registrationId, checkoutUrl } = await system.register({ email: address() })
    await system.pay(checkoutUrl, '4000000000005126')
    await system.reaches(registrationId, 'confirmed')
    expect((await admin('refund', registrationId, '10000', '--yes')).code).toBe(0)
    system.simulator.advanceClock(24 * 3600)
    const failed = await eventually(async () => {
      const { stdout } = await adminWith({}, 'refunds', '--status', 'failed', '--json')
      const { refunds } = refundsSchema.parse(JSON.parse(stdout))
      return refunds.find((refund) => refund.registrationId === registrationId)
    })
    expect(failed).toMatchObject({ amount: 10_000, left: 40_000 })
    const { code, stdout } = await adminWith({}, 'refund', '--payment', failed.paymentId, '10000', '--yes')
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { amount: 10_000, reason: 'requested' }])
    expect((await system.state(registrationId)).status).toBe('confirmed')
    const surplus = await adminWith({}, 'refund', '--payment', failed.paymentId, '5', '00', '--yes')
    expect([surplus.code, surplus.stderr]).toEqual([1, expect.stringContaining('does not take 00')])
    const unknown = await adminWith({}, 'refund', '--payment', randomUUIDv7(), '--yes')
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('payment_not_found')])
  })
})

describe('npm run ledger', () => {
  const ledger = () => admin('ledger')
  const stripe = () => new Stripe('sk_test_dashboard', { ...system.simulator.sdk, telemetry: false })

  it('The ledger matches the provider’s list for a purchase and its refund, with a difference of $0.00', async () => {
    const { registrationId, checkoutUrl } = await system.register({ email: address() })
    await system.pay(checkoutUrl)
    await system.reaches(registrationId, 'confirmed')
    expect((await admin('refund', registrationId, '15000', '--yes')).code).toBe(0)
    const { code, output } = await ledger()
    expect([code, output]).toEqual([0, expect.stringMatching(/^difference +\$0\.00$/m)])
    const listed = await stripe().balanceTransactions.list({ limit: 100 }).autoPagingToArray({ limit: 1_000 })
    const net = formatMoney({ amount: listed.reduce((sum, one) => sum + one.net, 0), currency: 'usd' })
    for (const side of ['provider', 'ledger']) {
      expect(output).toMatch(new RegExp(`^${side} +${RegExp.escape(net)}  in ${listed.length} transactions$`, 'm'))
    }
    expect(output).toMatch(/^refunds +\$\d/m)
  })

  it('The ledger names unexplained transactions, and exits with 1', async () => {
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

describe('npm run admin -- waiting', () => {
  it('The backlog of each service is listed, also if one service does not answer', async () => {
    const family = await system.register({ email: address() })
    await system.sql('billing')`
      insert into dead_letters (id, handler, subject, payload, error, deliveries)
      values (${randomUUIDv7()}, 'billing__none', 'none', '{}', 'none', 1)`
    await system.nats.kill()
    try {
      expect((await admin('expire', family.registrationId, '--yes')).code).toBe(0)
      const { code, stdout, stderr } = await adminWith({ IDENTITY_URL: 'http://127.0.0.1:1' }, 'waiting')
      expect([code, stderr]).toEqual([1, expect.stringContaining('identity does not answer at http://127.0.0.1:1')])
      expect(stdout).toMatch(/^enrollment +[1-9]\d* +\d+ +0 +0 +\d+$/m)
      expect(stdout).toMatch(/^billing +\d+ +\d+ +0 +0 +[1-9]\d*$/m)
      expect(stdout).toMatch(/^notifications +\d+ +\d+ +0 +0 +0$/m)
    } finally {
      await system.nats.restart()
      await system.sql('billing')`delete from dead_letters where handler = 'billing__none'`
    }
  })
})

describe('npm run admin -- set-aside', () => {
  it('An event that the broker refused and the service set aside can be published again', async () => {
    const { registrationId } = await system.register({ email: address() })
    const sql = system.sql('enrollment')
    const isAbout = sql`envelope ->> 'subject' = ${registrationId}`
    await eventually(async () => (await sql`select from outbox where ${isAbout} and published_at is not null`).length)
    const [event] = await sql<{ id: string }[]>`
      update outbox set published_at = null, sequence = null, tries = 9, set_aside_at = now(), error = 'too large'
      where ${isAbout} returning id`
    const id = event?.id ?? ''
    expect((await admin('waiting')).output).toMatch(/^enrollment +\d+ +\d+ +1 +1 /m)
    expect((await admin('set-aside')).output).toMatch(
      new RegExp(`^enrollment +${id} +registration\\.\\S+ +9 .*too large$`, 'm'),
    )
    expect((await admin('set-aside', 'retry', id, '--dry-run')).output).toContain('nothing was changed')
    expect((await admin('set-aside')).output).toContain(id)
    // Identity does not run here, which sets the exit code.
    expect((await admin('set-aside', 'retry', id)).output).toContain(`${id}: to be published now.`)
    await eventually(async () => (await sql`select from outbox where ${isAbout} and published_at is not null`).length)
    expect((await admin('set-aside', 'retry', id)).output).toContain(`No refused event ${id} exists.`)
  })
})

describe('npm run admin -- sessions, seasons and capacity', () => {
  type Session = {
    classSessionId: string
    classType: string
    date: string
    status: string
    held: number
    sold: number
    capacity: number
  }
  const sessions = async (...args: string[]) =>
    (JSON.parse((await admin('sessions', '--json', ...args)).output) as { sessions: Session[] }).sessions

  it('The seats of a class session are listed and changed, never below those that are taken', async () => {
    const { registrationId } = await system.register({ email: address(), classType: 'advanced' })
    const [row] = await system.sql('enrollment')<{ id: string }[]>`
      select class_session_id as id from registrations where id = ${registrationId}`
    const id = row?.id ?? ''
    const [before] = (await sessions()).filter((session) => session.classSessionId === id)
    expect(before).toMatchObject({ held: expect.any(Number) as number, capacity: 10 })
    expect((await admin('capacity', id, '12', '--dry-run')).code).toBe(0)
    expect((await admin('capacity', id, '12')).code).toBe(0)
    expect((await sessions()).find((session) => session.classSessionId === id)?.capacity).toBe(12)
    const tooFew = await admin('capacity', id, '0')
    expect([tooFew.code, tooFew.output]).toEqual([1, expect.stringContaining('0 are too few')])
    expect((await admin('capacity', id, 'many')).code).toBe(1)
    expect((await admin('capacity', randomUUIDv7(), '12')).output).toContain('class_session_not_found')
    const csv = parse<Record<string, string>>((await admin('sessions', '--csv')).output, { bom: true, columns: true })
    expect(csv.find((session) => session['classSessionId'] === id)?.['capacity']).toBe('12')
    expect((await admin('capacity', id, '10')).code).toBe(0)
  })

  it('The meetings, the link and the coach of a class session are listed and changed', async () => {
    const [{ classSessionId: id } = { classSessionId: '' }] = await sessions()
    type Meeting = { number: number; date: string; startTime: string }
    const meetings = async () => {
      const { output } = await admin('meetings', id, '--json')
      return (JSON.parse(output) as { meetings: Meeting[] }).meetings
    }
    const before = await meetings()
    const dayAfter = Temporal.PlainDate.from(before[1]?.date ?? '')
      .add({ days: 1 })
      .toString()
    expect((await admin('move-meeting', id, '2', dayAfter, '10:30', '--dry-run')).code).toBe(0)
    expect(await meetings()).toEqual(before)
    expect((await admin('move-meeting', id, '2', dayAfter, '10:30')).code).toBe(0)
    expect((await meetings())[1]).toMatchObject({ date: dayAfter, startTime: '10:30' })
    expect((await admin('move-meeting', id, '1', dayAfter)).output).toContain('meeting_not_movable')
    expect((await admin('skip-meeting', id, '6')).code).toBe(0)
    expect((await admin('link', id, 'https://meet.example.com/room-7', '1234')).code).toBe(0)
    expect((await admin('link', id, 'room 7')).output).toContain('joinUrl must be an https:// address.')
    expect((await admin('coach', id, 'Dana', 'Reyes')).code).toBe(0)
    expect((await sessions()).find((session) => session.classSessionId === id)).toMatchObject({
      coachName: 'Dana Reyes',
      joinUrl: 'https://meet.example.com/room-7',
    })
  })

  it('A class is canceled only after a confirmation; a dry run says whom it concerns and changes nothing', async () => {
    const { classSessionId: id } = (await sessions()).findLast(({ classType }) => classType === 'custom') ?? {}
    const statusOf = async () => (await sessions()).find(({ classSessionId }) => classSessionId === id)?.status
    expect(id).toBeDefined()
    const dry = await admin('cancel-session', id ?? '', '--dry-run')
    expect([dry.code, dry.output]).toEqual([0, expect.stringContaining('No families.')])
    expect((await admin('cancel-session', id ?? '')).output).toContain('Add --yes to confirm it')
    expect(await statusOf()).toBe('open')
    expect((await admin('cancel-session', id ?? '', '5', '--yes')).code).toBe(0)
    expect(await statusOf()).toBe('cancelled')
    expect((await admin('cancel-session', id ?? '', '--yes')).output).toContain('No families.')
    expect((await admin('waitlist', id ?? '')).output).toContain('Nobody waits.')
  })

  it('A season can be opened on given dates, once', async () => {
    const date = Temporal.Now.plainDateISO().add({ years: 1 }).toString()
    // The season that the system opened today would have the same name.
    await system.sql('enrollment')`update class_sessions set season = 'another' where season like 'opened-%'`
    expect((await admin('open-season', date)).code).toBe(0)
    const [season] = (JSON.parse((await admin('seasons', '--json')).output) as { seasons: { season: string }[] })
      .seasons
    expect(season).toMatchObject({ firstDate: date, lastDate: date, held: 0, sold: 0 })
    expect((await sessions('--season', season?.season ?? '')).every((session) => session.date === date)).toBe(true)
    expect((await admin('open-season', date)).output).toContain('season_exists')
    expect((await admin('open-season', '2020-01-01')).output).toContain('is not in the future')
  })
})

describe('npm run admin -- job', () => {
  it('A job of a service can be run now, and an unknown one is rejected with the names of all', async () => {
    expect((await admin('job', 'notifications', 'forget-mails')).output).toBe('forget-mails was woken.\n')
    expect((await admin('reconcile')).code).toBe(0)
    const unknown = await admin('job', 'notifications', 'forget')
    expect([unknown.code, unknown.output]).toEqual([1, expect.stringMatching(/it has outbox, sweep, .*forget-mails/)])
  })
})

describe('npm run admin -- streams', () => {
  it('The broker’s streams are made what the settings say, and shown with what differs from them', async () => {
    const smaller = { NATS_STREAM_DAYS: '10' }
    expect(await adminWith({ ...smaller, SYSTEM_NAME: 'another' }, 'streams', 'apply', '--yes')).toMatchObject({
      code: 1,
    })
    const changed = await adminWith(smaller, 'streams', 'apply', '--yes')
    expect(changed.stdout).toContain('Changed: the stream billing keeps events 30 days, not 10 days\n')
    expect((await adminWith(smaller, 'streams', 'apply', '--yes')).stdout).toBe('Nothing differs.\n')
    const { stdout } = await adminWith({}, 'streams')
    const differences = ['keeps events 10 days, not 30 days']
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ stream: 'billing', differences }))
    const refused = await adminWith({ NATS_PASSWORD: 'another' }, 'streams')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('NATS_USER, NATS_PASSWORD: ')])
  })
})

describe('npm run admin -- republish', () => {
  it('A service republishes the events of a time range', async () => {
    const from = Temporal.Now.instant().toString()
    const { registrationId } = await system.register({ email: address() })
    expect((await admin('expire', registrationId, '--yes')).code).toBe(0)
    const { code, output } = await admin('republish', 'enrollment', from)
    expect([code, (JSON.parse(output) as { events: number }).events]).toEqual([0, expect.toSatisfy((n) => n >= 2)])
    const counted = await admin('republish', 'enrollment', from, '--dry-run')
    expect(counted.output).toMatch(/nothing was changed\. .*: \d+ events of enrollment are published again/)
    const wrong = [['bff', from], ['enrollment'], ['enrollment', 'yesterday'], ['enrollment', from, 'tomorrow']]
    for (const args of wrong) expect((await admin('republish', ...args)).code).toBe(1)
    expect((await adminWith({ SYSTEM_NAME: 'another' }, 'republish', 'enrollment', from)).code).toBe(1)
  })
})

describe('npm run admin', () => {
  it('The system is named on stderr', async () => {
    const { code, stderr, stdout } = await adminWith({}, 'disputes', '--json')
    expect([code, stderr]).toEqual([0, `${systemName} (local): billing at ${system.processes.billing.url}\n`])
    expect(JSON.parse(stdout)).toBeTypeOf('object')
  })

  it.each([
    [['refund', 'RK-000001', '5', '00'], 'refund does not take 00.'],
    [['ship', randomUUIDv7(), 'UPS', '1Z', '999', 'AA1'], 'ship does not take 999 AA1.'],
    [['registrations', 'maren@example.com'], 'registrations does not take maren@example.com.'],
    [['refund', 'RK-000001', '--status', 'paid'], 'refund does not take --status.'],
    [['list'], 'Unknown command list.'],
  ])('Arguments that would be ignored are rejected: %j', async (words, message) => {
    const { code, stderr, stdout } = await adminWith({}, ...words)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(message)
  })

  it('What cannot be undone is confirmed, and a dry run changes nothing', async () => {
    const { registrationId } = await system.register({ email: address() })
    const refused = await adminWith({}, 'expire', registrationId)
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain(
      'Nothing was changed. The family loses the seats, which others can take at once. Add --yes',
    )
    const { code, stdout } = await adminWith({ SYSTEM_NAME: 'another' }, 'expire', registrationId, '--dry-run')
    expect([code, stdout]).toEqual([0, expect.stringContaining(`/registrations/${registrationId}/expire`)])
    expect((await system.state(registrationId)).status).toBe('held')
  })

  it('A command does not change a system that was not named', async () => {
    const { registrationId } = await system.register({ email: address() })
    for (const meant of [undefined, 'another']) {
      const refused = await adminWith({ SYSTEM_NAME: meant }, 'expire', registrationId, '--yes')
      expect([refused.code, refused.stdout]).toEqual([1, ''])
      expect(refused.stderr).toContain(`${systemName} (local): enrollment at ${system.processes.enrollment.url}`)
      expect(refused.stderr).toMatch(/Nothing was changed: that is not ".+"\. Set SYSTEM_NAME/)
      // Reading is allowed.
      expect((await adminWith({ SYSTEM_NAME: meant }, 'disputes')).code).toBe(0)
    }
    expect((await system.state(registrationId)).status).toBe('held')
  })

  it('A wrong process, or processes of two systems, are detected', async () => {
    const { registrationId } = await system.register({ email: address() })
    const swapped = await adminWith({ ENROLLMENT_URL: system.processes.billing.url }, 'expire', registrationId, '--yes')
    expect([swapped.code, swapped.stderr]).toEqual([
      1,
      expect.stringMatching(/^billing answers at .*, where enrollment/),
    ])
    const page = await adminWith({ ENROLLMENT_URL: system.mailbox.url }, 'expire', registrationId, '--yes')
    expect([page.code, page.stdout]).toEqual([1, ''])
    const other = await system.another('billing', { SYSTEM_NAME: 'another' })
    const mixed = await adminWith({ BILLING_URL: other.url }, 'dead-letters')
    expect([mixed.code, mixed.stdout]).toEqual([1, ''])
    expect(mixed.stderr).toContain('These belong to more than one system.')
    await other.stop()
  })

  it('A remote system needs its admin secret', async () => {
    const elsewhere = { BILLING_URL: 'http://billing.invalid', ADMIN_SECRET: undefined }
    const missing = await adminWith(elsewhere, 'disputes')
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('set ADMIN_SECRET')])
    const folder = await mkdtemp(join(tmpdir(), 'robokids-operator-'))
    const secret = { ADMIN_SECRET: undefined, ADMIN_SECRET_FILE: join(folder, 'secret') }
    expect((await adminWith(secret, 'disputes')).stderr).toContain('ADMIN_SECRET_FILE: cannot be read')
    await writeFile(secret.ADMIN_SECRET_FILE, `${localAdminSecret}\n`)
    expect((await adminWith(secret, 'disputes')).code).toBe(0)
    const wrong = await adminWith({ ADMIN_SECRET: 'not-the-secret' }, 'disputes')
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('admin_secret_invalid')])
    expect((await fetch(`${system.processes.billing.url}/admin/system`)).status).toBe(401)
  })

  it('Whether older sealing keys are still needed is listed for each service that answers', async () => {
    const { code, stdout, stderr } = await adminWith({ IDENTITY_URL: 'http://127.0.0.1:1' }, 'reseal')
    expect(stdout).toBe('notifications: 0 resealed. Nothing is sealed under an older key: older keys can be removed.\n')
    expect([code, stderr]).toEqual([1, expect.stringContaining('identity does not answer at http://127.0.0.1:1')])
  })

  it('A help text lists the commands', async () => {
    expect((await admin()).output).toContain('dead-letters')
    expect((await admin('refund', '--help')).output).toContain('A refund cannot be taken back.')
    expect((await admin('frobnicate')).code).toBe(1)
  })
})
