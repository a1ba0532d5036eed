import { callChecks } from './calls.ts'
import { clockChecks } from './clock.ts'
import { deliveryChecks } from './delivery.ts'
import { flowChecks } from './flows.ts'
import { idempotencyChecks } from './idempotency.ts'
import { shapeChecks } from './shapes.ts'
import type { Check, Section, Target } from './target.ts'

/** The checks by section, those of the clock last, since they advance the time for all. */
export const checks: Record<Section, readonly Check[]> = {
  shapes: shapeChecks,
  calls: callChecks,
  flows: flowChecks,
  delivery: deliveryChecks,
  idempotency: idempotencyChecks,
  clock: clockChecks,
}

export type CheckResult = { check: Check; outcome: 'passed' | 'failed' | 'not run'; why: string }

/** Checks that need the simulator's control API are not run against another target. */
export async function runCheck(check: Check, target: Target): Promise<CheckResult> {
  if (check.needsControl === true && !target.hasControl) return { check, outcome: 'not run', why: '' }
  try {
    await check.run(target)
    return { check, outcome: 'passed', why: '' }
  } catch (error) {
    return { check, outcome: 'failed', why: error instanceof Error ? error.message : String(error) }
  }
}
