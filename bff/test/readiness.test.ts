import { testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { send, startBff } from './fixture.ts'

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

describe('while every service behind it is unavailable', () => {
  it('the BFF stays ready, and responds 503 with Retry-After where it needs one of them', async () => {
    const { url } = await startBff(bed, {})
    const ready = await send(`${url}/readyz`).answered
    expect([ready.status, JSON.parse(ready.text)]).toEqual([200, { status: 'ready', database: true, bus: true }])
    for (const path of ['/api/classes', '/api/shop', '/api/membership-plans', '/waiver.pdf']) {
      const { status, headers, text } = await send(url + path).answered
      expect([status, JSON.parse(text)]).toMatchObject([503, { code: 'upstream_unavailable' }])
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    }
  })
})
