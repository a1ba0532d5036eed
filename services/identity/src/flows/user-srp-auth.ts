import { missing } from '../errors.ts'
import type { Flow } from '../operations/initiate-auth.ts'
import type { AuthAnswer } from '../sign-in-steps.ts'
import { askPasswordVerifier } from '../srp-steps.ts'
import { begin } from './begin.ts'

/** A password that never leaves the client: Secure Remote Password. */
export async function userSrpAuth(flow: Flow): Promise<AuthAnswer> {
  const A = flow.parameters['SRP_A']
  if (!A) throw missing('SRP_A')
  const progress = await begin(flow, 'USER_SRP_AUTH')
  return askPasswordVerifier(flow.call.context.db, progress, A, flow.call)
}
