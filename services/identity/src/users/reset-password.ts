import { emailKey } from '@robokids/contracts/fields'
import type { Database, Transaction } from '@robokids/runtime/db'
import type { Destination } from '../factors/one-time-codes.ts'
import { IdentityError, invalid } from '../protocol/errors.ts'
import type { User } from '../schema.ts'
import { verifiedAddress } from './users.ts'

export const notResettable = () =>
  new IdentityError('NotAuthorizedException', 'User password cannot be reset in the current state.')
export const noResetDestination = () =>
  invalid('Cannot reset password for the user as there is no registered/verified email or phone_number')

/**
 * Returns where the reset code goes: to a verified address, e-mail first, else to the e-mail address that was given and
 * never verified, which the code then verifies.
 * @param name the requested username or address, for clients that must not learn about accounts. By address, the code
 * goes to that address; by username, never to an unverified one, since that would reveal whether somebody else has
 * verified it.
 */
export async function resetDestination(
  db: Database | Transaction,
  user: User,
  name?: string,
): Promise<Destination | undefined> {
  const email = await verifiedAddress(db, user, 'email')
  if (email) return { medium: 'EMAIL', destination: email }
  const given = user.attributes['email']
  const claimed = given ? ({ medium: 'EMAIL', destination: given } as const) : undefined
  if (claimed && name !== undefined && emailKey(name) === user.emailKey) return claimed
  const phone = await verifiedAddress(db, user, 'phone_number')
  if (phone) return { medium: 'SMS', destination: phone }
  return name === undefined ? claimed : undefined
}
