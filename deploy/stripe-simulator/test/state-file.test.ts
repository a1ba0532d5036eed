import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { createSimulator } from '../src/app.ts'
import { control, CREATE, eventually, pay, receiver, refusal, respond, sdkFor, start } from './fixture.ts'

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

  it('refuses to start over a file that it cannot read', async () => {
    const file = stateFile()
    await (await createSimulator({ stateFile: file })).stop()
    writeFileSync(file, '{"format"')
    await expect(createSimulator({ stateFile: file })).rejects.toThrow('Delete it to start empty')
  })

  it('keeps nothing without a file', async () => {
    const first = await start()
    const { id } = await first.stripe.checkout.sessions.create(CREATE)
    await first.simulator.stop()
    const second = await start()
    expect((await refusal(second.stripe.checkout.sessions.retrieve(id))).statusCode).toBe(404)
  })
})
