import { always, settled } from './invariants/all.ts'
import type { Walk } from './walk.ts'

export async function checkStep(walk: Walk): Promise<void> {
  for (const holds of always) await holds(walk)
}

/** For when all has settled. */
export async function checkSettled(walk: Walk): Promise<void> {
  for (const holds of settled) await holds(walk)
}
