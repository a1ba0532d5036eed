import { userConfirmed } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, gt, inArray } from 'drizzle-orm'
import { z } from 'zod'
import { pretendTry, takeCode, wasCode } from '../codes.ts'
import { disabled, expiredCode, IdentityError, missing, orThrow, unknownUser, wrongPassword } from '../errors.ts'
import { answerEvenly } from '../even-answers.ts'
import * as input from '../inputs.ts'
import { countGuess } from '../limits.ts'
import { isPassword } from '../passwords.ts'
import { clientOf, type Pool } from '../pools.ts'
import { operation, type Call } from '../protocol.ts'
import { codes, users, type User } from '../schema.ts'
import { ask } from '../sign-in-steps.ts'
import { accountOf, aliasValue, findUnconfirmed, isVerified, lockUser, takeAlias } from '../users.ts'

export const confirmSignUp = operation(
  z.object({
    ClientId: input.clientId,
    Username: input.username,
    ConfirmationCode: input.code,
    ForceAliasCreation: z.boolean().default(false),
    /** Ours: which account is meant, where several signed up with the address that it is confirmed by. */
    Password: input.password.optional(),
    SecretHash: input.secretHash,
  }),
  async (given, call) => {
    const { context } = call
    const client = await clientOf(given, context)
    const { pool, settings } = client
    const tellsUsers = settings.preventUserExistenceErrors === 'LEGACY'
    const confirm = (fitting: string[]) =>
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
          const locked = await lockUser(tx, id)
          if (locked?.status !== 'UNCONFIRMED') continue
          taken = await takeCode(tx, locked, 'sign_up', given.ConfirmationCode, call)
          user = locked
          if (!(taken instanceof IdentityError)) break
        }
        if (taken instanceof IdentityError) {
          // That a code is over is told to who knows it; to others, that there is none would tell of the account.
          if (taken.name !== 'ExpiredCodeException' || tellsUsers) return taken
          const isOver = first && (await wasCode(tx, first, 'sign_up', given.ConfirmationCode, call))
          return isOver ? taken : pretendTry(tx, pool, 'sign_up', given.Username, first, call)
        }
        // The newest code may be that of somebody else's sign-up: the code proves the mailbox, and the password says which
        // account its reader made. Thrown, a refusal leaves the code as it was.
        if (found.length > 1) {
          if (given.Password === undefined) throw missing('Password')
          const meant = [user?.id, ...found.map(({ id }) => id)].find((id) => id !== undefined && fitting.includes(id))
          user = meant === undefined ? undefined : await lockUser(tx, meant)
          if (user?.status !== 'UNCONFIRMED') throw wrongPassword()
        }
        if (!user) throw new Error('A code was taken of nobody.')
        if (!user.enabled) throw disabled()
        const attributes = { ...user.attributes }
        for (const attribute of ['email', 'phone_number'] as const) {
          // Changed since the code was sent: it was not proven.
          const own = attributes[attribute]
          if (own === undefined || aliasValue(attribute, own) !== aliasValue(attribute, taken.destination)) continue
          await takeAlias(tx, pool, user, attribute, own, given.ForceAliasCreation)
          attributes[`${attribute}_verified`] = 'true'
        }
        const [confirmed] = await tx
          .update(users)
          .set({ status: 'CONFIRMED', attributes, updatedAt: context.clock.now() })
          .where(eq(users.id, user.id))
          .returning()
        if (!confirmed) throw new Error('The account was not written.')
        await endOthersCodes(tx, confirmed, call)
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
      return orThrow(await confirm(await fittingIn(pool, given, context)))
    })
  },
)

/** Whose password was given, of those whom the name may be confirmed as. */
async function fittingIn(
  pool: Pool,
  given: { Username: string; Password?: string | undefined },
  context: Call['context'],
): Promise<string[]> {
  const { Password: password } = given
  if (password === undefined) return []
  const found = await findUnconfirmed(context.db, pool, given.Username)
  const fits = await Promise.all(found.map((user) => isPassword(password, user, context)))
  return found.filter((_, index) => fits[index]).map(({ id }) => id)
}

/** The address is somebody's now: codes of others who signed up with it confirm nothing any more. */
async function endOthersCodes(tx: Transaction, user: User, { context }: Call): Promise<void> {
  const { poolId, emailKey } = user
  if (emailKey === null || !isVerified(user, 'email')) return
  const others = tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.poolId, poolId), eq(users.emailKey, emailKey), eq(users.status, 'UNCONFIRMED')))
  const now = context.clock.now()
  await tx
    .update(codes)
    .set({ expiresAt: now })
    .where(and(eq(codes.purpose, 'sign_up'), inArray(codes.userId, others), gt(codes.expiresAt, now)))
}
