import { eq } from 'drizzle-orm'
import { changeAccount } from '../accounts.ts'
import { onNamed } from '../administered.ts'
import { dropCodes, ownCodeKey } from '../codes.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'
import { signInSteps } from '../schema.ts'
import { endSignIns } from '../sign-outs.ts'

export const adminDisableUser = administration(input.named, (given, call) =>
  onNamed(given, call, async (tx, user) => {
    await endSignIns(tx, user.id, 'disabled', call.context.clock.now())
    // Nobody goes on, once it is enabled again, with what they began before: a sign-in, or an address to change it to.
    await tx.delete(signInSteps).where(eq(signInSteps.userId, user.id))
    await dropCodes(tx, ownCodeKey(user, 'verify_email'))
    await dropCodes(tx, ownCodeKey(user, 'verify_phone_number'))
    if (user.enabled) await changeAccount(tx, user, { enabled: false }, ['enabled'], call)
    return {}
  }),
)
