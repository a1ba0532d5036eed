import { padResponseTime } from '@robokids/runtime/response-time'
import { checkDevice } from '../factors/devices.ts'
import { expiredSession, orThrow } from '../protocol/errors.ts'
import { issueFirstFactorChallenge, firstFactorsOf, isFirstFactor } from '../sign-in/first-factors.ts'
import type { Flow } from './flow.ts'
import { proceed } from '../sign-in/sign-in.ts'
import { issueChallenge, endStep, findStep, type AuthAnswer } from '../sign-in/sign-in-steps.ts'
import { isVerified } from '../users/users.ts'
import { begin } from './begin.ts'
import { signInByPassword } from './user-password-auth.ts'

/** Offers a choice of first factors, or issues the preferred one at once. */
export async function userAuth(flow: Flow): Promise<AuthAnswer> {
  const { parameters, session, call } = flow
  const { db, config } = call.context
  const progress = await begin(flow, 'USER_AUTH')
  if (session !== undefined) return afterConfirmation(flow, session, progress.user?.id)
  return padResponseTime(config.EVEN_ANSWER_MS, async () => {
    await checkDevice(db, progress, config)
    const available = await firstFactorsOf(db, progress, call)
    const preferred = parameters['PREFERRED_CHALLENGE']
    const isGiven = preferred !== 'PASSWORD' || Boolean(parameters['PASSWORD'])
    if (preferred === undefined || !isFirstFactor(preferred) || !available.includes(preferred) || !isGiven) {
      return issueChallenge(db, progress, 'SELECT_CHALLENGE', {}, call, { available })
    }
    if (preferred === 'PASSWORD') return signInByPassword(flow, progress)
    return db.transaction((tx) => issueFirstFactorChallenge(tx, progress, preferred, parameters, call))
  })
}

/** Signs in after a confirmation whose code has just proven the address. */
async function afterConfirmation(
  { client, parameters, call, tokens }: Flow,
  session: string,
  userId: string | undefined,
): Promise<AuthAnswer> {
  const outcome = await call.context.db.transaction(async (tx) => {
    const step = await findStep(tx, session, 'SELECT_CHALLENGE', client, call, { lock: true })
    const { user, state } = step
    if (!user || user.id !== userId || state.step['confirmed'] !== true) return expiredSession()
    await endStep(tx, step)
    const deviceKey = parameters['DEVICE_KEY']
    const firstFactor = isVerified(user, 'email') ? ('EMAIL_OTP' as const) : ('SMS_OTP' as const)
    return proceed(
      tx,
      { ...step, user, state: { ...state, firstFactor, ...(deviceKey ? { deviceKey } : {}) } },
      call,
      tokens,
    )
  })
  return orThrow(outcome)
}
