import { withTargetUser } from '../users/target-user.ts'
import { devicePage, pageOfDevices } from '../factors/devices.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'

export const adminListDevices = administration(input.named.extend(devicePage.shape), (given, call) =>
  withTargetUser(given, call, (tx, user) => pageOfDevices(tx, user, given)),
)
