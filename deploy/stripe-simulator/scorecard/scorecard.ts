import { callChecks } from './calls.ts'
import { clockChecks } from './clock.ts'
import { deliveryChecks } from './delivery.ts'
import { flowChecks } from './flows.ts'
import { idempotencyChecks } from './idempotency.ts'
import { shapeChecks } from './shapes.ts'
import type { Check, Section, Target } from './target.ts'

/** The checks of each section, those of the clock last: it moves the time for all. */
export const checks: Record<Section, readonly Check[]> = {
  shapes: shapeChecks,
  calls: callChecks,
  flows: flowChecks,
  delivery: deliveryChecks,
  idempotency: idempotencyChecks,
  clock: clockChecks,
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
