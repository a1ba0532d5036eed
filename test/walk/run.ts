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
  /** The violated rule. */
  rule: string
  message: string
  /** The shortest list of steps found to violate it. */
  steps: string[]
  /** Number of walks that shrinking took. */
  tries: number
}

export interface Outcome {
  seed: number
  steps: number
  failure?: Failure
}

/** Runs steps until one violates a rule, then checks the settled system. @throws Violation */
async function takeSteps(walk: Walk, steps: Iterable<fc.AsyncCommand<Walk, World>>): Promise<void> {
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

/** Runs the given steps in a new walk. */
export async function replay(world: World, steps: Step[], shrinkForMs = 0): Promise<Failure | undefined> {
  const walk = await world.begin()
  try {
    await takeSteps(walk, steps)
    return undefined
  } catch (error) {
    return shrunk(world, walk.takenSteps, error, shrinkForMs)
  }
}

/** Shrinks a failure to few steps that violate the same rule, each attempt with new families. */
async function shrunk(world: World, taken: Step[], broken: unknown, withinMs: number): Promise<Failure> {
  const rule = ruleOf(broken)
  let message = describe(broken)
  let tries = 0
  const steps = await shrink(taken, withinMs, async (fewer) => {
    tries += 1
    try {
      await takeSteps(await world.begin(), fewer)
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
  /** Maximum number of steps. */
  length: number
  /** Maximum time for shrinking. */
  shrinkForMs?: number
}

/** Runs one walk by a seed. A failure is shrunk to few steps that violate the same rule. */
export async function walkOnce(world: World, options: WalkOptions): Promise<Outcome> {
  const { seed, length, shrinkForMs = 300_000 } = options
  let taken: Step[] = []
  let broken: unknown
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: length, size: 'max' }), async (steps) => {
    const walk = await world.begin()
    await takeSteps(walk, steps).catch((error: unknown) => {
      broken = error
    })
    taken = walk.takenSteps
  })
  await fc.check(property, { seed, numRuns: 1 })
  const outcome: Outcome = { seed, steps: taken.length }
  if (broken === undefined) return outcome
  outcome.failure = await shrunk(world, taken, broken, shrinkForMs)
  return outcome
}
