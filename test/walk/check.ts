import { always, atTheEnd, settled, type Invariant } from './invariants/all.ts'
import { Violation } from './violation.ts'
import type { Walk } from './walk.ts'

/** Runs `work`, ignoring violations of rules that are known to be broken. @throws Violation of any other rule */
export async function unlessIgnored({ world }: Walk, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Violation) || !world.ignored.has(error.rule)) throw error
  }
}

async function check(walk: Walk, invariants: Invariant[]): Promise<void> {
  for (const holds of invariants) await unlessIgnored(walk, () => holds(walk))
}

export const checkStep = (walk: Walk) => check(walk, always)

/** Checks the rules for a settled system. */
export const checkSettled = (walk: Walk) => check(walk, settled)

/** Checks the rules for the end of a walk. */
export const checkEnd = (walk: Walk) => check(walk, [...settled, ...atTheEnd])
