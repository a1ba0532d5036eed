import { randomUUID } from 'node:crypto'
import { emailKey } from '@robokids/contracts/fields'
import { codeMedia, userSignedUp } from '@robokids/contracts/identity'
import { z } from 'zod'
import { setPassword, takeAlias } from '../users/accounts.ts'
import { describeUser } from '../users/target-user.ts'
import { attributeListSchema, readAttributes } from '../users/attributes.ts'
import { IdentityError } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { invite, temporaryPassword, temporaryPasswordEnd } from '../users/invitations.ts'
import { checkPolicy, newPassword, storePassword } from '../factors/passwords.ts'
import { findPool, type Pool } from '../pools/pools.ts'
import { administration, type Call } from '../protocol/protocol.ts'
import { users } from '../schema.ts'
import { checkNewUsername } from '../users/usernames.ts'
import { lockTargetUser, publishAccount } from '../users/users.ts'

const request = input.named.extend({
  UserAttributes: attributeListSchema.default([]),
  TemporaryPassword: input.password.optional(),
  ForceAliasCreation: z.boolean().default(false),
  MessageAction: z.enum(['RESEND', 'SUPPRESS']).optional(),
  DesiredDeliveryMediums: z.array(z.enum(codeMedia)).max(2).optional(),
})
type Request = z.infer<typeof request>

export const adminCreateUser = administration(request, async (given, call) => {
  const pool = await findPool(given.UserPoolId, call.context)
  const password = given.TemporaryPassword ?? temporaryPassword(pool)
  checkPolicy(password, pool.settings.passwordPolicy)
  return { User: await (given.MessageAction === 'RESEND' ? resend : create)(given, pool, password, call) }
})

async function create(given: Request, pool: Pool, password: string, call: Call): Promise<object> {
  const { context } = call
  checkNewUsername(pool, given.Username)
  const attributes = readAttributes(given.UserAttributes, true)
  const verified: ('email' | 'phone_number')[] = []
  for (const attribute of ['email', 'phone_number'] as const) {
    const flag = `${attribute}_verified`
    if (attributes[attribute] === undefined) delete attributes[flag]
    else if (attributes[flag] === 'true') verified.push(attribute)
    else attributes[flag] = 'false'
  }
  const id = randomUUID()
  const stored = storePassword(await newPassword(password, pool, call), { id, username: given.Username }, pool, context)
  const passwordExpiresAt = temporaryPasswordEnd(pool, call)
  const now = context.clock.now()
  const { email } = attributes
  return context.db.transaction(async (tx) => {
    const [user] = await tx
      .insert(users)
      .values({
        id,
        poolId: pool.id,
        username: given.Username,
        status: 'FORCE_CHANGE_PASSWORD',
        attributes,
        emailKey: email === undefined ? null : emailKey(email),
        passwordExpiresAt,
        createdAt: now,
        updatedAt: now,
        ...stored,
      })
      .onConflictDoNothing({ target: [users.poolId, users.username] })
      .returning()
    if (!user) throw new IdentityError('UsernameExistsException', 'User already exists')
    for (const attribute of verified) {
      await takeAlias(tx, pool, user, attribute, attributes[attribute] ?? '', call, given.ForceAliasCreation)
    }
    await publishAccount(tx, userSignedUp, user, {})
    if (given.MessageAction !== 'SUPPRESS') {
      await invite(tx, user, password, given.DesiredDeliveryMediums, passwordExpiresAt, call)
    }
    return describeUser(user)
  })
}

/** Sends another invitation with a new password; the previous one, which may be lost, no longer works. */
async function resend(given: Request, pool: Pool, password: string, call: Call): Promise<object> {
  const passwordExpiresAt = temporaryPasswordEnd(pool, call)
  const another = await newPassword(password, pool, call)
  return call.context.db.transaction(async (tx) => {
    const user = await lockTargetUser(tx, pool, given.Username)
    if (user.status !== 'FORCE_CHANGE_PASSWORD') {
      throw new IdentityError(
        'UnsupportedUserStateException',
        `Resend not possible. ${user.username} status is not FORCE_CHANGE_PASSWORD`,
      )
    }
    const changed = await setPassword(tx, user, pool, another, { passwordExpiresAt }, call)
    await invite(tx, changed, password, given.DesiredDeliveryMediums, passwordExpiresAt, call)
    return describeUser(changed)
  })
}
