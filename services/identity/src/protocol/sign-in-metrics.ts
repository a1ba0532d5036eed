import type { Context } from '@robokids/runtime/service'
import { Counter } from 'prom-client'
import type { Config } from '../config.ts'
import { IdentityError, signInFailures, type SignInFailure, type WireErrorName } from './errors.ts'

const failureByName: Partial<Record<WireErrorName, SignInFailure>> = {
  CodeMismatchException: 'wrong_code',
  ExpiredCodeException: 'expired_code',
  LimitExceededException: 'too_many_attempts',
  ServiceUnavailable: 'busy',
  UserNotConfirmedException: 'not_confirmed',
}

/** Counts completed sign-ins, and failed ones by kind. */
export class SignInMetrics {
  readonly #completed: Counter
  readonly #failures: Counter<'kind'>

  constructor({ metrics: { registry } }: Context<Config>) {
    const registers = [registry]
    this.#completed = new Counter({ name: 'sign_ins_total', help: 'Completed sign-ins', registers })
    this.#failures = new Counter({
      name: 'sign_in_failures_total',
      help: 'Steps of sign-ins that failed, by kind',
      labelNames: ['kind'],
      registers,
    })
    for (const kind of signInFailures) this.#failures.inc({ kind }, 0)
  }

  /** Runs an operation and counts it if it is a step of a sign-in. The renewal of a session is none. */
  async count(operation: string, input: unknown, run: () => Promise<object>): Promise<object> {
    const { AuthFlow: flow = '' } = input as { AuthFlow?: string }
    const isStep =
      operation === 'RespondToAuthChallenge' || (operation === 'InitiateAuth' && !flow.startsWith('REFRESH'))
    if (!isStep) return run()
    try {
      const answer = await run()
      if ('AuthenticationResult' in answer) this.#completed.inc()
      return answer
    } catch (error) {
      const kind = error instanceof IdentityError ? (error.failure ?? failureByName[error.name]) : undefined
      this.#failures.inc({ kind: kind ?? 'other' })
      throw error
    }
  }
}
