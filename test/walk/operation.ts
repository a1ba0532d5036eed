import type * as fc from 'fast-check'
import type { Walk } from './walk.ts'

/** An action of a family, an operator, the provider or the clock. */
export interface Operation<Args = never> {
  name: string
  /** Generates its arguments: which family, which purchase, which card. */
  args: fc.Arbitrary<Args>
  /** Relative frequency. */
  weight: number
  /** Whether it is possible now; otherwise the step is left out. */
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

/** Picks an element by number, modulo the list's length. */
export function pick<T>(list: readonly T[], which: number): T {
  const found = list[which % list.length]
  if (found === undefined) throw new Error('Nothing to pick from')
  return found
}
