import { acceptPassword } from '../sign-in/check-password.ts'
import { wrongPassword } from '../protocol/errors.ts'
import { beginAttempt, recordFailure, targetOf } from '../limits/sign-in-limits.ts'
import { endStep } from '../sign-in/sign-in-steps.ts'
import { provesPassword } from '../factors/srp-steps.ts'
import { requireAccount, onLockedStep } from './answering.ts'

/** The SRP proof of a password. A wrong proof ends the exchange; the next guess needs a new one. */
export const passwordVerifier = onLockedStep(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  await beginAttempt(tx, targetOf(step), call)
  await endStep(tx, step)
  if (!provesPassword(step, responses, call)) {
    await recordFailure(tx, targetOf(step), call)
    return wrongPassword()
  }
  return acceptPassword(tx, requireAccount(step), call, tokens)
})
