import { Agent, request } from 'undici'
import { testBed, type TestBed } from '@robokids/test/bed'
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
  it.each(['/api/profile', '/api/membership', '/api/getAllRegistrations'])(
    'gets 429 before any access check, at %s',
    async (path) => {
      const { url } = await startBff(bed, { RATE_LIMIT_READS: '3' })
      const statuses = []
      for (let n = 0; n < 4; n += 1) statuses.push((await fetch(url + path)).status)
      expect(statuses).toEqual([401, 401, 401, 429])
    },
  )

  it('stays limited, however many other clients send requests', { timeout: 120_000 }, async () => {
    const { url } = await startBff(bed, { RATE_LIMIT_READS: '3', TRUST_PROXY: '127.0.0.1' })
    const requestAs = async (address: string) => {
      // Fails validation, without calling a service.
      const answer = await request(`${url}/api/availableSlots?classType=none`, {
        headers: { 'x-forwarded-for': address },
        dispatcher: connections,
      })
      await answer.body.dump()
      return answer.statusCode
    }
    for (const status of [400, 400, 400, 429]) expect(await requestAs('198.51.100.1')).toBe(status)
    const others = Array.from({ length: 6_000 }, (_, n) => `2001:db8:0:${n.toString(16)}::1`)
    const statuses = await Promise.all(others.map((address) => requestAs(address)))
    expect(new Set(statuses)).toEqual(new Set([400]))
    expect(await requestAs('198.51.100.1')).toBe(429)
  })
})
