import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { Stripe } from 'stripe'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSimulator } from '../../src/app.ts'
import { Store } from '../../src/store/store.ts'
import {
  control,
  create,
  eventually,
  expectSaved,
  pay,
  receiver,
  recordsOf,
  refusal,
  respond,
  sdkFor,
  start,
  stateFile,
  subscribe,
} from '../fixture.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Runs a simulator in its own process, which can be killed. */
async function startProcess(file: string, webhook = '') {
  const secret = webhook === '' ? '' : 'whsec_test'
  const env = { ...process.env, PORT: '0', STATE_FILE: file, WEBHOOK_URL: webhook, WEBHOOK_SECRET: secret }
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\S+/.exec(line)?.[0]
    if (url === undefined) continue
    const { hostname: host, port } = new URL(url)
    const stripe = new Stripe('sk_test_simulator', {
      host,
      port,
      protocol: 'http',
      maxNetworkRetries: 0,
      telemetry: false,
    })
    return { url, stripe, kill }
  }
  throw new Error('The simulator did not start')
}

/** The output of a process that fails to start. */
async function refusedProcess(file: string): Promise<string> {
  const child = spawn(process.execPath, [main], { env: { ...process.env, PORT: '0', STATE_FILE: file }, stdio: 'pipe' })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  onTestFinished(() => void child.kill('SIGKILL'))
  expect((await once(child, 'close'))[0]).toBe(1)
  return said
}

/** A copy of the files that a crash right now would leave. */
function killedCopy(file: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(file, to)
  copyFileSync(`${file}-wal`, `${to}-wal`)
}

