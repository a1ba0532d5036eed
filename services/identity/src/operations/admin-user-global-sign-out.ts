import { onNamed } from '../administered.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'
import { endSignIns } from '../sign-outs.ts'

export const adminUserGlobalSignOut = administration(input.named, (given, call) =>
  onNamed(given, call, async (tx, user) => {
    await endSignIns(tx, user.id, 'signed_out', call.context.clock.now())
    return {}
  }),
)
