import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { onOwnAccount } from '../accounts.ts'
import { findDevice, noDevice } from '../devices.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import { devices, signIns } from '../schema.ts'
import { endSignIns } from '../sign-outs.ts'
import type { Tokens } from '../tokens.ts'

/** Forgets a device, which is signed out by that, unless it is the one that asks: a lost one cannot be used any more. */
export const forgetDevice = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, DeviceKey: input.deviceKey }), async (given, call) =>
    onOwnAccount(tokens, given.AccessToken, call, async (tx, user, { signIn }) => {
      const device = await findDevice(tx, user, given.DeviceKey)
      if (!device) throw noDevice()
      const { key: deviceKey } = device
      await endSignIns(tx, user.id, 'signed_out', call.context.clock.now(), { keep: signIn.id, deviceKey })
      await tx.update(signIns).set({ deviceKey: null }).where(eq(signIns.deviceKey, deviceKey))
      await tx.delete(devices).where(eq(devices.key, deviceKey))
      return {}
    }),
  )
