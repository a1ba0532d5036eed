import type { Database, Transaction } from '@robokids/runtime/db'
import { IdentityError, missing } from './errors.ts'
import { askPasskey, hasPasskeys } from './passkey-steps.ts'
import type { FirstFactor } from './pool-settings.ts'
import type { Call } from './protocol.ts'
import type { User } from './schema.ts'
import { secondFactorOf } from './second-factor.ts'
import { addressesOf, askForCode, pretendToSend, provableDestination, type Addresses } from './sign-in-codes.ts'
import type { AuthAnswer, SignInProgress } from './sign-in-steps.ts'
import { simulateAccount } from './simulated-account.ts'
import { askPasswordVerifier } from './srp-steps.ts'

/** What a USER_AUTH sign-in can begin with, by the protocol's names: a password is given in either of two ways. */
const choices = ['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP', 'SMS_OTP', 'WEB_AUTHN'] as const
export type Choice = (typeof choices)[number]

export function isFirstFactor(name: string): name is Choice {
  return (choices as readonly string[]).includes(name)
}

/** Whether a sign-in that begins so can ever end: a second factor over the same channel is none. */
function leadsOn(factor: FirstFactor, progress: SignInProgress & { user: User }, addresses: Addresses): boolean {
  try {
    secondFactorOf({ ...progress, state: { ...progress.state, firstFactor: factor } }, addresses)
    return true
  } catch (error) {
    if (error instanceof IdentityError) return false
    throw error
  }
}

async function factorsOf(
  tx: Transaction | Database,
  progress: SignInProgress,
  { context }: Call,
): Promise<FirstFactor[]> {
  const { user, client, state } = progress
  const { firstFactors, webAuthn } = client.pool.settings
  const simulated = simulateAccount(client.pool, state.given, context.config)
  const passkeys = webAuthn !== null && (await hasPasskeys(tx, user, webAuthn.relyingPartyId))
  if (!user) return simulated.factors
  const has: Record<FirstFactor, boolean> = {
    PASSWORD: user.passwordHash !== null,
    EMAIL_OTP: (await provableDestination(tx, user, 'EMAIL')) !== undefined,
    SMS_OTP: (await provableDestination(tx, user, 'SMS')) !== undefined,
    WEB_AUTHN: passkeys,
  }
  const addresses = await addressesOf(tx, user)
  const able = firstFactors.filter((factor) => has[factor] && leadsOn(factor, { ...progress, user }, addresses))
  return able.length > 0 ? able : simulated.factors
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
        : pretendToSend(tx, progress, choice, medium, call)
    }
    case 'WEB_AUTHN':
      return askPasskey(tx, progress, call)
  }
}
