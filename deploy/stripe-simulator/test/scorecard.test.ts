import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checks } from '../scorecard/scorecard.ts'
import { compileErrors } from '../scorecard/shapes.ts'
import { raw, sections, targetAt, type Target } from '../scorecard/target.ts'
import { createSimulator, type Simulator } from '../src/app.ts'
import { Store } from '../src/store/store.ts'
import { expectSaved } from './fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'stripe-simulator-'))
const file = join(folder, 'state.db')
let store: Store
let simulator: Simulator
let target: Target

beforeAll(async () => {
  store = new Store(file)
  simulator = await createSimulator({ retryDelaysMs: [5, 10, 20] }, store)
  target = targetAt(simulator.url, 'sk_test_scorecard', true)
})
afterAll(async () => {
  await simulator.stop()
  // All changes by the checks were saved.
  expectSaved(file, store)
  rmSync(folder, { recursive: true })
})

describe.each(sections)('the scorecard: %s', (section) => {
  it.each(checks[section].map((check) => [check.name, check] as const))('%s', async (_, check) => {
    await expect(check.run(target)).resolves.not.toThrow()
  })
})

describe('the scorecard', () => {
  it('has at least sixty calls, and every resource', () => {
    expect(checks.calls.length).toBeGreaterThanOrEqual(60)
    expect(checks.shapes).toHaveLength(2 * 16)
  })

  it('finds a nested value of a wrong type, and an undeclared key', async () => {
    const customer = await raw(target, `/v1/customers/${(await target.stripe.customers.create({})).id}`)
    const settings = customer['invoice_settings'] as object
    expect(await compileErrors({ customer })).toEqual([])
    const wrong = await compileErrors({ customer: { ...customer, invoice_settings: { ...settings, footer: 1 } } })
    expect(wrong).toEqual([expect.stringMatching(/^customer: /)])
    const more = await compileErrors({ customer: { ...customer, colour: 'red' } })
    expect(more).toEqual([expect.stringMatching(/^customer: /)])
  })
})
