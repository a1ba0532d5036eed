import { deleteAccount } from '../users/accounts.ts'
import { withTargetUser } from '../users/target-user.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'

export const adminDeleteUser = administration(input.named, (given, call) =>
  withTargetUser(given, call, async (tx, user) => {
    await deleteAccount(tx, user)
    return {}
  }),
)
