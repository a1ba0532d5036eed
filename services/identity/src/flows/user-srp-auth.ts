import { missing } from '../protocol/errors.ts'
import type { Flow } from './flow.ts'
import type { AuthAnswer } from '../sign-in/sign-in-steps.ts'
import { issuePasswordChallenge } from '../factors/srp-steps.ts'
import { begin } from './begin.ts'

/** A password proven by Secure Remote Password, without sending it. */
export async function userSrpAuth(flow: Flow): Promise<AuthAnswer> {
  const A = flow.parameters['SRP_A']
  if (!A) throw missing('SRP_A')
  const progress = await begin(flow, 'USER_SRP_AUTH')
  return issuePasswordChallenge(flow.call.context.db, progress, A, flow.call)
}
