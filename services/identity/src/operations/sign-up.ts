import { randomUUID } from 'node:crypto'
import { emailKey } from '@robokids/contracts/fields'
import { userSignedUp } from '@robokids/contracts/identity'
import { publish } from '@robokids/runtime/outbox'
import { z } from 'zod'
import { attributeListSchema, readAttributes } from '../attributes.ts'
import { issueFirstCode, type CodeDeliveryDetails } from '../codes.ts'
import { IdentityError, invalid } from '../errors.ts'
import * as input from '../inputs.ts'
import { countRequest } from '../limits.ts'
import { checkPolicy, storePassword } from '../passwords.ts'
import { clientOf } from '../pools.ts'
import { operation } from '../protocol.ts'
import { users } from '../schema.ts'
import { isSimulatedName } from '../simulated-account.ts'
import { signUpDestination } from '../sign-up-destination.ts'
import { checkNewUsername } from '../usernames.ts'
import { accountOf } from '../users.ts'

const nameTaken = () => new IdentityError('UsernameExistsException', 'User already exists')

export const signUp = operation(
  z.object({
    ClientId: input.clientId,
    Username: input.username,
    Password: input.password.optional(),
    UserAttributes: attributeListSchema.default([]),
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
        : await storePassword(given.Password, { id, username: given.Username }, pool, context)

    let delivery: CodeDeliveryDetails | undefined
    await db.transaction(async (tx) => {
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
      await publish(tx, userSignedUp, id, accountOf(user))
      const to = signUpDestination(user, pool)
      if (to) delivery = await issueFirstCode(tx, user, pool, to, call)
    })
    return { UserSub: id, UserConfirmed: false, ...(delivery ? { CodeDeliveryDetails: delivery } : {}) }
  },
)
