import { always, atTheEnd, settled } from './invariants/all.ts'
import type { Walk } from './walk.ts'

export async function checkStep(walk: Walk): Promise<void> {
  for (const holds of always) await holds(walk)
}

/** For when all has settled. */
export async function checkSettled(walk: Walk): Promise<void> {
  for (const holds of settled) await holds(walk)
}

/** For when a walk is over. */
export async function checkEnd(walk: Walk): Promise<void> {
  await checkSettled(walk)
  for (const holds of atTheEnd) await holds(walk)
}
