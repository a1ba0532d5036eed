import { always, atTheEnd, settled, type Invariant } from './invariants/all.ts'
import { Violation } from './violation.ts'
import type { Walk } from './walk.ts'

/** Does something, and goes on where it breaks a rule that is known to be broken. @throws Violation of any other */
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

/** For when all has settled. */
export const checkSettled = (walk: Walk) => check(walk, settled)

/** For when a walk is over. */
export const checkEnd = (walk: Walk) => check(walk, [...settled, ...atTheEnd])
