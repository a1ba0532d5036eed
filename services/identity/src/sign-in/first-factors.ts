import type { Database, Transaction } from '@robokids/runtime/db'
import { missing } from '../protocol/errors.ts'
import { askPasskey, hasPasskeys } from '../factors/passkey-steps.ts'
import type { FirstFactor } from '../pools/pool-settings.ts'
import type { Call } from '../protocol/protocol.ts'
import { askForCode, simulateDelivery, provableDestination } from '../factors/sign-in-codes.ts'
import type { AuthAnswer, SignInProgress } from './sign-in-steps.ts'
import { simulateAccount } from '../users/simulated-account.ts'
import { askPasswordVerifier } from '../factors/srp-steps.ts'

/** What a USER_AUTH sign-in can begin with, by the protocol's names: a password is given in either of two ways. */
const choices = ['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP', 'SMS_OTP', 'WEB_AUTHN'] as const
export type Choice = (typeof choices)[number]

export function isFirstFactor(name: string): name is Choice {
  return (choices as readonly string[]).includes(name)
}

/**
 * What an account could begin with, before it has proven anything: nothing here tells more of one than its addresses and
 * whether it has passkeys, of which some that nobody has look as if they had. So a password is always asked for, and a code
 * also where its channel is that of the account's second factor; whoever has given it is told to sign in another way.
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

/** What a USER_AUTH sign-in of this account can begin with. */
export async function firstFactorsOf(
  tx: Transaction | Database,
  progress: SignInProgress,
  call: Call,
): Promise<Choice[]> {
  const factors = await factorsOf(tx, progress, call)
  return factors.flatMap((factor): Choice[] => (factor === 'PASSWORD' ? ['PASSWORD', 'PASSWORD_SRP'] : [factor]))
}

/** Asks for a first factor. A password in the clear is checked where it is given, not asked for. */
export async function askFirstFactor(
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
      return askPasswordVerifier(tx, progress, A, call)
    }
    case 'EMAIL_OTP':
    case 'SMS_OTP': {
      const medium = choice === 'EMAIL_OTP' ? 'EMAIL' : 'SMS'
      const to = user && (await provableDestination(tx, user, medium))
      return user && to
        ? askForCode(tx, { ...progress, user }, choice, to, call)
        : simulateDelivery(tx, progress, choice, medium, call)
    }
    case 'WEB_AUTHN':
      return askPasskey(tx, progress, call)
  }
}
