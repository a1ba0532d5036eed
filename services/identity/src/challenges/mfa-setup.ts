import type { Transaction } from '@robokids/runtime/db'
import { readCode } from '@robokids/contracts/code'
import { emailKey } from '@robokids/contracts/fields'
import { changeAccount, takeAlias } from '../users/accounts.ts'
import { readAttributes } from '../users/attributes.ts'
import { countClaim } from '../factors/codes.ts'
import { IdentityError, invalid, missing, orThrow } from '../protocol/errors.ts'
import { consumeAttempt } from '../limits/limits.ts'
import { findClient } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import type { User } from '../schema.ts'
import { complete } from '../sign-in/sign-in.ts'
import { addressesOf, issueCodeChallenge } from '../factors/sign-in-codes.ts'
import {
  issueChallenge,
  clientOfSession,
  endStep,
  findStep,
  keepStep,
  type OpenStep,
  type SignInProgress,
} from '../sign-in/sign-in-steps.ts'
import { signOutOthers } from '../factors/mfa-preference.ts'
import { secondFactorOf } from '../sign-in/second-factor.ts'
import { newTotpSecret, sealTotpSecret, totpStep } from '../factors/totp.ts'
import { requireAccount, onLockedStep } from './answering.ts'

/** MFA setup during a sign-in: an authenticator verified by session, or an e-mail address. */
export const mfaSetup = onLockedStep(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  const progress = requireAccount(step)
  const { user, state, client } = progress
  const email = responses['EMAIL']
  if (email === undefined) {
    if (state.step['verified'] !== true) throw invalid('Verify the authenticator first.')
    await endStep(tx, step)
    return complete(tx, progress, call, tokens, { secondFactor: true })
  }
  const addresses = await addressesOf(tx, user)
  const second = secondFactorOf(progress, addresses)
  if (second.need !== 'set_up' || !second.factors.includes('EMAIL_OTP')) throw missing('Session')
  readAttributes([{ Name: 'email', Value: email }])
  await endStep(tx, step)
  await countClaim(tx, client.pool.id, email, call)
  return issueCodeChallenge(
    tx,
    { ...progress, state: { ...state, step: { email } } },
    'EMAIL_OTP',
    { medium: 'EMAIL', destination: email },
    call,
  )
})

/** Makes the address that the code proved the account's address and second factor. */
export async function chooseEmail(
  tx: Transaction,
  { client, user, state }: SignInProgress & { user: User },
  call: Call,
): Promise<User> {
  const { email } = state.step
  if (typeof email !== 'string') return user
  await takeAlias(tx, client.pool, user, 'email', email, call)
  if (user.mfa.length === 0) await signOutOthers(tx, user, call)
  const { email: _successor, ...keptAddresses } = user.keptAddresses
  return changeAccount(
    tx,
    user,
    {
      attributes: { ...user.attributes, email, email_verified: 'true' },
      keptAddresses,
      emailKey: emailKey(email),
      mfa: [...new Set([...user.mfa, 'EMAIL_OTP' as const])],
    },
    ['email', 'mfa'],
    call,
  )
}

/** Runs `work` with the rows of the sign-in that sets up a factor locked. It is found by its session alone. */
async function withSetUpStep<T>(
  session: string,
  call: Call,
  work: (tx: Transaction, step: OpenStep) => Promise<T | IdentityError>,
): Promise<T> {
  await consumeAttempt(call)
  const client = await findClient(await clientOfSession(session, call), call.context)
  const outcome = await call.context.db.transaction(async (tx) =>
    work(tx, await findStep(tx, session, 'MFA_SETUP', client, call, { lock: true })),
  )
  return orThrow(outcome)
}

/** AssociateSoftwareToken, authorized by a sign-in's session. */
export function associateBySession(session: string, call: Call): Promise<{ SecretCode: string; Session: string }> {
  return withSetUpStep(session, call, async (tx, step) => {
    const progress = requireAccount(step)
    const second = secondFactorOf(progress, await addressesOf(tx, progress.user))
    if (second.need !== 'set_up' || !second.factors.includes('SOFTWARE_TOKEN_MFA')) {
      throw new IdentityError(
        'SoftwareTokenMFANotFoundException',
        'Software token TOTP multi-factor authentication is not enabled for this user pool.',
      )
    }
    const secret = newTotpSecret()
    await endStep(tx, step)
    const { Session = '' } = await issueChallenge(
      tx,
      { ...progress, state: { ...progress.state, step: { secret } } },
      'MFA_SETUP',
      {},
      call,
    )
    return { SecretCode: secret, Session }
  })
}

/** VerifySoftwareToken, authorized by a sign-in's session. The authenticator becomes the account's second factor. */
export function verifyBySession(
  session: string,
  code: string,
  call: Call,
): Promise<{ Status: 'SUCCESS'; Session: string }> {
  return withSetUpStep(session, call, async (tx, step) => {
    const progress = requireAccount(step)
    const { user, state } = progress
    const { config, clock } = call.context
    const { secret } = state.step
    if (typeof secret !== 'string') {
      throw new IdentityError('SoftwareTokenMFANotFoundException', 'Associate a software token first.')
    }
    const taken = totpStep(secret, readCode(code), clock.now())
    if (taken === undefined) return keepStep(tx, step, wrongSetUpCode())
    if (user.mfa.length === 0) await signOutOthers(tx, user, call)
    await changeAccount(
      tx,
      user,
      {
        sealedTotpSecret: sealTotpSecret(secret, user.id, config),
        totpLastStep: taken,
        mfa: [...new Set([...user.mfa, 'SOFTWARE_TOKEN_MFA' as const])],
      },
      ['mfa'],
      call,
    )
    await endStep(tx, step)
    const { Session = '' } = await issueChallenge(
      tx,
      { ...progress, state: { ...state, step: { verified: true } } },
      'MFA_SETUP',
      {},
      call,
    )
    return { Status: 'SUCCESS' as const, Session }
  })
}

/** The error name is the protocol's. */
export const wrongSetUpCode = () =>
  new IdentityError(
    'EnableSoftwareTokenMFAException',
    'The code doesn’t match. Wait for the next one in your app and enter it.',
  )
