import { userConfirmed } from '@robokids/contracts/identity'
import { eq } from 'drizzle-orm'
import { padResponseTime } from '@robokids/runtime/response-time'
import { z } from 'zod'
import { takeAlias } from '../users/accounts.ts'
import { codeSubject, takeCode } from '../factors/codes.ts'
import {
  disabled,
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
import { ask } from '../sign-in/sign-in-steps.ts'
import { signUpDestination } from '../users/sign-up-destination.ts'
import { findByPassword, findUnconfirmed } from '../users/unconfirmed.ts'
import { findByName, isSameAddress, lockUser, publishAccount } from '../users/users.ts'

export const confirmSignUp = operation(
  z.object({
    ClientId: input.clientId,
    Username: input.username,
    ConfirmationCode: input.code,
    ForceAliasCreation: z.boolean().default(false),
    /** Ours: where it is given, an account is confirmed that has it: the one that is meant, of several that gave the address. */
    Password: input.password.optional(),
    SecretHash: input.secretHash,
  }),
  async (given, call) => {
    const { context } = call
    const client = await clientOf(given, context)
    const { pool, settings } = client
    const tellsUsers = settings.preventUserExistenceErrors === 'LEGACY'
    const confirm = (own: User | undefined) =>
      context.db.transaction(async (tx) => {
        const found = await findUnconfirmed(tx, pool, given.Username)
        const meant = own ?? found.user
        const user = meant && (await lockUser(tx, meant.id))
        if (!user && tellsUsers) return unknownUser()
        if (user && user.status !== 'UNCONFIRMED' && tellsUsers) {
          return new IdentityError(
            'NotAuthorizedException',
            `User cannot be confirmed. Current status is ${user.status}`,
          )
        }
        const subject = await codeSubject(tx, pool, given.Username, user, user && signUpDestination(user, pool))
        const key = { poolId: pool.id, purpose: 'sign_up' as const, subject }
        const taken = await takeCode(tx, key, given.ConfirmationCode, call, { tellsUsers })
        if (taken instanceof IdentityError) return taken
        if (user?.status !== 'UNCONFIRMED') return expiredCode()
        // The code proves the mailbox, and the password says which account its reader made. Thrown, a refusal leaves the
        // code as it was.
        if (found.several && given.Password === undefined) throw missing('Password')
        if (given.Password !== undefined && own?.id !== user.id) throw wrongPassword()
        if (!user.enabled) throw disabled()
        const attributes = { ...user.attributes }
        for (const attribute of ['email', 'phone_number'] as const) {
          // Changed since the code was sent: it was not proven.
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
        const { Session } = await ask(tx, progress, 'SELECT_CHALLENGE', {}, call)
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
