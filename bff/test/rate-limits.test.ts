import { Agent, request } from 'undici'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBff } from './fixture.ts'

let bed: TestBed
const connections = new Agent({ connections: 16 })
beforeAll(async () => {
  bed = await testBed()
})
afterAll(async () => {
  await connections.close()
  await bed.stop()
})

describe('a client that has used up its limit', () => {
  it.each([
    ['/api/profile', '192.0.2.1'],
    ['/api/membership', '192.0.2.2'],
    ['/api/getAllRegistrations', '192.0.2.3'],
  ])('gets 429 before any access check, at %s', async (path, address) => {
    const { url } = await startBff(bed, { RATE_LIMIT_READS: '3', TRUST_PROXY: '127.0.0.1' })
    const statuses = []
    for (let n = 0; n < 4; n += 1)
      statuses.push((await fetch(url + path, { headers: { 'x-forwarded-for': address } })).status)
    expect(statuses).toEqual([401, 401, 401, 429])
  })

  async function requestAs(address: string, url: string): Promise<number> {
    // Fails validation, without calling a service.
    const answer = await request(`${url}/api/availableSlots?classType=none`, {
      headers: { 'x-forwarded-for': address },
      dispatcher: connections,
    })
    await answer.body.dump()
    return answer.statusCode
  }

  it('is limited at every BFF, by one limit for all of them', async () => {
    const max = 40
    const start = () => startBff(bed, { RATE_LIMIT_READS: String(max), TRUST_PROXY: '127.0.0.1' })
    const urls = [(await start()).url, (await start()).url]
    for (let n = 0; n < max; n += 1) expect(await requestAs('198.51.100.1', urls[n % 2] ?? '')).toBe(400)
    for (const url of urls) {
      let accepted = 0
      await eventually(async () => {
        const status = await requestAs('198.51.100.1', url)
        if (status === 400) accepted += 1
        return status === 429
      })
      // With a limit of its own, each BFF would accept as many again.
      expect(accepted).toBeLessThan(max / 4)
      expect(await requestAs('198.51.100.2', url)).toBe(400)
    }
  })

  it('stays limited, however many other clients send requests', { timeout: 120_000 }, async () => {
    const { url } = await startBff(bed, { RATE_LIMIT_READS: '3', TRUST_PROXY: '127.0.0.1' })
    for (const status of [400, 400, 400, 429]) expect(await requestAs('198.51.100.3', url)).toBe(status)
    const others = Array.from({ length: 6_000 }, (_, n) => `2001:db8:0:${n.toString(16)}::1`)
    const statuses = await Promise.all(others.map((address) => requestAs(address, url)))
    expect(new Set(statuses)).toEqual(new Set([400]))
    expect(await requestAs('198.51.100.3', url)).toBe(429)
  })
})
