import { z } from 'zod'
import { deleteAccount, withAuthenticatedUser } from '../users/accounts.ts'
import { wrongPassword } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { consumeAttempt } from '../limits/limits.ts'
import { isPassword } from '../factors/passwords.ts'
import { operation } from '../protocol/protocol.ts'
import { beginAttempt, recordFailure } from '../limits/sign-in-limits.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const deleteUser = (tokens: Tokens) =>
  operation(
    z.object({
      AccessToken: input.accessToken,
      /**
       * Not in the public protocol: if given, it must be the account's password. Failures count like those of sign-ins.
       */
      Password: input.password.optional(),
    }),
    async ({ AccessToken, Password: password }, call) => {
      if (password === undefined) {
        return withAuthenticatedUser(tokens, AccessToken, call, async (tx, user) => {
          await deleteAccount(tx, user)
          return {}
        })
      }
      await consumeAttempt(call)
      const { user: holder } = await tokens.authenticate(AccessToken)
      call.hashing.account = holder.id
      const isKnown = await isPassword(password, holder, call)
      return withAuthenticatedUser(tokens, AccessToken, call, async (tx, user, { signIn }) => {
        const deviceKey = signIn.deviceKey ?? undefined
        const target = { poolId: user.poolId, name: user.username, user, deviceKey }
        await beginAttempt(tx, target, call)
        // The password changed while it was being checked.
        if (!isKnown || user.passwordHash !== holder.passwordHash) {
          await recordFailure(tx, target, call)
          return wrongPassword()
        }
        await deleteAccount(tx, user)
        return {}
      })
    },
  )
