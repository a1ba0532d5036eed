import { changeAccount } from '../accounts.ts'
import { onNamed } from '../administered.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'
import { endSignIns } from '../sign-outs.ts'

export const adminDisableUser = administration(input.named, (given, call) =>
  onNamed(given, call, async (tx, user) => {
    await endSignIns(tx, user.id, 'disabled', call.context.clock.now())
    if (user.enabled) await changeAccount(tx, user, { enabled: false }, ['enabled'], call)
    return {}
  }),
)
