import { IdentityError, missing } from '../protocol/errors.ts'
import { verifyPasskey, readCredential } from '../factors/passkey-steps.ts'
import { proceed } from '../sign-in/sign-in.ts'
import { endStep } from '../sign-in/sign-in-steps.ts'
import { requireAccount, onLockedStep } from './answering.ts'

/** A passkey's signature. Its challenge is used up, whether the signature is valid or not. */
export const webAuthn = onLockedStep(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  const text = responses['CREDENTIAL']
  if (!text) throw missing('CREDENTIAL')
  const outcome = await verifyPasskey(tx, step, readCredential(text))
  await endStep(tx, step)
  if (outcome instanceof IdentityError) return outcome
  const progress = requireAccount(step)
  const state = { ...progress.state, firstFactor: 'WEB_AUTHN' as const, personVerified: outcome.personVerified }
  return proceed(tx, { ...progress, state }, call, tokens)
})
