import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { checkFresh, withAuthenticatedUser } from '../users/accounts.ts'
import { findDevice, deviceNotFound } from '../factors/devices.ts'
import { freshSignInRequired, invalid } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { operation, type Call } from '../protocol/protocol.ts'
import { devices, type User } from '../schema.ts'
import type { Bearer, Tokens } from '../sign-in/tokens.ts'

/**
 * Requires a second factor in this sign-in before a device may replace it.
 * @throws IdentityError FreshSignInRequiredException
 */
function checkTrust(user: User, bearer: Bearer, call: Call): void {
  checkFresh(bearer, call)
  const isNeeded = user.mfa.length > 0 || bearer.client.pool.settings.mfa === 'ON'
  if (isNeeded && !bearer.signIn.secondFactor) throw freshSignInRequired()
}

/** Sets whether a device replaces the second factor. */
export const updateDeviceStatus = (tokens: Tokens) =>
  operation(
    z.object({
      AccessToken: input.accessToken,
      DeviceKey: input.deviceKey,
      DeviceRememberedStatus: z.enum(['remembered', 'not_remembered']),
    }),
    async (given, call) =>
      withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, bearer) => {
        const device = await findDevice(tx, user, given.DeviceKey, call.context.config)
        if (!device) throw deviceNotFound()
        const remembered = given.DeviceRememberedStatus === 'remembered'
        if (remembered && device.sealedSrpVerifier === null) throw invalid('The device was not confirmed.')
        if (remembered) checkTrust(user, bearer, call)
        await tx
          .update(devices)
          .set({ remembered, updatedAt: call.context.clock.now() })
          .where(eq(devices.key, device.key))
        return {}
      }),
  )
