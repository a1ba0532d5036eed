import { z } from 'zod'
import { onOwnAccount } from '../accounts.ts'
import { describeDevice, findDevice, noDevice } from '../devices.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'

export const getDevice = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, DeviceKey: input.deviceKey }), async (given, call) =>
    onOwnAccount(tokens, given.AccessToken, call, async (tx, user) => {
      const device = await findDevice(tx, user, given.DeviceKey, call.context.config)
      if (!device) throw noDevice()
      return { Device: describeDevice(device) }
    }),
  )
