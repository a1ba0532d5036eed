import { randomBytes, randomUUID } from 'node:crypto'
import type { Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import { findDevice, newDevice, deviceNotFound } from '../factors/devices.ts'
import { userDisabled, IdentityError, notConfirmed } from '../protocol/errors.ts'
import type { Call } from '../protocol/protocol.ts'
import { refreshTokens, signIns, users, type User } from '../schema.ts'
import { issueSecondFactorChallenge, otherProofNeeded, secondFactorOf } from './second-factor.ts'
import { addressesOf } from '../factors/sign-in-codes.ts'
import { rememberAddress } from '../limits/sign-in-limits.ts'
import { issueChallenge, type AuthAnswer, type SignInProgress } from './sign-in-steps.ts'
import { hashToken, type Tokens } from './tokens.ts'

/**
 * @throws IdentityError for an account that may not sign in now. To be revealed only after a first factor is proven.
 */
export function checkUserStatus(user: User): void {
  if (!user.enabled) throw userDisabled()
  if (user.status === 'UNCONFIRMED') throw notConfirmed()
  if (user.status === 'RESET_REQUIRED') {
    throw new IdentityError('PasswordResetRequiredException', 'Password reset required for the user')
  }
}

/** Attributes to be given with the new password: those that the pool verifies and the account lacks. */
export function missingAttributes({ client, user }: SignInProgress & { user: User }): string[] {
  return client.pool.settings.autoVerified.filter((attribute) => !user.attributes[attribute])
}

/**
 * Continues after a proven first factor: account status, replacing a temporary password, a trusted device instead of a
 * second factor, the second factor or its setup, tokens.
 */
export async function proceed(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  call: Call,
  tokens: Tokens,
): Promise<AuthAnswer> {
  const { user, state, client } = progress
  checkUserStatus(user)
  if (user.status === 'FORCE_CHANGE_PASSWORD') {
    return issueChallenge(
      tx,
      { ...progress, state: { ...state, step: {} } },
      'NEW_PASSWORD_REQUIRED',
      {
        userAttributes: JSON.stringify(user.attributes),
        requiredAttributes: JSON.stringify(missingAttributes(progress).map((name) => `userAttributes.${name}`)),
      },
      call,
    )
  }
  const device =
    state.deviceKey === undefined ? undefined : await findDevice(tx, user, state.deviceKey, call.context.config)
  if (state.deviceKey !== undefined && !device) throw deviceNotFound()
  const addresses = await addressesOf(tx, user)
  const second = secondFactorOf(progress, addresses)
  const isConfirmed = device && device.sealedSrpVerifier !== null && client.pool.settings.devices !== 'OFF'
  // Clients expect tokens right after a device proof, so a device that does not replace a needed second factor is not
  // challenged. Any device of the account may do so if the password was reset by a code and nothing else is left.
  const { need } = second
  const standsForSecondFactor = need === 'nothing' || (need !== 'set_up' && device?.remembered)
  if (isConfirmed && (standsForSecondFactor || (need === 'other_proof' && user.resetBy !== null))) {
    const asked = { ...state, deviceStands: need !== 'nothing', step: {} }
    return issueChallenge(tx, { ...progress, state: asked }, 'DEVICE_SRP_AUTH', {}, call)
  }
  if (second.need === 'other_proof') throw otherProofNeeded(progress)
  if (second.need !== 'nothing') return issueSecondFactorChallenge(tx, progress, second, addresses, call)
  const secondFactor = state.personVerified === true || state.mailProven === true
  return complete(tx, progress, call, tokens, { secondFactor })
}

/** Completes a sign-in and issues its tokens. @param secondFactor whether a second factor was proven */
export async function complete(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  call: Call,
  tokens: Tokens,
  { secondFactor }: { secondFactor: boolean },
): Promise<AuthAnswer> {
  const { user, client, state } = progress
  const now = call.context.clock.now()
  const device = await newDevice(tx, user, client.pool, { deviceKey: state.deviceKey, secondFactor }, call)
  // Signing in with the new password proves more than the mailbox that reset it. Other first factors do not.
  if (user.resetBy !== null && state.firstFactor === 'PASSWORD')
    await tx.update(users).set({ resetBy: null }).where(eq(users.id, user.id))
  const [signIn] = await tx
    .insert(signIns)
    .values({
      id: randomUUID(),
      userId: user.id,
      poolId: user.poolId,
      clientId: client.id,
      deviceKey: device?.DeviceKey ?? state.deviceKey ?? null,
      signedInAt: now,
      secondFactor,
    })
    .returning()
  if (!signIn) throw new Error('The sign-in was not written.')
  await rememberAddress(tx, user, call, state.deviceKey)
  const issued = await tokens.issue(tx, signIn, user, client)
  const refreshToken = randomBytes(48).toString('base64url')
  const expiresAt = now.add({ seconds: client.settings.refreshTokenSeconds })
  await tx.insert(refreshTokens).values({ hash: hashToken(refreshToken), signInId: signIn.id, expiresAt })
  return {
    AuthenticationResult: {
      ...issued,
      RefreshToken: refreshToken,
      ...(device ? { NewDeviceMetadata: device } : {}),
    },
    ChallengeParameters: {},
  }
}
