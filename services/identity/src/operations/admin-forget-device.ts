import { onNamed } from '../administered.ts'
import { forgetDeviceOf } from '../devices.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'

export const adminForgetDevice = administration(input.named.extend({ DeviceKey: input.deviceKey }), (given, call) =>
  onNamed(given, call, async (tx, user) => {
    await forgetDeviceOf(tx, user, given.DeviceKey, call)
    return {}
  }),
)
