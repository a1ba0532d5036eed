import * as fc from 'fast-check'
import { checkSettled } from './check.ts'
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

export interface Outcome {
  seed: number
  steps: number
  failure?: {
    rule: string
    message: string
    /** The fewest steps that were found to break the rule. */
    steps: string[]
    /** How many walks it took to find them. */
    tries: number
  }
}

/** Begins a walk and takes steps until one breaks a rule, then sees whether all is right once it has settled. */
async function take(world: World, steps: Iterable<fc.AsyncCommand<Walk, World>>): Promise<Walk> {
  const walk = await world.begin()
  await fc.asyncModelRun(async () => ({ model: walk, real: world }), steps)
  await settle(walk)
  await checkSettled(walk)
  return walk
}

function ruleOf(error: unknown): string {
  return error instanceof Violation ? error.rule : `an error: ${(error as Error).message}`
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Takes given steps. @throws Violation */
export async function replay(world: World, steps: Step[]): Promise<void> {
  await take(world, steps)
}

export interface WalkOptions {
  seed: number
  /** At most as many steps. */
  length: number
  /** Rules that are known to be broken. */
  ignored?: ReadonlySet<string>
  /** How long shrinking may take at most. */
  shrinkForMs?: number
}

/**
 * One walk by a seed. One that breaks a rule is shrunk to few steps that break that rule and no other, each try with
 * families of its own.
 */
export async function walkOnce(world: World, options: WalkOptions): Promise<Outcome> {
  const { seed, length, ignored = new Set(), shrinkForMs = 300_000 } = options
  const outcome: Outcome = { seed, steps: 0 }
  let taken: Step[] = []
  let broken: unknown
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: length, size: 'max' }), async (steps) => {
    taken = []
    const walk = await take(world, noting(steps as Iterable<Step>, taken)).catch((error: unknown) => {
      broken = error
    })
    outcome.steps = walk?.steps ?? taken.length
  })
  await fc.check(property, { seed, numRuns: 1 })
  if (broken === undefined || ignored.has(ruleOf(broken))) return outcome
  const rule = ruleOf(broken)
  let message = describe(broken)
  let tries = 0
  const steps = await shrink(taken, shrinkForMs, async (fewer) => {
    tries += 1
    try {
      await take(world, fewer)
      return false
    } catch (error) {
      if (ruleOf(error) !== rule) return false
      message = describe(error)
      return true
    }
  })
  outcome.failure = { rule, message, steps: steps.map(String), tries }
  return outcome
}

/** Hands steps on, and notes those that were really taken. */
function* noting(steps: Iterable<Step>, taken: Step[]): Iterable<fc.AsyncCommand<Walk, World>> {
  for (const step of steps)
    yield {
      check: (walk) => step.check(walk),
      async run(walk) {
        taken.push(step)
        await step.run(walk)
      },
      toString: () => step.toString(),
    }
}
