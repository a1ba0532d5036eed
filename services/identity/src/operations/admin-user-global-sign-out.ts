import { withTargetUser } from '../users/target-user.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'
import { endSignIns } from '../sign-in/sign-outs.ts'

export const adminUserGlobalSignOut = administration(input.named, (given, call) =>
  withTargetUser(given, call, async (tx, user) => {
    await endSignIns(tx, user.id, 'signed_out', call.context.clock.now())
    return {}
  }),
)
