import { eq } from 'drizzle-orm'
import { changeAccount } from '../users/accounts.ts'
import { withTargetUser } from '../users/target-user.ts'
import { dropCodes, ownCodeKey } from '../factors/codes.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'
import { signInSteps } from '../schema.ts'
import { endSignIns } from '../sign-in/sign-outs.ts'

export const adminDisableUser = administration(input.named, (given, call) =>
  withTargetUser(given, call, async (tx, user) => {
    await endSignIns(tx, user.id, 'disabled', call.context.clock.now())
    // Drops unfinished sign-ins and address changes, so that none continues once the account is enabled again.
    await tx.delete(signInSteps).where(eq(signInSteps.userId, user.id))
    await dropCodes(tx, ownCodeKey(user, 'verify_email'))
    await dropCodes(tx, ownCodeKey(user, 'verify_phone_number'))
    if (user.enabled) await changeAccount(tx, user, { enabled: false }, ['enabled'], call)
    return {}
  }),
)
