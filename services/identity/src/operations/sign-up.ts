import { randomUUID } from 'node:crypto'
import { emailKey } from '@robokids/contracts/fields'
import { userSignedUp } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { attributeListSchema, readAttributes } from '../users/attributes.ts'
import { issueFirstCode } from '../factors/codes.ts'
import { IdentityError, invalid } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { countRequest } from '../limits/limits.ts'
import { checkPolicy, isPassword, newPassword, storePassword } from '../factors/passwords.ts'
import { clientOf, type Pool } from '../pools/pools.ts'
import { operation, type Call } from '../protocol/protocol.ts'
import { users, type User } from '../schema.ts'
import { isSimulatedName } from '../users/simulated-account.ts'
import { signUpDestination } from '../users/sign-up-destination.ts'
import { findLikely } from '../users/unconfirmed.ts'
import { checkNewUsername } from '../users/usernames.ts'
import { lockUser, publishAccount } from '../users/users.ts'

const nameTaken = () => new IdentityError('UsernameExistsException', 'User already exists')

export const signUp = operation(
  z.object({
    ClientId: input.clientId,
    Username: input.username,
    Password: input.password.optional(),
    UserAttributes: attributeListSchema.default([]),
    /**
     * Ours: sent again, also at once, it makes no other account, and whose it is is answered in `Username`. It is the same
     * sign-up where the address and the password are, until that is confirmed.
     */
    Repeatable: z.boolean().default(false),
    SecretHash: input.secretHash,
  }),
  async (given, call) => {
    const { context } = call
    const { db, clock } = context
    const client = await clientOf(given, context)
    const { pool } = client
    if (!pool.settings.selfSignUp) {
      throw new IdentityError('NotAuthorizedException', 'SignUp is not permitted for this user pool')
    }
    checkNewUsername(pool, given.Username)
    const attributes = readAttributes(given.UserAttributes)
    const passwordless = pool.settings.firstFactors.some((factor) => factor !== 'PASSWORD')
    if (given.Password === undefined && !passwordless) throw invalid('Missing required parameter Password')
    if (given.Password !== undefined) checkPolicy(given.Password, pool.settings.passwordPolicy)
    await countRequest(call)

    const id = randomUUID()
    const { email, phone_number: phone } = attributes
    if (email !== undefined) attributes['email_verified'] = 'false'
    if (phone !== undefined) attributes['phone_number_verified'] = 'false'
    const now = clock.now()
    const stored =
      given.Password === undefined
        ? {}
        : storePassword(await newPassword(given.Password, pool, call), { id, username: given.Username }, pool, context)

    const begin = async (tx: Transaction, known: User | undefined) => {
      const user = known ? await renew(tx, known, attributes, now) : await insert(tx)
      const to = signUpDestination(user, pool)
      return { user, delivery: to ? await issueFirstCode(tx, user, pool, to, call) : undefined }
    }
    const insert = async (tx: Transaction) => {
      if (await isSimulatedName(tx, pool, given.Username)) throw nameTaken()
      const [user] = await tx
        .insert(users)
        .values({
          id,
          poolId: pool.id,
          username: given.Username,
          status: 'UNCONFIRMED',
          attributes,
          emailKey: email === undefined ? null : emailKey(email),
          createdAt: now,
          updatedAt: now,
          ...stored,
        })
        .onConflictDoNothing({ target: [users.poolId, users.username] })
        .returning()
      if (!user) throw nameTaken()
      await publishAccount(tx, userSignedUp, user, {})
      return user
    }

    const { Password: password } = given
    const { user, delivery } =
      given.Repeatable && email !== undefined && password !== undefined
        ? await once({ pool, email, password }, begin, call)
        : await db.transaction((tx) => begin(tx, undefined))
    return {
      UserSub: user.id,
      UserConfirmed: false,
      ...(given.Repeatable ? { Username: user.username } : {}),
      ...(delivery ? { CodeDeliveryDetails: delivery } : {}),
    }
  },
)

/** A sign-up that was begun before, with what is given now: a slip of the pen may have been mended. */
async function renew(
  tx: Transaction,
  known: User,
  attributes: Record<string, string>,
  now: Temporal.Instant,
): Promise<User> {
  const change = { attributes, createdAt: now, updatedAt: now }
  const [user] = await tx.update(users).set(change).where(eq(users.id, known.id)).returning()
  if (!user) throw new Error('The account was not written.')
  return user
}

/**
 * Begins a sign-up with the account that the same person has begun with, if there is one: one that is yet to be confirmed,
 * of that address and that password. One sign-up of an address at a time, so that many at once make one account; passwords
 * are compared outside of that, since it takes a while.
 */
async function once<T>(
  { pool, email, password }: { pool: Pool; email: string; password: string },
  begin: (tx: Transaction, known: User | undefined) => Promise<T>,
  call: Call,
): Promise<T> {
  const { context } = call
  let compared: { id: string; isSame: boolean } | undefined
  for (;;) {
    const outcome = await context.db.transaction(async (tx) => {
      const name = `sign-up:${pool.id}:${emailKey(email)}`
      await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`)
      const likely = await findLikely(tx, pool, email, password, context)
      if (likely && likely.id !== compared?.id) return { likely }
      const known = likely && compared?.isSame ? await lockUser(tx, likely.id) : undefined
      return { begun: await begin(tx, known?.status === 'UNCONFIRMED' ? known : undefined) }
    })
    if (!outcome.likely) return outcome.begun
    const { likely } = outcome
    compared = { id: likely.id, isSame: await isPassword(password, likely, call) }
  }
}
