import { userConfirmed } from '@robokids/contracts/identity'
import { padResponseTime } from '@robokids/runtime/response-time'
import { z } from 'zod'
import { dropCredentials, setPassword } from '../users/accounts.ts'
import { prioritizeKnownCaller } from '../protocol/callers.ts'
import { verifyAttribute } from '../users/change-attributes.ts'
import { codeSubject, takeCode } from '../factors/codes.ts'
import { userDisabled, expiredCode, IdentityError, orThrow, unknownUser } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { consumeAttempt } from '../limits/limits.ts'
import { checkPolicy, newPassword } from '../factors/passwords.ts'
import { clientOf } from '../pools/pools.ts'
import { operation } from '../protocol/protocol.ts'
import { resetDestination } from '../users/reset-password.ts'
import { rememberAddress } from '../limits/sign-in-limits.ts'
import { findUserToReset, isSameAddress, isVerified, lockUser, publishAccount } from '../users/users.ts'

export const confirmForgotPassword = operation(
  z.object({
    ClientId: input.clientId,
    Username: input.username,
    ConfirmationCode: input.code,
    Password: input.password,
    /** Not in the public protocol, as in ForgotPassword. */
    DeviceKey: input.deviceKey.optional(),
    SecretHash: input.secretHash,
  }),
  async (given, call) => {
    const { context } = call
    const client = await clientOf(given, context)
    const { pool, settings } = client
    const revealsUsers = settings.preventUserExistenceErrors === 'LEGACY'
    // Checked first, so that an unacceptable password does not use up the code.
    checkPolicy(given.Password, pool.settings.passwordPolicy)
    return padResponseTime(context.config.EVEN_ANSWER_MS, async () => {
      await consumeAttempt(call)
      const owner = await findUserToReset(context.db, pool, given.Username)
      await prioritizeKnownCaller(context.db, owner, given.DeviceKey, call)
      const password = await newPassword(given.Password, pool, call)
      const outcome = await context.db.transaction(async (tx) => {
        const found = await findUserToReset(tx, pool, given.Username)
        const user = found && (await lockUser(tx, found.id))
        if (!user && revealsUsers) return unknownUser()
        if (user && revealsUsers && !user.enabled) return userDisabled()
        const to = user && (await resetDestination(tx, user, revealsUsers ? undefined : given.Username))
        const subject = await codeSubject(tx, pool, given.Username, user, to)
        const key = { poolId: pool.id, purpose: 'password_reset' as const, subject }
        const { DeviceKey: deviceKey } = given
        const taken = await takeCode(tx, key, given.ConfirmationCode, call, { user, deviceKey, revealsUsers })
        if (taken instanceof IdentityError) return taken
        // The account was disabled or deleted, or its address changed, after the code was sent.
        if (!user?.enabled || user.status === 'FORCE_CHANGE_PASSWORD' || !to) return expiredCode()
        const wasConfirmed = user.status !== 'UNCONFIRMED'
        const change = { status: 'CONFIRMED' as const, resetBy: to.medium }
        let written = await setPassword(tx, user, pool, password, change, call)
        for (const attribute of ['email', 'phone_number'] as const) {
          const own = user.attributes[attribute]
          if (own === undefined || !isSameAddress(attribute, own, taken.destination)) continue
          if (wasConfirmed && !isVerified(user, attribute)) written = await dropCredentials(tx, written, call)
          await verifyAttribute(tx, written, pool, attribute, own, call)
        }
        if (!wasConfirmed) {
          const confirmed = await lockUser(tx, user.id)
          if (confirmed) await publishAccount(tx, userConfirmed, confirmed, {})
        }
        // The mailbox was just proven: failures from elsewhere must not lock out this address.
        await rememberAddress(tx, user, call, deviceKey)
        return {}
      })
      return orThrow(outcome)
    })
  },
)
