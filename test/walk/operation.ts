import type * as fc from 'fast-check'
import type { Walk } from './walk.ts'

/** Something that a family, an operator, the provider or the clock can do. */
export interface Operation<Args = never> {
  name: string
  /** What is left open: whose, which one, by what card. */
  args: fc.Arbitrary<Args>
  /** How often it comes up, beside others with 1. */
  weight: number
  /** Whether there is anything to do it with; one that is not possible is left out of the walk. */
  possible(walk: Walk): boolean
  /** @throws Violation */
  run(walk: Walk, args: Args): Promise<void>
}

interface Description<Args> {
  args: fc.Arbitrary<Args>
  weight?: number
  possible?: (walk: Walk) => boolean
  run: (walk: Walk, args: Args) => Promise<void>
}

export function operation<Args>(name: string, description: Description<Args>): Operation {
  const { args, weight = 2, possible = () => true, run } = description
  return { name, args, weight, possible, run } as unknown as Operation
}

/** The one of a list that a number means, whatever the list's length. */
export function pick<T>(list: readonly T[], which: number): T {
  const found = list[which % list.length]
  if (found === undefined) throw new Error('Nothing to pick from')
  return found
}
