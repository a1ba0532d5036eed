import { userConfirmed } from '@robokids/contracts/identity'
import { changeAccount } from '../accounts.ts'
import { onNamed } from '../administered.ts'
import { IdentityError } from '../errors.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'
import { publishAccount } from '../users.ts'

/** Lets somebody in who could not give the code. It does not say that their address is theirs. */
export const adminConfirmSignUp = administration(input.named, (given, call) =>
  onNamed(given, call, async (tx, user) => {
    if (user.status !== 'UNCONFIRMED') {
      throw new IdentityError('NotAuthorizedException', `User cannot be confirmed. Current status is ${user.status}`)
    }
    const confirmed = await changeAccount(tx, user, { status: 'CONFIRMED' }, [], call)
    await publishAccount(tx, userConfirmed, confirmed, {})
    return {}
  }),
)
