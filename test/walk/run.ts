import * as fc from 'fast-check'
import { checkEnd } from './check.ts'
import { operations } from './operations/all.ts'
import { settle } from './settle.ts'
import { shrink } from './shrink.ts'
import { Step } from './step.ts'
import { Violation } from './violation.ts'
import type { Walk } from './walk.ts'
import type { World } from './world.ts'

const commands = operations.flatMap((one) =>
  Array.from({ length: one.weight }, () => (one.args as fc.Arbitrary<unknown>).map((args) => new Step(one, args))),
)

export interface Failure {
  /** The rule that is broken. */
  rule: string
  message: string
  /** The fewest steps that were found to break it. */
  steps: string[]
  /** How many walks it took to find them. */
  tries: number
}

export interface Outcome {
  seed: number
  steps: number
  failure?: Failure
}

/** Takes steps until one breaks a rule, then sees whether all is right once it has settled. @throws Violation */
async function take(walk: Walk, steps: Iterable<fc.AsyncCommand<Walk, World>>): Promise<void> {
  await fc.asyncModelRun(async () => ({ model: walk, real: walk.world }), steps)
  await walk.world.measure('# settling at the end', () => settle(walk))
  await walk.world.measure('# checks at the end', () => checkEnd(walk))
}

function ruleOf(error: unknown): string {
  return error instanceof Violation ? error.rule : `an error: ${(error as Error).message}`
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Takes given steps, in a walk that they are all of. */
export async function replay(world: World, steps: Step[], shrinkForMs = 0): Promise<Failure | undefined> {
  const walk = await world.begin()
  try {
    await take(walk, steps)
    return undefined
  } catch (error) {
    return shrunk(world, walk.taken, error, shrinkForMs)
  }
}

/** The fewest steps that are found to break the same rule, each try with families of its own. */
async function shrunk(world: World, taken: Step[], broken: unknown, withinMs: number): Promise<Failure> {
  const rule = ruleOf(broken)
  let message = describe(broken)
  let tries = 0
  const steps = await shrink(taken, withinMs, async (fewer) => {
    tries += 1
    try {
      await take(await world.begin(), fewer)
      return false
    } catch (error) {
      if (ruleOf(error) !== rule) return false
      message = describe(error)
      return true
    }
  })
  return { rule, message, steps: steps.map(String), tries }
}

export interface WalkOptions {
  seed: number
  /** At most as many steps. */
  length: number
  /** How long shrinking may take at most. */
  shrinkForMs?: number
}

/**
 * One walk by a seed. One that breaks a rule is shrunk to few steps that break that rule and no other, each try with
 * families of its own.
 */
export async function walkOnce(world: World, options: WalkOptions): Promise<Outcome> {
  const { seed, length, shrinkForMs = 300_000 } = options
  let taken: Step[] = []
  let broken: unknown
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: length, size: 'max' }), async (steps) => {
    const walk = await world.begin()
    await take(walk, steps).catch((error: unknown) => {
      broken = error
    })
    taken = walk.taken
  })
  await fc.check(property, { seed, numRuns: 1 })
  const outcome: Outcome = { seed, steps: taken.length }
  if (broken === undefined) return outcome
  outcome.failure = await shrunk(world, taken, broken, shrinkForMs)
  return outcome
}
