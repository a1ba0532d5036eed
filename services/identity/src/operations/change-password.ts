import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { withAuthenticatedUser, setPassword } from '../users/accounts.ts'
import { wrongPassword } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { countWithin } from '../limits/limits.ts'
import { checkPolicy, isPassword, newPassword } from '../factors/passwords.ts'
import { operation } from '../protocol/protocol.ts'
import { limits } from '../schema.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const changePassword = (tokens: Tokens) =>
  operation(
    z.object({
      AccessToken: input.accessToken,
      PreviousPassword: input.password.optional(),
      ProposedPassword: input.password,
    }),
    async (given, call) => {
      const { context } = call
      const { user: holder, client, signIn: asking } = await tokens.authenticate(given.AccessToken)
      call.hashing.account = holder.id
      checkPolicy(given.ProposedPassword, client.pool.settings.passwordPolicy)
      // A stolen token must not allow guessing the password, or using up its owner's attempts.
      const key = `change-password:${asking.id}`
      await countWithin(context.db, context, { key, max: context.config.CODE_TRIES, within: { hours: 1 } })
      // An account without a password gets its first one.
      const isKnown =
        holder.passwordHash === null
          ? given.PreviousPassword === undefined
          : await isPassword(given.PreviousPassword ?? '', holder, call)
      const password = isKnown ? await newPassword(given.ProposedPassword, client.pool, call) : undefined
      return withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, { client: { pool }, signIn }) => {
        // The password changed while it was being checked.
        if (!password || user.passwordHash !== holder.passwordHash) return wrongPassword()
        await tx.delete(limits).where(eq(limits.key, key))
        await setPassword(tx, user, pool, password, {}, call, signIn.id)
        return {}
      })
    },
  )
