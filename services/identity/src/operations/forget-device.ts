import { z } from 'zod'
import { withAuthenticatedUser } from '../users/accounts.ts'
import { forgetDeviceOf } from '../factors/devices.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const forgetDevice = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, DeviceKey: input.deviceKey }), async (given, call) =>
    withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, { signIn }) => {
      await forgetDeviceOf(tx, user, given.DeviceKey, call, signIn.id)
      return {}
    }),
  )
