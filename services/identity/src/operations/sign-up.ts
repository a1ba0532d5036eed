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
import { findByPasswordTag } from '../users/unconfirmed.ts'
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
     * Not in the public protocol: makes the sign-up idempotent, also in parallel. Until it is confirmed, a sign-up with
     * the same address and password continues the earlier one, whose username is returned in `Username`.
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
      const user = known ? await updateUnconfirmed(tx, known, attributes, now) : await insert(tx)
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
        ? await resumeOrBegin({ pool, email, password }, begin, call)
        : await db.transaction((tx) => begin(tx, undefined))
    return {
      UserSub: user.id,
      UserConfirmed: false,
      ...(given.Repeatable ? { Username: user.username } : {}),
      ...(delivery ? { CodeDeliveryDetails: delivery } : {}),
    }
  },
)

/** Updates an unconfirmed account with the attributes given now, which may correct a typo. */
async function updateUnconfirmed(
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
 * Resumes the unconfirmed account with this address and password, or begins a new one. A lock per address ensures that
 * parallel sign-ups create one account; the slow password comparison runs outside it.
 */
async function resumeOrBegin<T>(
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
      const likely = await findByPasswordTag(tx, pool, email, password, context)
      if (likely && likely.id !== compared?.id) return { likely }
      const known = likely && compared?.isSame ? await lockUser(tx, likely.id) : undefined
      return { begun: await begin(tx, known?.status === 'UNCONFIRMED' ? known : undefined) }
    })
    if (!outcome.likely) return outcome.begun
    const { likely } = outcome
    compared = { id: likely.id, isSame: await isPassword(password, likely, call) }
  }
}
