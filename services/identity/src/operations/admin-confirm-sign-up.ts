import { userConfirmed } from '@robokids/contracts/identity'
import { changeAccount } from '../users/accounts.ts'
import { withTargetUser } from '../users/target-user.ts'
import { IdentityError } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'
import { publishAccount } from '../users/users.ts'

/** Confirms an account without its code. Its address stays unverified. */
export const adminConfirmSignUp = administration(input.named, (given, call) =>
  withTargetUser(given, call, async (tx, user) => {
    if (user.status !== 'UNCONFIRMED') {
      throw new IdentityError('NotAuthorizedException', `User cannot be confirmed. Current status is ${user.status}`)
    }
    const confirmed = await changeAccount(tx, user, { status: 'CONFIRMED' }, [], call)
    await publishAccount(tx, userConfirmed, confirmed, {})
    return {}
  }),
)
