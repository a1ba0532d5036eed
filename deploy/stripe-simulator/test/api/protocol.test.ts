import { describe, expect, it } from 'vitest'
import { control, create, pay, refusal, sdkFor, start } from '../fixture.ts'

describe('authentication', () => {
  it('accepts a test key as Bearer and as Basic', async () => {
    const { simulator } = await start()
    const basic = `Basic ${Buffer.from('sk_test_curl:').toString('base64')}`
    for (const authorization of ['Bearer sk_test_abc', basic]) {
      const answer = await fetch(`${simulator.url}/v1/charges`, { headers: { authorization } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('request-id')).toMatch(/^req_/)
      expect(answer.headers.get('stripe-version')).toBe('2026-10-28.endive')
    }
  })

  it.each(['sk_live_abc', 'rk_live_abc', 'pk_live_abc'])('rejects the live key %s', async (key) => {
    const { simulator } = await start()
    const error = await refusal(sdkFor(simulator, key).charges.list())
    expect(error).toMatchObject({ statusCode: 401, type: 'StripeAuthenticationError' })
    expect(error.message).toMatch(/refuses live keys/)
  })

  it('rejects a missing key, a publishable one and one that is not configured', async () => {
    const { simulator } = await start({ apiKeys: ['sk_test_only'] })
    expect((await fetch(`${simulator.url}/v1/charges`)).status).toBe(401)
    expect((await refusal(sdkFor(simulator, 'pk_test_abc').charges.list())).statusCode).toBe(403)
    const other = await refusal(sdkFor(simulator, 'sk_test_other_key').charges.list())
    expect(other).toMatchObject({ statusCode: 401 })
    expect(other.message).not.toContain('sk_test_other_key')
    expect((await sdkFor(simulator, 'sk_test_only').charges.list()).data).toEqual([])
  })
})

describe('idempotency keys', () => {
  it('replays the saved response', async () => {
    const { stripe } = await start()
    const first = await stripe.checkout.sessions.create(create, { idempotencyKey: 'attempt-1' })
    const again = await stripe.checkout.sessions.create(create, { idempotencyKey: 'attempt-1' })
    expect(again).toEqual(first)
    expect(again.lastResponse.headers['idempotent-replayed']).toBe('true')
    expect(again.lastResponse.headers['original-request']).toBe(first.lastResponse.requestId)
    expect((await stripe.checkout.sessions.list()).data).toHaveLength(1)
  })

  it('answers 400 to other parameters, and to another path, under the same key', async () => {
    const { stripe } = await start()
    const session = await stripe.checkout.sessions.create(create, { idempotencyKey: 'k' })
    const other = { ...create, expires_at: session.created + 3600 }
    const error = await refusal(stripe.checkout.sessions.create(other, { idempotencyKey: 'k' }))
    expect(error).toMatchObject({ statusCode: 400, type: 'StripeIdempotencyError', rawType: 'idempotency_error' })
    const path = await refusal(stripe.checkout.sessions.expire(session.id, {}, { idempotencyKey: 'k' }))
    expect(path.rawType).toBe('idempotency_error')
  })

  it('answers 409 while the first request is in flight', async () => {
    const { simulator, stripe } = await start({ sessionCreateDelayMs: 300 })
    const first = stripe.checkout.sessions.create(create, { idempotencyKey: 'k' })
    const second = refusal(stripe.checkout.sessions.create(create, { idempotencyKey: 'k' }))
    expect(await second).toMatchObject({ statusCode: 409, code: 'idempotency_key_in_use' })
    const { id } = await first
    // With its default retries, the SDK waits for the other request and gets its response.
    const patient = sdkFor(simulator, 'sk_test_simulator', { maxNetworkRetries: 2 })
    expect((await patient.checkout.sessions.create(create, { idempotencyKey: 'k' })).id).toBe(id)
  })

  it('saves errors of the execution, but not of the parameters', async () => {
    const { stripe } = await start()
    const bad = { ...create, line_items: [] }
    const refused = await refusal(stripe.checkout.sessions.create({ ...bad, success_url: '' }, { idempotencyKey: 'k' }))
    expect(refused.statusCode).toBe(400)
    expect((await stripe.checkout.sessions.create(create, { idempotencyKey: 'k' })).status).toBe('open')

    const soon = { ...create, expires_at: 1 }
    const first = await refusal(stripe.checkout.sessions.create(soon, { idempotencyKey: 'late' }))
    const again = await refusal(stripe.checkout.sessions.create(soon, { idempotencyKey: 'late' }))
    expect(again.message).toBe(first.message)
    expect(again.headers?.['idempotent-replayed']).toBe('true')
  })

  it('drops a key after a day', async () => {
    const { simulator, stripe } = await start()
    const first = await stripe.checkout.sessions.create(create, { idempotencyKey: 'k' })
    await control(simulator, '/clock', { advanceSeconds: 24 * 3600 })
    const next = await stripe.checkout.sessions.create(create, { idempotencyKey: 'k' })
    expect(next.id).not.toBe(first.id)
  })

  it('refunds once despite a lost response', async () => {
    const { simulator, stripe } = await start()
    const { id } = await stripe.checkout.sessions.create(create)
    await pay(simulator, id)
    const session = await stripe.checkout.sessions.retrieve(id)
    await control(simulator, '/faults', { kind: 'reset', path: '/v1/refunds' })
    // The SDK repeats a request under the same key after a broken connection.
    const refund = await stripe.refunds.create({ payment_intent: session.payment_intent as string })
    expect(refund.lastResponse.headers['idempotent-replayed']).toBe('true')
    expect(await control(simulator, '/state')).toMatchObject({ refunds: { total: 1, amount: 40_000 } })
  })
})

describe('injected faults', () => {
  it('creates a session although its response is lost', async () => {
    const { simulator, stripe } = await start()
    await control(simulator, '/faults', { kind: 'reset', times: 2 })
    const lost = await refusal(stripe.checkout.sessions.create(create, { idempotencyKey: 'k' }))
    expect(lost.type).toBe('StripeConnectionError')
    const session = await stripe.checkout.sessions.create(create, { idempotencyKey: 'k' })
    expect(session.status).toBe('open')
    expect((await stripe.checkout.sessions.list()).data).toHaveLength(1)
  })

  it('answers 500 before the execution, the given number of times', async () => {
    const { simulator } = await start()
    await control(simulator, '/faults', { kind: 'error', times: 2 })
    const patient = sdkFor(simulator, 'sk_test_simulator', { maxNetworkRetries: 2 })
    const session = await patient.checkout.sessions.create(create)
    expect(session.status).toBe('open')
    expect((await patient.checkout.sessions.list()).data).toHaveLength(1)
  })

  it('saves a 500 injected after the execution', async () => {
    const { simulator, stripe } = await start()
    await control(simulator, '/faults', { kind: 'error', when: 'after', path: '/v1/checkout/*' })
    const error = await refusal(stripe.checkout.sessions.create(create, { idempotencyKey: 'k' }))
    expect(error).toMatchObject({ statusCode: 500, type: 'StripeAPIError' })
    expect((await refusal(stripe.checkout.sessions.create(create, { idempotencyKey: 'k' }))).statusCode).toBe(500)
    expect((await stripe.checkout.sessions.list()).data).toHaveLength(1)
  })

  it('can delay requests and be cleared', async () => {
    const { simulator, stripe } = await start()
    await control(simulator, '/faults', { kind: 'delay', delayMs: 120, times: 5 })
    const begun = performance.now()
    await stripe.checkout.sessions.create(create)
    expect(performance.now() - begun).toBeGreaterThan(100)
    expect(await control(simulator, '/faults', undefined, 'DELETE')).toEqual({ faults: [] })
  })
})

describe('invalid input', () => {
  const cases: [string, string, RequestInit, number][] = [
    ['an unknown address', '/v1/robots', {}, 404],
    ['an unknown method', '/v1/charges', { method: 'PUT' }, 404],
    ['a broken escape in the path', '/v1/charges/%zz', {}, 400],
    ['JSON', '/v1/refunds', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' }, 400],
    ['broken JSON', '/v1/refunds', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }, 400],
    [
      'no content type that is known',
      '/v1/refunds',
      { method: 'POST', headers: { 'content-type': 'text/css' }, body: 'x' },
      415,
    ],
    ['a huge body', '/v1/refunds', { method: 'POST', body: new URLSearchParams({ a: 'x'.repeat(300_000) }) }, 413],
    [
      'deep brackets',
      '/v1/refunds',
      { method: 'POST', body: new URLSearchParams({ [`a${'[b]'.repeat(500)}`]: '1' }) },
      400,
    ],
    [
      'prototype names',
      '/v1/refunds',
      { method: 'POST', body: new URLSearchParams({ '__proto__[x]': '1', 'constructor[prototype]': '2' }) },
      400,
    ],
    ['a hash for a string', '/v1/refunds', { method: 'POST', body: new URLSearchParams({ 'charge[x]': '1' }) }, 400],
    ['a string for an array', '/v1/refunds', { method: 'POST', body: new URLSearchParams({ expand: 'x' }) }, 400],
    [
      'broken percent signs',
      '/v1/refunds',
      { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=%E0%A4%A&%=%' },
      400,
    ],
    ['another API version', '/v1/charges', { headers: { 'stripe-version': '2022-11-15' } }, 400],
  ]
  it.each(cases)('answers %s with a client error in the usual shape', async (_what, path, init, status) => {
    const { simulator } = await start()
    const answer = await fetch(simulator.url + path, {
      ...init,
      headers: { authorization: 'Bearer sk_test_x', ...(init.headers as Record<string, string>) },
    })
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.any(String), request_log_url: expect.any(String) },
    })
  })

  it('answers 400 to an invalid control request', async () => {
    const { simulator } = await start()
    for (const [path, body] of [
      ['/clock', { advanceSeconds: -1 }],
      ['/faults', { kind: 'flood' }],
      ['/checkout/cs_test_none/pay', {}],
    ] as const) {
      expect(await control(simulator, path, body)).toHaveProperty('error.message')
    }
  })

  it('stays healthy after invalid input', async () => {
    const { simulator } = await start()
    expect(await (await fetch(`${simulator.url}/healthz`)).json()).toEqual({ status: 'ok' })
  })
})
