import { changeAccount } from '../accounts.ts'
import { onNamed } from '../administered.ts'
import { issueCode } from '../codes.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'
import { notResettable, nowhereToReset, resetDestination } from '../reset-password.ts'
import { endSignIns } from '../sign-outs.ts'

export const adminResetUserPassword = administration(input.named, (given, call) =>
  onNamed(given, call, async (tx, user, pool) => {
    if (user.status === 'UNCONFIRMED' || user.status === 'FORCE_CHANGE_PASSWORD') throw notResettable()
    const to = await resetDestination(tx, user)
    if (!to) throw nowhereToReset()
    await endSignIns(tx, user.id, 'password_changed', call.context.clock.now())
    const changed = await changeAccount(tx, user, { status: 'RESET_REQUIRED' }, ['password'], call)
    await issueCode(tx, changed, pool, 'password_reset', to, call)
    return {}
  }),
)
