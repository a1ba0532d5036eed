import { acceptPassword } from '../sign-in/check-password.ts'
import { wrongPassword } from '../protocol/errors.ts'
import { beginAttempt, recordFailure, targetOf } from '../limits/sign-in-limits.ts'
import { endStep } from '../sign-in/sign-in-steps.ts'
import { provesPassword } from '../factors/srp-steps.ts'
import { accountOf, settled } from './answering.ts'

/** The proof of a password by SRP. A wrong one ends the exchange: the next guess needs another. */
export const passwordVerifier = settled(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  await beginAttempt(tx, targetOf(step), call)
  await endStep(tx, step)
  if (!provesPassword(step, responses, call)) {
    await recordFailure(tx, targetOf(step), call)
    return wrongPassword()
  }
  return acceptPassword(tx, accountOf(step), call, tokens)
})
