import { withTargetUser } from '../users/target-user.ts'
import { forgetDeviceOf } from '../factors/devices.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'

export const adminForgetDevice = administration(input.named.extend({ DeviceKey: input.deviceKey }), (given, call) =>
  withTargetUser(given, call, async (tx, user) => {
    await forgetDeviceOf(tx, user, given.DeviceKey, call)
    return {}
  }),
)
