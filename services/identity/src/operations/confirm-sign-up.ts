import { userConfirmed } from '@robokids/contracts/identity'
import { eq } from 'drizzle-orm'
import { padResponseTime } from '@robokids/runtime/response-time'
import { z } from 'zod'
import { takeAlias } from '../users/accounts.ts'
import { codeSubject, takeCode } from '../factors/codes.ts'
import {
  userDisabled,
  expiredCode,
  IdentityError,
  missing,
  orThrow,
  unknownUser,
  wrongPassword,
} from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { consumeAttempt } from '../limits/limits.ts'
import { isPassword } from '../factors/passwords.ts'
import { clientOf } from '../pools/pools.ts'
import { operation } from '../protocol/protocol.ts'
import { users, type User } from '../schema.ts'
import { issueChallenge } from '../sign-in/sign-in-steps.ts'
import { signUpDestination } from '../users/sign-up-destination.ts'
import { findByPassword, findUnconfirmed } from '../users/unconfirmed.ts'
import { findByName, isSameAddress, lockUser, publishAccount } from '../users/users.ts'

export const confirmSignUp = operation(
  z.object({
    ClientId: input.clientId,
    Username: input.username,
    ConfirmationCode: input.code,
    ForceAliasCreation: z.boolean().default(false),
    /**
     * Not in the public protocol: confirms the account that has this password, if several accounts gave the address.
     */
    Password: input.password.optional(),
    SecretHash: input.secretHash,
  }),
  async (given, call) => {
    const { context } = call
    const client = await clientOf(given, context)
    const { pool, settings } = client
    const revealsUsers = settings.preventUserExistenceErrors === 'LEGACY'
    const confirm = (own: User | undefined) =>
      context.db.transaction(async (tx) => {
        const found = await findUnconfirmed(tx, pool, given.Username)
        const meant = own ?? found.user
        const user = meant && (await lockUser(tx, meant.id))
        if (!user && revealsUsers) return unknownUser()
        if (user && user.status !== 'UNCONFIRMED' && revealsUsers) {
          return new IdentityError(
            'NotAuthorizedException',
            `User cannot be confirmed. Current status is ${user.status}`,
          )
        }
        const subject = await codeSubject(tx, pool, given.Username, user, user && signUpDestination(user, pool))
        const key = { poolId: pool.id, purpose: 'sign_up' as const, subject }
        const taken = await takeCode(tx, key, given.ConfirmationCode, call, { revealsUsers })
        if (taken instanceof IdentityError) return taken
        if (user?.status !== 'UNCONFIRMED') return expiredCode()
        // The code proves the mailbox; the password tells which account its reader created. A thrown error leaves the
        // code unused.
        if (found.several && given.Password === undefined) throw missing('Password')
        if (given.Password !== undefined && own?.id !== user.id) throw wrongPassword()
        if (!user.enabled) throw userDisabled()
        const attributes = { ...user.attributes }
        for (const attribute of ['email', 'phone_number'] as const) {
          // The address changed after the code was sent, so it is not verified.
          const value = attributes[attribute]
          if (value === undefined || !isSameAddress(attribute, value, taken.destination)) continue
          await takeAlias(tx, pool, user, attribute, value, call, given.ForceAliasCreation)
          attributes[`${attribute}_verified`] = 'true'
        }
        const [confirmed] = await tx
          .update(users)
          .set({ status: 'CONFIRMED', attributes, updatedAt: context.clock.now() })
          .where(eq(users.id, user.id))
          .returning()
        if (!confirmed) throw new Error('The account was not written.')
        await publishAccount(tx, userConfirmed, confirmed, {})
        if (!settings.flows.includes('ALLOW_USER_AUTH')) return {}
        const progress = {
          client,
          username: user.username,
          user: confirmed,
          state: { flow: 'USER_AUTH' as const, given: given.Username, step: { confirmed: true } },
        }
        const { Session } = await issueChallenge(tx, progress, 'SELECT_CHALLENGE', {}, call)
        return { Session }
      })
    const ownerOf = async (password: string) => {
      const byAddress = await findByPassword(pool, given.Username, password, call)
      if (byAddress) return byAddress
      const named = await findByName(context.db, pool, given.Username)
      return (await isPassword(password, named, call)) ? named : undefined
    }
    return padResponseTime(context.config.EVEN_ANSWER_MS, async () => {
      await consumeAttempt(call)
      const { Password: password } = given
      return orThrow(await confirm(password === undefined ? undefined : await ownerOf(password)))
    })
  },
)
