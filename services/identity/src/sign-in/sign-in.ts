import { randomBytes, randomUUID } from 'node:crypto'
import type { Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import { findDevice, newDevice, noDevice } from '../factors/devices.ts'
import { disabled, IdentityError, notConfirmed } from '../protocol/errors.ts'
import type { Call } from '../protocol/protocol.ts'
import { refreshTokens, signIns, users, type User } from '../schema.ts'
import { askSecondFactor, otherProofNeeded, secondFactorOf } from './second-factor.ts'
import { addressesOf } from '../factors/sign-in-codes.ts'
import { rememberAddress } from '../limits/sign-in-limits.ts'
import { ask, type AuthAnswer, type SignInProgress } from './sign-in-steps.ts'
import { hashToken, type Tokens } from './tokens.ts'

/** @throws IdentityError for an account that may not sign in now. Only to be told to who has proven a first factor. */
export function checkState(user: User): void {
  if (!user.enabled) throw disabled()
  if (user.status === 'UNCONFIRMED') throw notConfirmed()
  if (user.status === 'RESET_REQUIRED') {
    throw new IdentityError('PasswordResetRequiredException', 'Password reset required for the user')
  }
}

/** Attributes that come with a new password in place of a temporary one: what the pool verifies and the account has not. */
export function missingAttributes({ client, user }: SignInProgress & { user: User }): string[] {
  return client.pool.settings.autoVerified.filter((attribute) => !user.attributes[attribute])
}

/**
 * Goes on after a proven first factor: the account's state, a new password in place of a temporary one, a known device
 * in place of a second factor, the second factor or its set-up, and the tokens.
 */
export async function proceed(
  tx: Transaction,
  progress: SignInProgress & { user: User },
  call: Call,
  tokens: Tokens,
): Promise<AuthAnswer> {
  const { user, state, client } = progress
  checkState(user)
  if (user.status === 'FORCE_CHANGE_PASSWORD') {
    return ask(
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
  if (state.deviceKey !== undefined && !device) throw noDevice()
  const addresses = await addressesOf(tx, user)
  const second = secondFactorOf(progress, addresses)
  const isConfirmed = device && device.sealedSrpVerifier !== null && client.pool.settings.devices !== 'OFF'
  // After a device's proof clients expect tokens and nothing else: a device that does not stand for a second factor is
  // not asked where one is needed. Any of the account's own does where nothing else but the mailbox has spoken for it.
  const { need } = second
  const stands = need === 'nothing' || (need !== 'set_up' && device?.remembered)
  if (isConfirmed && (stands || (need === 'other_proof' && user.resetBy !== null))) {
    const asked = { ...state, deviceStands: need !== 'nothing', step: {} }
    return ask(tx, { ...progress, state: asked }, 'DEVICE_SRP_AUTH', {}, call)
  }
  if (second.need === 'other_proof') throw otherProofNeeded(progress)
  if (second.need !== 'nothing') return askSecondFactor(tx, progress, second, addresses, call)
  const secondFactor = state.personVerified === true || state.mailProven === true
  return complete(tx, progress, call, tokens, { secondFactor })
}

/**
 * Signs in: everything that was asked for is proven.
 * @param secondFactor whether that was more than a first factor.
 */
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
  // Whoever knows the new password has more than the mailbox that it was chosen by. Another way in says nothing of it.
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
