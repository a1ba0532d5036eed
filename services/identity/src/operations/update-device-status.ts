import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { onOwnAccount } from '../accounts.ts'
import { findDevice, noDevice } from '../devices.ts'
import { invalid } from '../errors.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import { devices } from '../schema.ts'
import type { Tokens } from '../tokens.ts'

/** Whether a device stands for the second factor from now on. */
export const updateDeviceStatus = (tokens: Tokens) =>
  operation(
    z.object({
      AccessToken: input.accessToken,
      DeviceKey: input.deviceKey,
      DeviceRememberedStatus: z.enum(['remembered', 'not_remembered']),
    }),
    async (given, call) =>
      onOwnAccount(tokens, given.AccessToken, call, async (tx, user) => {
        const device = await findDevice(tx, user, given.DeviceKey)
        if (!device) throw noDevice()
        const remembered = given.DeviceRememberedStatus === 'remembered'
        if (remembered && device.sealedSrpVerifier === null) throw invalid('The device was not confirmed.')
        await tx
          .update(devices)
          .set({ remembered, updatedAt: call.context.clock.now() })
          .where(eq(devices.key, device.key))
        return {}
      }),
  )
