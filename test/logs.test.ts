import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSystem, type System } from './src/system.ts'
import { eventually } from './src/bed.ts'

let system: System
beforeAll(async () => {
  system = await startSystem({ all: { LOG_LEVEL: 'debug', UPSTREAM_TIMEOUT_MS: '2000', STRIPE_TIMEOUT_MS: '500' } })
})
afterAll(() => system.stop())

/** Personal data that appears in no other text by chance. */
const family = {
  guardianName: 'Quillon Vantreeck',
  childName: 'Zebedine',
  email: `quillon.${randomUUIDv7()}@vantreeck.example.com`,
  addressLine1: '77 Whortleberry Court',
  city: 'Ypsilantium',
}

describe('The logs of a registration that fails at each service in turn', () => {
  it('Logs contain neither the family’s data nor the references that open its pages', async () => {
    const { processes } = system
    const references: string[] = []
    const register = async (differences = {}) => {
      const id = randomUUIDv7()
      references.push(id)
      const startDate = (await system.openDates().catch(() => []))[0]?.date ?? date
      const body = {
        classType: 'basic' as const,
        startDate,
        childAge: 9,
        state: 'MI',
        zipCode: '48197',
        ...family,
        id,
        ...differences,
      }
      return system.post('/api/registrations', body)
    }
    const everyPage = async (reference: string) => {
      for (const path of ['', '/events', '?returned=true'])
        await fetch(`${system.siteUrl}/api/registrations/${reference}${path}`, {
          signal: AbortSignal.timeout(3_000),
        }).then(
          (answer) => answer.body?.cancel(),
          () => {},
        )
      await system.post(`/api/registrations/${reference}/checkout`, {})
      await system.post('/api/waivers', { ...family, registrationId: reference, startDate: date, classType: 'basic' })
      await fetch(`${system.siteUrl}/api/orders/${reference}`)
      await fetch(`${system.siteUrl}/api/member-seats/${reference}`)
    }
    const date = (await system.openDates())[0]?.date ?? ''
    const good = await register()
    expect(good.status).toBe(200)
    const { registrationId: first, checkoutUrl } = good.body as { registrationId: string; checkoutUrl: string }

    // The provider fails, then billing is down, then mails cannot be sent, then enrollment is down, then its database.
    const faults = (body: object) =>
      fetch(`${system.simulator.url}/_sim/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await faults({ kind: 'error', status: 500, times: 50 })
    const refused = await register({ email: `other.${family.email}` })
    expect(refused.status).toBe(503)
    await everyPage(references.at(-1) ?? '')
    await fetch(`${system.simulator.url}/_sim/faults`, { method: 'DELETE' })
    await processes.billing.kill()
    expect((await register({ email: `third.${family.email}` })).status).toBe(503)
    await everyPage(first)
    await processes.billing.start()
    await system.pay(checkoutUrl)
    await system.reaches(first, 'confirmed')
    await processes.enrollment.kill()
    expect((await register()).status).toBe(503)
    await everyPage(first)
    await processes.enrollment.start()
    await processes.notifications.kill()
    await system.post('/api/waivers', { ...family, registrationId: first, startDate: date, classType: 'basic' })
    await processes.notifications.start()
    await everyPage(first)
    for (const wrong of ['x', { a: family.email }, [family.guardianName]])
      await system.post('/api/registrations', { ...family, siblings: wrong })
    await eventually(async () => (await system.mailsTo(family.email)).length > 0)

    const printed = Object.values(processes)
      .map((one) => one.output())
      .join('')
    expect(printed).toContain('request failed')
    for (const words of [...Object.values(family), ...references])
      expect(printed.split('\n').filter((line) => line.toLowerCase().includes(words.toLowerCase()))).toEqual([])
  })
})
