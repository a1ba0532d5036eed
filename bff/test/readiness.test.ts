import { testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, startFront } from './front.ts'

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

describe('while every service behind it is away', () => {
  it('the BFF stays ready, and answers what needs one of them 503 with a time to try again', async () => {
    const { url } = await startFront(bed, {})
    const ready = await ask(`${url}/readyz`).answered
    expect([ready.status, JSON.parse(ready.text)]).toEqual([200, { status: 'ready', database: true, bus: true }])
    for (const path of ['/api/classes', '/api/shop', '/api/membership-plans', '/waiver.pdf']) {
      const { status, headers, text } = await ask(url + path).answered
      expect([status, JSON.parse(text)]).toMatchObject([503, { code: 'upstream_unavailable' }])
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    }
  })
})
