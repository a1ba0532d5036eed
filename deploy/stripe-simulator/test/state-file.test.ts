import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createSimulator } from '../src/app.ts'
import { control, CREATE, eventually, pay, receiver, refusal, respond, sdkFor, start, SUBSCRIBE } from './fixture.ts'

function stateFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stripe-simulator-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'deep', 'state.json')
}

describe('the state file', () => {
  it('brings back sessions, payments, keys and the clock after a restart', async () => {
    const file = stateFile()
    const first = await start({ stateFile: file })
    const session = await first.stripe.checkout.sessions.create(CREATE, { idempotencyKey: 'attempt' })
    const left = await first.stripe.checkout.sessions.create(CREATE)
    await pay(first.simulator, session.id)
    await control(first.simulator, '/clock', { advanceSeconds: 600 })
    await first.simulator.stop()

    const second = await start({ stateFile: file, publicUrl: 'http://localhost:9' })
    expect(second.simulator.now()).toBeGreaterThanOrEqual(session.created + 600)
    const again = await second.stripe.checkout.sessions.create(CREATE, { idempotencyKey: 'attempt' })
    expect(again.id).toBe(session.id)
    const paid = await second.stripe.checkout.sessions.retrieve(session.id, { expand: ['payment_intent'] })
    expect(paid).toMatchObject({ payment_status: 'paid', payment_intent: { status: 'succeeded' } })
    expect(await pay(second.simulator, left.id)).toMatchObject({ status: 'paid' })
    await second.simulator.stop()
    expect(readdirSync(join(file, '..'))).toEqual(['state.json'])
  })

  it('holds no card number', async () => {
    const file = stateFile()
    const { simulator, stripe } = await start({ stateFile: file })
    const { id } = await stripe.checkout.sessions.create(CREATE)
    await pay(simulator, id, '4000000000000002')
    await pay(simulator, id, '4000002500003155')
    await simulator.stop()
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('"last4":"3155"')
    expect(text).not.toMatch(/4000000000000002|4000002500003155/)
  })

  it('is written soon after a change, without a stop', async () => {
    const file = stateFile()
    const { stripe } = await start({ stateFile: file })
    const { id } = await stripe.checkout.sessions.create(CREATE)
    await eventually(() => expect(existsSync(file) && readFileSync(file, 'utf8')).toContain(id))
  })

  it('makes the deliveries after a restart that were not made before it', async () => {
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
    // The same endpoint under a new address stands for the receiver that is up again.
    writeFileSync(
      file,
      readFileSync(file, 'utf8')
        .replaceAll(refusing.url, taking.url)
        .replaceAll(/"nextAt":\d+/g, '"nextAt":0'),
    )
    await start({ stateFile: file, webhooks: [{ ...webhook, url: taking.url }] })
    await eventually(() => expect(taking.received).toHaveLength(1))
    expect(taking.received[0]?.body).toContain(customer.id)
  })

  it.each([
    ['is cut off', '{"format"', 'it is not JSON'],
    ['is of a later format', '{"format":99}', 'it has a format that this version does not read'],
    ['has a table that is none', '{"format":2,"sessions":[["cs_1",null]]}', 'its table sessions is damaged'],
  ])('sets a file aside that %s, says so, and starts empty', async (_, text, reason) => {
    const file = stateFile()
    await (await createSimulator({ stateFile: file })).stop()
    writeFileSync(file, text)
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => said.mockRestore())
    const { simulator, stripe } = await start({ stateFile: file })
    const folder = join(file, '..')
    const aside = readdirSync(folder).find((name) => name.startsWith('state.json.broken-'))
    expect(readFileSync(join(folder, aside ?? ''), 'utf8')).toBe(text)
    expect(said.mock.calls.flat().join('')).toContain(`${join(folder, aside ?? '')}: ${reason}`)
    expect((await stripe.events.list()).data).toEqual([])
    await stripe.customers.create({})
    await simulator.stop()
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ format: 2 })
  })

  it('reads the format before this one', async () => {
    const file = stateFile()
    await (await createSimulator({ stateFile: file })).stop()
    writeFileSync(file, '{"format":1,"clockOffsetMs":3600000,"customers":[]}')
    const { simulator } = await start({ stateFile: file })
    expect(simulator.now()).toBeGreaterThan(Date.now() / 1000 + 3000)
  })

  it('brings back subscriptions with their dunning, disputes, portal sessions, test clocks and rolled secrets', async () => {
    const file = stateFile()
    const hook = await receiver()
    const first = await start({ stateFile: file })
    const { stripe } = first
    const clock = await stripe.testHelpers.testClocks.create({ frozen_time: 1_900_000_000 })
    const { id } = await stripe.checkout.sessions.create(SUBSCRIBE)
    await pay(first.simulator, id)
    const { subscription, customer } = await stripe.checkout.sessions.retrieve(id)
    const { url } = await stripe.billingPortal.sessions.create({ customer: customer as string })
    await stripe.subscriptions.update(subscription as string, { default_payment_method: 'pm_card_chargeCustomerFail' })
    const disputed = await stripe.checkout.sessions.create(CREATE)
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
    // What was under way goes on: three more tries, then it ends.
    second.simulator.advanceClock(16 * 24 * 3600)
    expect((await second.stripe.subscriptions.retrieve(subscription as string)).status).toBe('canceled')
  })

  it('keeps nothing without a file', async () => {
    const first = await start()
    const { id } = await first.stripe.checkout.sessions.create(CREATE)
    await first.simulator.stop()
    const second = await start()
    expect((await refusal(second.stripe.checkout.sessions.retrieve(id))).statusCode).toBe(404)
  })
})
