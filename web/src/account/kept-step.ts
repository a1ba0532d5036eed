import type { SignInStep } from '@robokids/contracts/auth'
import { session } from '../browser/storage.ts'
import { signInStep } from './answers.ts'

const key = 'signInStep'

/** The lifetimes of the server's sign-in cookie and of a password reset code. */
const stepMs = 180_000
const resetMs = 3_600_000

/** Steps that wait for a code from elsewhere. The others happen on the page, and some contain secrets. */
const waiting = new Set<SignInStep['step']>([
  'CONFIRM_SIGN_UP',
  'CONFIRM_SIGN_IN_WITH_SMS_CODE',
  'CONFIRM_SIGN_IN_WITH_EMAIL_CODE',
  'CONFIRM_SIGN_IN_WITH_TOTP_CODE',
])

/** The progress of a sign-in. */
export interface KeptStep {
  email: string
  step: SignInStep | null
  /** Whether it is the second step, after a password. */
  isSecond: boolean
  /** The message about a password reset code that was sent. */
  sent: string | null
}

const nowhere: KeptStep = { email: '', step: null, isSecond: false, sent: null }

/** Survives a reload: phones discard a tab while its user reads their mail in another app. */
export function keepStep(changes: Partial<KeptStep>): void {
  const kept = { ...readKeptStep(), ...changes }
  const isWaiting = kept.sent !== null || (kept.step && waiting.has(kept.step.step))
  const until = Date.now() + (kept.sent === null ? stepMs : resetMs)
  if (isWaiting) session.set(key, JSON.stringify({ ...kept, until }))
  else forgetStep()
}

export function forgetStep(): void {
  session.remove(key)
}

/** Opening the page by a link or its address starts at the first form. */
function isNewVisit(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return navigation?.type === 'navigate'
}

export function readKeptStep(): KeptStep {
  if (isNewVisit()) return nowhere
  try {
    const { until, step, ...kept } = JSON.parse(session.get(key) ?? '{}') as Partial<KeptStep & { until: number }>
    if (!until || until < Date.now()) return nowhere
    const parsed = signInStep.safeParse(step)
    return { ...nowhere, ...kept, step: parsed.success ? parsed.data : null }
  } catch {
    return nowhere
  }
}
