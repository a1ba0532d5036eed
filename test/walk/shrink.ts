import type { Step } from './step.ts'

/**
 * Finds fewer and simpler steps that still fail: removes parts, from halves down to single steps, then simplifies each
 * step.
 * @param fails runs steps in a new walk
 */
export async function shrink(
  steps: Step[],
  withinMs: number,
  fails: (steps: Step[]) => Promise<boolean>,
): Promise<Step[]> {
  const deadline = performance.now() + withinMs
  const isOver = () => performance.now() > deadline
  let least = steps
  for (let size = Math.ceil(least.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    // From the end, because the last steps are most often irrelevant.
    for (let start = Math.floor((least.length - 1) / size) * size; start >= 0 && !isOver(); start -= size) {
      const fewer = least.toSpliced(start, size)
      if (await fails(fewer)) least = fewer
    }
  }
  for (let nth = least.length - 1; nth >= 0; nth -= 1) {
    for (let changed = true; changed && !isOver();) {
      changed = false
      for (const less of least[nth]?.simpler() ?? []) {
        const simpler = least.toSpliced(nth, 1, ...less)
        if (isOver() || !(await fails(simpler))) continue
        least = simpler
        changed = true
        break
      }
    }
  }
  return least
}
