import { userConfirmed } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { pretendTry, takeCode, wasCode } from '../codes.ts'
import { disabled, expiredCode, IdentityError, orThrow, unknownUser } from '../errors.ts'
import { answerEvenly } from '../even-answers.ts'
import * as input from '../inputs.ts'
import { countGuess } from '../limits.ts'
import { clientOf, type Pool } from '../pools.ts'
import { operation } from '../protocol.ts'
import { users, type User } from '../schema.ts'
import { ask } from '../sign-in-steps.ts'
import { accountOf, findByUnverifiedEmail, findUser, lockUser, takeAlias } from '../users.ts'

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
    const client = await clientOf(given, context)
    const { pool, settings } = client
    const tellsUsers = settings.preventUserExistenceErrors === 'LEGACY'
    const confirm = () =>
      context.db.transaction(async (tx) => {
        const found = await findUnconfirmed(tx, pool, given.Username)
        const [first] = found
        if (!first && tellsUsers) return unknownUser()
        if (first && first.status !== 'UNCONFIRMED' && tellsUsers) {
          return new IdentityError(
            'NotAuthorizedException',
            `User cannot be confirmed. Current status is ${first.status}`,
          )
        }
        let user: User | undefined
        let taken: { destination: string } | IdentityError = expiredCode()
        for (const { id } of found) {
          user = await lockUser(tx, id)
          if (user?.status !== 'UNCONFIRMED') continue
          taken = await takeCode(tx, user, 'sign_up', given.ConfirmationCode, call)
          if (!(taken instanceof IdentityError)) break
        }
        if (taken instanceof IdentityError) {
          // That a code is over is told to who knows it; to others, that there is none would tell of the account.
          if (taken.name !== 'ExpiredCodeException' || tellsUsers) return taken
          const isOver = first && (await wasCode(tx, first, 'sign_up', given.ConfirmationCode, call))
          return isOver ? taken : pretendTry(tx, pool, 'sign_up', given.Username, call)
        }
        if (!user) throw new Error('A code was taken of nobody.')
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
          state: { flow: 'USER_AUTH' as const, given: given.Username, step: { confirmed: true } },
        }
        const { Session } = await ask(tx, progress, 'SELECT_CHALLENGE', {}, call)
        return { Session }
      })
    return answerEvenly(context.config.EVEN_ANSWER_MS, async () => {
      await countGuess(call)
      return orThrow(await confirm())
    })
  },
)

/**
 * Whom a name may be confirmed as. Several may have signed up with one e-mail address: which of them it was whose code
 * came there, the code tells.
 */
async function findUnconfirmed(tx: Transaction, pool: Pool, name: string): Promise<User[]> {
  const found = await findUser(tx, pool, name)
  if (!found) return []
  if (found.username === name || found.status !== 'UNCONFIRMED') return [found]
  const others = await findByUnverifiedEmail(tx, pool, name)
  return others.length > 0 ? others.filter(({ status }) => status === 'UNCONFIRMED') : [found]
}
