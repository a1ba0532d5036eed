import { acceptPassword } from '../check-password.ts'
import { wrongPassword } from '../errors.ts'
import { endStep } from '../sign-in-steps.ts'
import { provesPassword } from '../srp-steps.ts'
import { accountOf, refuseForGood, settled } from './answering.ts'

/** The proof of a password by SRP. A wrong one ends the exchange: the next guess needs another. */
export const passwordVerifier = settled(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  if (!provesPassword(step, responses, call)) return refuseForGood(answering, wrongPassword())
  await endStep(tx, step)
  return acceptPassword(tx, accountOf(step), call, tokens)
})
