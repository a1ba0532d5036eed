import { padResponseTime } from '@robokids/runtime/response-time'
import { askCustomChallenge } from '../sign-in/custom-challenge.ts'
import { checkDevice } from '../factors/devices.ts'
import { invalid, missing } from '../protocol/errors.ts'
import type { Flow } from './flow.ts'
import type { AuthAnswer } from '../sign-in/sign-in-steps.ts'
import { askPasswordVerifier } from '../factors/srp-steps.ts'
import { begin } from './begin.ts'

/** A code by mail, after a password where the client begins with SRP. */
export async function customAuth(flow: Flow): Promise<AuthAnswer> {
  const { parameters, call } = flow
  const first = parameters['CHALLENGE_NAME']
  if (first !== undefined && first !== 'SRP_A') throw invalid(`Unknown CHALLENGE_NAME ${first}`)
  const A = parameters['SRP_A']
  if (first !== undefined && !A) throw missing('SRP_A')
  const progress = await begin(flow, 'CUSTOM_AUTH')
  if (A) return askPasswordVerifier(call.context.db, progress, A, call)
  const { config, db } = call.context
  return padResponseTime(config.EVEN_ANSWER_MS, async () => {
    await checkDevice(db, progress, config)
    return db.transaction((tx) => askCustomChallenge(tx, progress, call))
  })
}
