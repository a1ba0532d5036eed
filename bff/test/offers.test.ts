import type { IncomingMessage, ServerResponse } from 'node:http'
import { testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { send, startBff, StubService } from './fixture.ts'

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

const plans = (amount: number) => ({
  plans: [{ plan: 'monthly', amount, currency: 'usd', termsVersion: '1', terms: `$${amount}` }],
})

/** Starts a BFF whose enrollment and billing respond as the test says. */
async function startFixture(answers: Record<string, unknown>) {
  const service = await StubService.start()
  onTestFinished(() => service.stop())
  service.answer((incoming: IncomingMessage, response: ServerResponse) => {
    const answer = answers[incoming.url ?? '']
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { code: 'not_found', message: 'No.', requestId: 'stub' }))
  })
  const running = await startBff(bed, { ENROLLMENT_URL: service.url, BILLING_URL: service.url })
  return { service, url: running.url, answers }
}

describe('the site’s offers', () => {
  it.each(['/api/classes', '/api/shop', '/api/availableSlots', '/api/membership-plans'])(
    '%s is revalidated each time, with an empty 304 if unchanged',
    async (path) => {
      const { url, answers } = await startFixture({
        '/classes': { levels: [] },
        '/products': { products: [] },
        '/prices': {
          prices: [{ sku: 'class:basic', amount: 40_000, currency: 'usd' }],
          promotions: [],
        },
        '/available-slots?classType=membership': { slots: [{ classDate: '2030-01-04', availableSlots: 3 }] },
        '/membership-plans': plans(700),
      })
      const first = await send(url + path).answered
      expect(first).toMatchObject({
        status: 200,
        headers: { 'cache-control': 'no-cache', 'content-type': 'application/json; charset=utf-8' },
      })
      const etag = String(first.headers['etag'])
      const again = await send(url + path, { 'if-none-match': etag }).answered
      expect([again.status, again.headers['etag'], again.text]).toEqual([304, etag, ''])
      expect(again.headers['cache-control']).toBe('no-cache')

      answers['/classes'] = undefined
      answers['/prices'] = undefined
      answers['/available-slots?classType=membership'] = { slots: [] }
      answers['/membership-plans'] = plans(1900)
      const changed = await send(url + path, { 'if-none-match': etag }).answered
      expect(changed.status).not.toBe(304)
      expect(changed.headers['etag']).not.toBe(etag)
      if (changed.status !== 200) expect(changed.headers['cache-control']).toBe('no-store')
    },
  )

  it('are fetched once for all requests that arrive during a slow fetch', async () => {
    const service = await StubService.start()
    onTestFinished(() => service.stop())
    const running = await startBff(bed, { BILLING_URL: service.url })
    const url = `${running.url}/api/membership-plans`
    const first = send(url)
    await expect.poll(() => service.requests.length).toBe(1)
    const others = Array.from({ length: 50 }, () => send(url))
    // By now, all earlier requests have arrived.
    await send(`${running.url}/healthz`).answered
    service.answer((_incoming, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(plans(700)))
    })
    await Promise.all([first, ...others].map(({ answered }) => answered))
    expect(service.requests.length).toBeLessThan(10)
  })
})
