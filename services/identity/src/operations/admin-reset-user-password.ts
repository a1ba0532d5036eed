import { changeAccount } from '../users/accounts.ts'
import { withTargetUser } from '../users/target-user.ts'
import { issueCode } from '../factors/codes.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'
import { notResettable, noResetDestination, resetDestination } from '../users/reset-password.ts'
import { endSignIns } from '../sign-in/sign-outs.ts'

export const adminResetUserPassword = administration(input.named, (given, call) =>
  withTargetUser(given, call, async (tx, user, pool) => {
    if (user.status === 'UNCONFIRMED' || user.status === 'FORCE_CHANGE_PASSWORD') throw notResettable()
    const to = await resetDestination(tx, user)
    if (!to) throw noResetDestination()
    await endSignIns(tx, user.id, 'password_changed', call.context.clock.now())
    const changed = await changeAccount(tx, user, { status: 'RESET_REQUIRED' }, ['password'], call)
    await issueCode(tx, changed, pool, 'password_reset', to, call)
    return {}
  }),
)
