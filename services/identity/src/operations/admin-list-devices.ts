import { onNamed } from '../administered.ts'
import { devicePage, pageOfDevices } from '../devices.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'

export const adminListDevices = administration(input.named.extend(devicePage.shape), (given, call) =>
  onNamed(given, call, (tx, user) => pageOfDevices(tx, user, given)),
)
