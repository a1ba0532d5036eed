import type { Database, Transaction } from '@robokids/runtime/db'
import { missing } from '../protocol/errors.ts'
import { issuePasskeyChallenge, hasPasskeys } from '../factors/passkey-steps.ts'
import type { FirstFactor } from '../pools/pool-settings.ts'
import type { Call } from '../protocol/protocol.ts'
import { issueCodeChallenge, simulateDelivery, provableDestination } from '../factors/sign-in-codes.ts'
import type { AuthAnswer, SignInProgress } from './sign-in-steps.ts'
import { simulateAccount } from '../users/simulated-account.ts'
import { issuePasswordChallenge } from '../factors/srp-steps.ts'

/** First factors of a USER_AUTH sign-in by the protocol's names: a password can be given in two ways. */
const choices = ['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP', 'SMS_OTP', 'WEB_AUTHN'] as const
export type Choice = (typeof choices)[number]

export function isFirstFactor(name: string): name is Choice {
  return (choices as readonly string[]).includes(name)
}

/**
 * The first factors offered before anything is proven. They reveal no more than the account's addresses and whether it
 * has passkeys, and some unknown usernames seem to have them too. So a password is always offered, and a code even if
 * it comes by the channel of the second factor; a sign-in that uses it is then asked for another way.
 */
async function factorsOf(
  tx: Transaction | Database,
  progress: SignInProgress,
  { context }: Call,
): Promise<FirstFactor[]> {
  const { user, client, state } = progress
  const { firstFactors, webAuthn } = client.pool.settings
  const simulated = simulateAccount(client.pool, state.given, context.config).factors
  const passkeys = webAuthn !== null && (await hasPasskeys(tx, user, webAuthn.relyingPartyId))
  if (!user) return simulated
  const has: Record<FirstFactor, boolean> = {
    PASSWORD: true,
    EMAIL_OTP: (await provableDestination(tx, user, 'EMAIL')) !== undefined,
    SMS_OTP: (await provableDestination(tx, user, 'SMS')) !== undefined,
    WEB_AUTHN: passkeys,
  }
  const able = firstFactors.filter((factor) => has[factor])
  return able.length > 0 ? able : simulated
}

/** Returns the choices offered to a USER_AUTH sign-in. */
export async function firstFactorsOf(
  tx: Transaction | Database,
  progress: SignInProgress,
  call: Call,
): Promise<Choice[]> {
  const factors = await factorsOf(tx, progress, call)
  return factors.flatMap((factor): Choice[] => (factor === 'PASSWORD' ? ['PASSWORD', 'PASSWORD_SRP'] : [factor]))
}

/** Issues the challenge of a first factor. A plain password is checked where it is given. */
export async function issueFirstFactorChallenge(
  tx: Transaction,
  progress: SignInProgress,
  choice: Exclude<Choice, 'PASSWORD'>,
  parameters: Record<string, string>,
  call: Call,
): Promise<AuthAnswer> {
  const { user } = progress
  switch (choice) {
    case 'PASSWORD_SRP': {
      const A = parameters['SRP_A']
      if (!A) throw missing('SRP_A')
      return issuePasswordChallenge(tx, progress, A, call)
    }
    case 'EMAIL_OTP':
    case 'SMS_OTP': {
      const medium = choice === 'EMAIL_OTP' ? 'EMAIL' : 'SMS'
      const to = user && (await provableDestination(tx, user, medium))
      return user && to
        ? issueCodeChallenge(tx, { ...progress, user }, choice, to, call)
        : simulateDelivery(tx, progress, choice, medium, call)
    }
    case 'WEB_AUTHN':
      return issuePasskeyChallenge(tx, progress, call)
  }
}
