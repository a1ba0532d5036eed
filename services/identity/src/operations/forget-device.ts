import { z } from 'zod'
import { onOwnAccount } from '../accounts.ts'
import { forgetDeviceOf } from '../devices.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'

export const forgetDevice = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, DeviceKey: input.deviceKey }), async (given, call) =>
    onOwnAccount(tokens, given.AccessToken, call, async (tx, user, { signIn }) => {
      await forgetDeviceOf(tx, user, given.DeviceKey, call, signIn.id)
      return {}
    }),
  )
