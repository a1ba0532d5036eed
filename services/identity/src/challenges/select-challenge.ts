import { padResponseTime } from '@robokids/runtime/response-time'
import { checkPassword, applyCheckedPassword } from '../sign-in/check-password.ts'
import { IdentityError, invalid, missing } from '../protocol/errors.ts'
import { issueFirstFactorChallenge, firstFactorsOf, isFirstFactor } from '../sign-in/first-factors.ts'
import { endStep, keepStep } from '../sign-in/sign-in-steps.ts'
import { readStep, withLockedStep, type Answer, type Answering, type Challenge } from './answering.ts'

/** The choice of a first factor, optionally with a password. */
export const selectChallenge: Challenge = async (answer) => {
  const { responses } = answer
  const choice = responses['ANSWER']
  if (!choice) throw missing('ANSWER')
  if (!isFirstFactor(choice)) throw invalid(`Unknown ANSWER ${choice}`)
  if (choice === 'PASSWORD') return password(answer)
  return padResponseTime(answer.call.context.config.EVEN_ANSWER_MS, () =>
    withLockedStep(answer, async (answering) => {
      const { tx, step, call } = answering
      await checkAvailable(answering, choice)
      await endStep(tx, step)
      return issueFirstFactorChallenge(tx, step, choice, responses, call)
    }),
  )
}

async function checkAvailable({ tx, step, call }: Answering, choice: string): Promise<void> {
  const available: string[] = await firstFactorsOf(tx, step, call)
  if (!available.includes(choice)) throw invalid(`${choice} is not one of the challenges to choose from.`)
}

async function password(answer: Answer) {
  const { responses, call, tokens } = answer
  const given = responses['PASSWORD']
  if (!given) throw missing('PASSWORD')
  const checked = await checkPassword(await readStep(answer), given, call)
  return withLockedStep(answer, async (answering) => {
    const { tx, step } = answering
    await checkAvailable(answering, 'PASSWORD')
    const outcome = await applyCheckedPassword(tx, step, checked, call, tokens)
    if (outcome instanceof IdentityError) return keepStep(tx, step, outcome)
    await endStep(tx, step)
    return outcome
  })
}
