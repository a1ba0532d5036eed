import { z } from 'zod'
import { withAuthenticatedUser } from '../users/accounts.ts'
import { describeDevice, findDevice, deviceNotFound } from '../factors/devices.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const getDevice = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, DeviceKey: input.deviceKey }), async (given, call) =>
    withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user) => {
      const device = await findDevice(tx, user, given.DeviceKey, call.context.config)
      if (!device) throw deviceNotFound()
      return { Device: describeDevice(device) }
    }),
  )
