import { changeAccount } from '../accounts.ts'
import { onNamed } from '../administered.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'

export const adminEnableUser = administration(input.named, (given, call) =>
  onNamed(given, call, async (tx, user) => {
    if (!user.enabled) await changeAccount(tx, user, { enabled: true }, ['enabled'], call)
    return {}
  }),
)
