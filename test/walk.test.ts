import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { walkOnce } from './walk/run.ts'
import { World } from './walk/world.ts'

let world: World
beforeAll(async () => {
  world = await World.start(inject('postgresUrl'))
})
afterAll(() => world.stop())

/** As many as make three hundred steps. */
const seeds = [1, 2, 3, 4, 5]

describe('whatever families, operators, the provider and the network do, in whatever order,', () => {
  it.each(seeds)('no rule is broken on the walk of seed %i', async (seed) => {
    const { steps, failure } = await walkOnce(world, { seed, length: 150, shrinkForMs: 60_000 })
    expect(failure && `${failure.message}\n${failure.steps.join('\n')}`).toBeUndefined()
    expect(steps).toBeGreaterThan(0)
  })
})
