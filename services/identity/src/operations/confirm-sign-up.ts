import { userConfirmed } from '@robokids/contracts/identity'
import { publish } from '@robokids/runtime/outbox'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { takeCode } from '../codes.ts'
import { disabled, expiredCode, IdentityError, orThrow, unknownUser } from '../errors.ts'
import * as input from '../inputs.ts'
import { countGuess } from '../limits.ts'
import { checkSecretHash, findClient } from '../pools.ts'
import { operation } from '../protocol.ts'
import { users } from '../schema.ts'
import { ask } from '../sign-in.ts'
import { accountOf, findUser, lockUser, takeAlias } from '../users.ts'

export const confirmSignUp = operation(
  z.object({
    ClientId: input.clientId,
    Username: input.username,
    ConfirmationCode: input.code,
    ForceAliasCreation: z.boolean().default(false),
    SecretHash: input.secretHash,
  }),
  async (given, call) => {
    const { context } = call
    const client = await findClient(given.ClientId, context)
    const { pool, settings } = client
    checkSecretHash(client, given.Username, given.SecretHash)
    await countGuess(call)
    const outcome = await context.db.transaction(async (tx) => {
      const found = await findUser(tx, pool, given.Username)
      const user = found && (await lockUser(tx, found.id))
      if (!user) return settings.preventUserExistenceErrors === 'LEGACY' ? unknownUser() : expiredCode()
      if (user.status !== 'UNCONFIRMED') {
        // Only to who is told of accounts: otherwise it would tell that there is one.
        return settings.preventUserExistenceErrors === 'LEGACY'
          ? new IdentityError('NotAuthorizedException', `User cannot be confirmed. Current status is ${user.status}`)
          : expiredCode()
      }
      const taken = await takeCode(tx, user, 'sign_up', given.ConfirmationCode, call)
      if (taken instanceof IdentityError) return taken
      if (!user.enabled) throw disabled()
      const attributes = { ...user.attributes }
      for (const attribute of ['email', 'phone_number'] as const) {
        // Changed since the code was sent: it was not proven.
        if (attributes[attribute] !== taken.destination) continue
        await takeAlias(tx, pool, user, attribute, taken.destination, given.ForceAliasCreation)
        attributes[`${attribute}_verified`] = 'true'
      }
      const [confirmed] = await tx
        .update(users)
        .set({ status: 'CONFIRMED', attributes, updatedAt: context.clock.now() })
        .where(eq(users.id, user.id))
        .returning()
      if (!confirmed) throw new Error('The account was not written.')
      await publish(tx, userConfirmed, user.id, accountOf(confirmed))
      if (!settings.flows.includes('ALLOW_USER_AUTH')) return {}
      const progress = {
        client,
        username: user.username,
        user: confirmed,
        state: { flow: 'USER_AUTH' as const, step: { confirmed: true } },
      }
      const { Session } = await ask(tx, progress, 'SELECT_CHALLENGE', {}, call)
      return { Session }
    })
    return orThrow(outcome)
  },
)
