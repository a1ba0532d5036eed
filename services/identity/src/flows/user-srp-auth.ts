import { missing } from '../protocol/errors.ts'
import type { Flow } from './flow.ts'
import type { AuthAnswer } from '../sign-in/sign-in-steps.ts'
import { askPasswordVerifier } from '../factors/srp-steps.ts'
import { begin } from './begin.ts'

/** A password that never leaves the client: Secure Remote Password. */
export async function userSrpAuth(flow: Flow): Promise<AuthAnswer> {
  const A = flow.parameters['SRP_A']
  if (!A) throw missing('SRP_A')
  const progress = await begin(flow, 'USER_SRP_AUTH')
  return askPasswordVerifier(flow.call.context.db, progress, A, flow.call)
}
