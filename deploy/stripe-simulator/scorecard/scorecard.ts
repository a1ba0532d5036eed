import { CALLS } from './calls.ts'
import { CLOCK } from './clock.ts'
import { DELIVERY } from './delivery.ts'
import { FLOWS } from './flows.ts'
import { IDEMPOTENCY } from './idempotency.ts'
import { SHAPES } from './shapes.ts'
import type { Check, Section, Target } from './target.ts'

/** The checks of each section, those of the clock last: it moves the time for all. */
export const CHECKS: Record<Section, readonly Check[]> = {
  shapes: SHAPES,
  calls: CALLS,
  flows: FLOWS,
  delivery: DELIVERY,
  idempotency: IDEMPOTENCY,
  clock: CLOCK,
}

export type Verdict = { check: Check; outcome: 'passed' | 'failed' | 'not run'; why: string }

/** What needs the simulator's own control API cannot be asked of another target: it counts as neither. */
export async function judge(check: Check, target: Target): Promise<Verdict> {
  if (check.needsControl === true && !target.hasControl) return { check, outcome: 'not run', why: '' }
  try {
    await check.run(target)
    return { check, outcome: 'passed', why: '' }
  } catch (error) {
    return { check, outcome: 'failed', why: error instanceof Error ? error.message : String(error) }
  }
}
