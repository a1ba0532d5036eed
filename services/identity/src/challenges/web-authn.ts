import { IdentityError, missing } from '../protocol/errors.ts'
import { judgePasskey, readCredential } from '../factors/passkey-steps.ts'
import { proceed } from '../sign-in/sign-in.ts'
import { endStep } from '../sign-in/sign-in-steps.ts'
import { accountOf, settled } from './answering.ts'

/** A passkey's signature. Its challenge is used up, right or wrong. */
export const webAuthn = settled(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  const text = responses['CREDENTIAL']
  if (!text) throw missing('CREDENTIAL')
  const outcome = await judgePasskey(tx, step, readCredential(text))
  await endStep(tx, step)
  if (outcome instanceof IdentityError) return outcome
  const progress = accountOf(step)
  const state = { ...progress.state, firstFactor: 'WEB_AUTHN' as const, personVerified: outcome.personVerified }
  return proceed(tx, { ...progress, state }, call, tokens)
})
