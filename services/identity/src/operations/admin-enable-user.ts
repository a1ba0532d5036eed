import { changeAccount } from '../users/accounts.ts'
import { withTargetUser } from '../users/target-user.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'

export const adminEnableUser = administration(input.named, (given, call) =>
  withTargetUser(given, call, async (tx, user) => {
    if (!user.enabled) await changeAccount(tx, user, { enabled: true }, ['enabled'], call)
    return {}
  }),
)