describe('the state file', () => {
  it('restores sessions, payments, keys and the clock after a restart', async () => {
    const file = stateFile()
    const first = await start({ stateFile: file })
    const session = await first.stripe.checkout.sessions.create(create, { idempotencyKey: 'attempt' })
    const left = await first.stripe.checkout.sessions.create(create)
    await pay(first.simulator, session.id)
    await control(first.simulator, '/clock', { advanceSeconds: 600 })
    await first.simulator.stop()

    const second = await start({ stateFile: file, publicUrl: 'http://localhost:9' })
    expect(second.simulator.now()).toBeGreaterThanOrEqual(session.created + 600)
    const again = await second.stripe.checkout.sessions.create(create, { idempotencyKey: 'attempt' })
    expect(again.id).toBe(session.id)
    const paid = await second.stripe.checkout.sessions.retrieve(session.id, { expand: ['payment_intent'] })
    expect(paid).toMatchObject({ payment_status: 'paid', payment_intent: { status: 'succeeded' } })
    expect(await pay(second.simulator, left.id)).toMatchObject({ status: 'paid' })
    await second.simulator.stop()
    expect(readdirSync(join(file, '..'))).toEqual(['state.db'])
  })

  it('contains no card number', async () => {
    const file = stateFile()
    const { simulator, stripe } = await start({ stateFile: file })
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id, '4000000000000002')
    await pay(simulator, id, '4000002500003155')
    await simulator.stop()
    const text = readFileSync(file, 'latin1')
    expect(text).toContain('"last4":"3155"')
    expect(text).not.toMatch(/4000000000000002|4000002500003155/)
  })

  it('is readable by its owner only, since it contains webhook secrets', async () => {
    const file = stateFile()
    await start({ stateFile: file })
    for (const name of readdirSync(dirname(file))) expect(statSync(join(dirname(file), name)).mode & 0o77).toBe(0)
  })

  it('contains everything acknowledged or delivered before a crash at any time', async () => {
    const file = stateFile()
    const hook = await receiver()
    const seen = { sessions: new Map<string, string>(), paid: [] as string[], customers: [] as string[] }
    for (let round = 0; round < 4; round++) {
      const { url, stripe, kill } = await startProcess(file, hook.url)
      const until = seen.paid.length + 5 * (round + 1)
      const sell = async (client: number) => {
        for (let sale = 0; ; sale++) {
          const idempotencyKey = `sale-${round}-${client}-${sale}`
          const { id } = await stripe.checkout.sessions.create(create, { idempotencyKey })
          seen.sessions.set(idempotencyKey, id)
          const body = JSON.stringify({ card: '4242424242424242' })
          const headers = { 'content-type': 'application/json' }
          const answer = await fetch(`${url}/_sim/checkout/${id}/pay`, { method: 'POST', headers, body })
          expect(await answer.json()).toMatchObject({ status: 'paid' })
          seen.paid.push(id)
          seen.customers.push((await stripe.customers.create({})).id)
        }
      }
      // Each client keeps selling until its connection breaks.
      const sales = Promise.allSettled([sell(1), sell(2), sell(3)])
      await eventually(() => expect(seen.paid.length).toBeGreaterThan(until))
      await kill()
      await sales
    }
    const { stripe, simulator } = await start({ stateFile: file })
    for (const [idempotencyKey, id] of seen.sessions) {
      expect((await stripe.checkout.sessions.create(create, { idempotencyKey })).id).toBe(id)
    }
    for (const id of seen.paid) {
      const session = await stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent.latest_charge'] })
      expect(session).toMatchObject({ payment_status: 'paid', payment_intent: { latest_charge: { paid: true } } })
    }
    for (const id of seen.customers) expect((await stripe.customers.retrieve(id)).deleted).toBeUndefined()
    for (const { id } of hook.received) expect((await stripe.events.retrieve(id)).id).toBe(id)
    const { charges } = await control<{ charges: { total: number } }>(simulator, '/state')
    expect(charges.total).toBeGreaterThanOrEqual(seen.paid.length)
    expect(readdirSync(dirname(file)).filter((name) => name.includes('broken'))).toEqual([])
  })

  it('loses only a change that was interrupted by a crash', async () => {
    const file = stateFile()
    const { stripe } = await start({ stateFile: file })
    const kept = await stripe.customers.create({ name: 'Kept' })
    const before = statSync(`${file}-wal`).size
    const torn = await stripe.customers.create({ name: 'Torn' })
    const after = statSync(`${file}-wal`).size
    for (const size of [before + 1, before + 100, (before + after) >> 1, after - 1]) {
      const copy = stateFile()
      killedCopy(file, copy)
      truncateSync(`${copy}-wal`, size)
      const { stripe: restarted } = await start({ stateFile: copy })
      expect(await restarted.customers.retrieve(kept.id)).toMatchObject({ name: 'Kept' })
      expect((await refusal(restarted.customers.retrieve(torn.id))).statusCode).toBe(404)
      expect(readdirSync(dirname(copy)).filter((name) => name.includes('broken'))).toEqual([])
    }
  })

  it('writes the same amount per change regardless of its size', async () => {
    const { simulator, stripe } = await start()
    const written = async () =>
      (await control<{ stateFile: { rows: number; bytes: number } }>(simulator, '/state')).stateFile
    const cost = async (change: () => Promise<unknown>) => {
      const before = await written()
      await change()
      const after = await written()
      return { rows: after.rows - before.rows, bytes: after.bytes - before.bytes }
    }
    const sale = async () => {
      const { id } = await stripe.checkout.sessions.create(create)
      await pay(simulator, id)
    }
    const first = await cost(sale)
    const other = await stripe.customers.create({})
    const renaming = () => stripe.customers.update(other.id, { name: 'Ada' })
    for (let sold = 0; sold < 300; sold++) await sale()
    const last = await cost(sale)
    expect(last.rows).toBe(first.rows)
    // Some of its numbers have one more digit.
    expect(Math.abs(last.bytes - first.bytes)).toBeLessThan(first.bytes / 50)
    // The customer, the event, and the saved response.
    expect((await cost(renaming)).rows).toBe(3)
    expect((await cost(() => stripe.customers.list())).rows).toBe(0)
  })

  it('belongs to one simulator at a time', async () => {
    const file = stateFile()
    const first = await createSimulator({ stateFile: file })
    const { id } = await sdkFor(first).customers.create({})
    await expect(createSimulator({ stateFile: file })).rejects.toThrow(`${file} is in use by another payment simulator`)
    expect(await refusedProcess(file)).toContain('is in use by another payment simulator')
    await first.stop()
    const { simulator, stripe } = await start({ stateFile: file })
    expect((await stripe.customers.retrieve(id)).id).toBe(id)
    expect(await refusedProcess(file)).toContain('is in use by another payment simulator')
    // One that finds its port taken releases its file.
    const other = stateFile()
    await expect(createSimulator({ stateFile: other, port: simulator.port })).rejects.toThrow('EADDRINUSE')
    await start({ stateFile: other })
  })

  it('continues in memory while the file cannot be written, and writes everything later', async () => {
    const file = stateFile()
    const store = new Store(file)
    const simulator = await createSimulator({ stateFile: file }, store)
    const stripe = sdkFor(simulator)
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const full = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(() => {
      throw new Error('the disk is full')
    })
    onTestFinished(() => [said, full].forEach((spy) => spy.mockRestore()))
    const { id } = await stripe.customers.create({ name: 'Ada' })
    expect(await stripe.customers.retrieve(id)).toMatchObject({ name: 'Ada' })
    expect(said.mock.calls.flat().join('')).toContain(`could not write ${file}: Error: the disk is full`)
    full.mockRestore()
    await stripe.customers.create({ name: 'Byron' })
    await simulator.stop()
    expectSaved(file, store)
  })

  it('repeats pending deliveries after a restart', async () => {
    const file = stateFile()
    const refusing = await receiver(respond(500))
    const taking = await receiver()
    const webhook = { secret: 'whsec_a' }
    const first = await createSimulator({
      stateFile: file,
      retryDelaysMs: [60_000],
      webhooks: [{ ...webhook, url: refusing.url }],
    })
    const customer = await sdkFor(first).customers.create({})
    await first.deliveriesIdle()
    await first.stop()
    // The same endpoint with a new URL represents the restarted receiver.
    const database = new DatabaseSync(file)
    database
      .prepare("UPDATE record SET value = replace(value, ?, ?) WHERE kind = 'endpoints'")
      .run(refusing.url, taking.url)
    database.exec("UPDATE record SET value = json_set(value, '$.nextAt', 0) WHERE kind = 'deliveries'")
    database.close()
    await start({ stateFile: file, webhooks: [{ ...webhook, url: taking.url }] })
    await eventually(() => expect(taking.received).toHaveLength(1))
    expect(taking.received[0]?.body).toContain(customer.id)
  })

  it.each([
    ['is cut off', '{"format"', 'it is not JSON'],
    ['is of a later format', '{"format":99}', 'it has a format that this version does not read'],
    ['has a table that is none', '{"format":2,"sessions":[["cs_1",null]]}', 'its table sessions is damaged'],
    ['is half a database', `SQLite format 3\0${'x'.repeat(8000)}`, 'it is damaged'],
  ])('moves a file aside that %s, reports that, and starts empty', async (_, text, reason) => {
    const file = stateFile()
    await (await createSimulator({ stateFile: file })).stop()
    writeFileSync(file, text)
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => said.mockRestore())
    const { simulator, stripe } = await start({ stateFile: file })
    const folder = join(file, '..')
    const aside = readdirSync(folder).find((name) => name.startsWith('state.db.broken-'))
    expect(readFileSync(join(folder, aside ?? ''), 'utf8')).toBe(text)
    expect(said.mock.calls.flat().join('')).toContain(`${join(folder, aside ?? '')}: ${reason}`)
    expect((await stripe.events.list()).data).toEqual([])
    const { id } = await stripe.customers.create({})
    await simulator.stop()
    const again = await start({ stateFile: file })
    expect((await again.stripe.customers.retrieve(id)).id).toBe(id)
  })

  it.each([
    ["UPDATE record SET value = '{' WHERE kind = 'customers'", 'its table customers is damaged'],
    ["UPDATE record SET kind = 'colours' WHERE kind = 'customers'", 'its table colours is damaged'],
    ['PRAGMA user_version = 99', 'it has a format that this version does not read'],
  ])('moves a database aside after %s', async (sql, reason) => {
    const file = stateFile()
    const first = await createSimulator({ stateFile: file })
    await sdkFor(first).customers.create({})
    await first.stop()
    const database = new DatabaseSync(file)
    database.exec(sql)
    database.close()
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => said.mockRestore())
    const { stripe } = await start({ stateFile: file })
    expect((await stripe.events.list()).data).toEqual([])
    expect(said.mock.calls.flat().join('')).toContain(reason)
  })

  it('converts the earlier JSON format with all its contents', async () => {
    const file = stateFile()
    const filled = stateFile()
    const store = new Store(filled)
    await createSimulator({ stateFile: filled }, store).then(async (first) => {
      const { id } = await sdkFor(first).checkout.sessions.create(subscribe, { idempotencyKey: 'attempt' })
      await pay(first, id)
      await pay(first, (await sdkFor(first).checkout.sessions.create(create)).id, '4000000000000259')
      first.advanceClock(40 * 24 * 3600)
      await first.stop()
    })
    const held = recordsOf(store)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify({ format: 2, ...held }))
    const taken = new Store(file)
    expect(recordsOf(taken)).toEqual(held)
    taken.close()
    // It is a database now, which the next start reads.
    expect(readFileSync(file, 'latin1').startsWith('SQLite format 3')).toBe(true)
    expect(readdirSync(dirname(file))).toEqual(['state.db'])
    expectSaved(file, store)
  })

  it('reads the previous format', async () => {
    const file = stateFile()
    await (await createSimulator({ stateFile: file })).stop()
    writeFileSync(file, '{"format":1,"clockOffsetMs":3600000,"customers":[]}')
    const { simulator } = await start({ stateFile: file })
    expect(simulator.now()).toBeGreaterThan(Date.now() / 1000 + 3000)
  })

  it('restores subscriptions with their dunning, disputes, portal sessions, test clocks and rolled secrets', async () => {
    const file = stateFile()
    const hook = await receiver()
    const first = await start({ stateFile: file })
    const { stripe } = first
    const clock = await stripe.testHelpers.testClocks.create({ frozen_time: 1_900_000_000 })
    const { id } = await stripe.checkout.sessions.create(subscribe)
    await pay(first.simulator, id)
    const { subscription, customer } = await stripe.checkout.sessions.retrieve(id)
    const { url } = await stripe.billingPortal.sessions.create({ customer: customer as string })
    await stripe.subscriptions.update(subscription as string, { default_payment_method: 'pm_card_chargeCustomerFail' })
    const disputed = await stripe.checkout.sessions.create(create)
    await pay(first.simulator, disputed.id, '4000000000000259')
    const endpoint = await control<{ id: string; secret: string }>(first.simulator, '/webhook_endpoints', {
      url: hook.url,
      enabledEvents: ['product.created'],
    })
    const rolled = await control<{ secret: string }>(first.simulator, `/webhook_endpoints/${endpoint.id}/roll`, {})
    first.simulator.advanceClock(32 * 24 * 3600)
    await first.simulator.stop()

    const second = await start({ stateFile: file })
    const past = await second.stripe.subscriptions.retrieve(subscription as string)
    expect(past.status).toBe('past_due')
    expect((await second.stripe.disputes.list()).data).toHaveLength(1)
    expect((await second.stripe.balanceTransactions.list()).data.length).toBeGreaterThan(2)
    expect(await second.stripe.testHelpers.testClocks.retrieve(clock.id)).toMatchObject({ status: 'ready' })
    const portal = url.replace(first.simulator.url, second.simulator.url)
    expect((await fetch(portal)).status).toBe(410)
    await second.stripe.products.create({ name: 'Spider' })
    await second.simulator.deliveriesIdle()
    const header = String(hook.received[0]?.headers['stripe-signature'])
    for (const secret of [rolled.secret, endpoint.secret]) {
      expect(second.stripe.webhooks.constructEvent(hook.received[0]!.body, header, secret).type).toBe('product.created')
    }
    // The dunning continues: three more attempts, then it ends.
    second.simulator.advanceClock(16 * 24 * 3600)
    expect((await second.stripe.subscriptions.retrieve(subscription as string)).status).toBe('canceled')
  })

  it('stores nothing without a file', async () => {
    const first = await start()
    const { id } = await first.stripe.checkout.sessions.create(create)
    await first.simulator.stop()
    const second = await start()
    expect((await refusal(second.stripe.checkout.sessions.retrieve(id))).statusCode).toBe(404)
  })
})
