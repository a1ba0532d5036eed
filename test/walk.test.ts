import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { replay, walkOnce } from './walk/run.ts'
import { readSteps } from './walk/step.ts'
import { World } from './walk/world.ts'

let world: World
beforeAll(async () => {
  world = await World.start(inject('postgresUrl'))
})
afterAll(() => world.stop())

const folder = join(import.meta.dirname, 'walk/found')
const found = await readdir(folder)
/** Together more than three hundred steps. */
const seeds = [1, 2, 4, 5, 10, 11]

describe('Random walks', () => {
  it.each(seeds)('A random walk through the whole system breaks no rule: seed %i', async (seed) => {
    const { steps, failure } = await walkOnce(world, { seed, length: 150, shrinkForMs: 60_000 })
    expect(failure && `${failure.message}\n${failure.steps.join('\n')}`).toBeUndefined()
    expect(steps).toBeGreaterThan(0)
  })

  it.each(found)('A recorded walk that once broke a rule breaks none: %s', async (file) => {
    const failure = await replay(world, readSteps(await readFile(join(folder, file), 'utf8')))
    expect(failure?.message).toBeUndefined()
  })
})
