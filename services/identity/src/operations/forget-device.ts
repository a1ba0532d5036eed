import { z } from 'zod'
import { onOwnAccount } from '../users/accounts.ts'
import { forgetDeviceOf } from '../factors/devices.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const forgetDevice = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, DeviceKey: input.deviceKey }), async (given, call) =>
    onOwnAccount(tokens, given.AccessToken, call, async (tx, user, { signIn }) => {
      await forgetDeviceOf(tx, user, given.DeviceKey, call, signIn.id)
      return {}
    }),
  )
