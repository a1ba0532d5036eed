import type { SignInStep } from '@robokids/contracts/auth'
import { session } from '../browser/storage.ts'
import { signInStep } from './answers.ts'

const key = 'signInStep'

/** As long as the server's cookie holds a step, and as a code for a new password is good. */
const stepMs = 180_000
const resetMs = 3_600_000

/** What waits for a code that somebody looks for elsewhere. Other steps are made in the page, and some show what is secret. */
const waiting = new Set<SignInStep['step']>([
  'CONFIRM_SIGN_UP',
  'CONFIRM_SIGN_IN_WITH_SMS_CODE',
  'CONFIRM_SIGN_IN_WITH_EMAIL_CODE',
  'CONFIRM_SIGN_IN_WITH_TOTP_CODE',
])

/** How far somebody has come. */
export interface KeptStep {
  email: string
  step: SignInStep | null
  /** Whether it is the second one, after a password. */
  isSecond: boolean
  /** A code for a new password is on its way: what was said of it. */
  sent: string | null
}

const nowhere: KeptStep = { email: '', step: null, isSecond: false, sent: null }

/** Keeps the way through a reload: phones let go of a tab while one reads one's mail. */
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

/** Whether somebody has opened the page anew: that asks for its form. */
function isOpenedAnew(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return navigation?.type === 'navigate'
}

export function readKeptStep(): KeptStep {
  if (isOpenedAnew()) return nowhere
  try {
    const { until, step, ...kept } = JSON.parse(session.get(key) ?? '{}') as Partial<KeptStep & { until: number }>
    if (!until || until < Date.now()) return nowhere
    const parsed = signInStep.safeParse(step)
    return { ...nowhere, ...kept, step: parsed.success ? parsed.data : null }
  } catch {
    return nowhere
  }
}
