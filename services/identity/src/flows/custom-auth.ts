import { padResponseTime } from '@robokids/runtime/response-time'
import { issueCustomChallenge } from '../sign-in/custom-challenge.ts'
import { checkDevice } from '../factors/devices.ts'
import { invalid, missing } from '../protocol/errors.ts'
import type { Flow } from './flow.ts'
import type { AuthAnswer } from '../sign-in/sign-in-steps.ts'
import { issuePasswordChallenge } from '../factors/srp-steps.ts'
import { begin } from './begin.ts'

/** A code by e-mail, after a password if the client starts with SRP. */
export async function customAuth(flow: Flow): Promise<AuthAnswer> {
  const { parameters, call } = flow
  const first = parameters['CHALLENGE_NAME']
  if (first !== undefined && first !== 'SRP_A') throw invalid(`Unknown CHALLENGE_NAME ${first}`)
  const A = parameters['SRP_A']
  if (first !== undefined && !A) throw missing('SRP_A')
  const progress = await begin(flow, 'CUSTOM_AUTH')
  if (A) return issuePasswordChallenge(call.context.db, progress, A, call)
  const { config, db } = call.context
  return padResponseTime(config.EVEN_ANSWER_MS, async () => {
    await checkDevice(db, progress, config)
    return db.transaction((tx) => issueCustomChallenge(tx, progress, call))
  })
}
