import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { withAuthenticatedUser } from '../users/accounts.ts'
import { findDevice, deviceNotFound, sealDeviceVerifier } from '../factors/devices.ts'
import { IdentityError, invalid } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import { devices } from '../schema.ts'
import { prime } from '@robokids/runtime/srp'
import type { Tokens } from '../sign-in/tokens.ts'

/** A number as clients send it: padded bytes in base64. */
const number = z
  .string()
  .max(1024)
  .transform((text) => BigInt(`0x${Buffer.from(text, 'base64').toString('hex') || '0'}`))

export const confirmDevice = (tokens: Tokens) =>
  operation(
    z.object({
      AccessToken: input.accessToken,
      DeviceKey: input.deviceKey,
      DeviceName: z.string().max(1024).default(''),
      DeviceSecretVerifierConfig: z.object({ Salt: number, PasswordVerifier: number }),
    }),
    async (given, call) => {
      const { config, clock } = call.context
      const { Salt: salt, PasswordVerifier: verifier } = given.DeviceSecretVerifierConfig
      if (salt === 0n || verifier < 2n || verifier >= prime - 1n)
        throw invalid('DeviceSecretVerifierConfig is not valid.')
      return withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, { signIn, client }) => {
        const device = await findDevice(tx, user, given.DeviceKey, config)
        // A device key can be confirmed only by the sign-in that received it.
        if (!device || signIn.deviceKey !== device.key) throw deviceNotFound()
        if (device.sealedSrpVerifier !== null) {
          throw new IdentityError('DeviceKeyExistsException', 'The device was confirmed already.')
        }
        const always = client.pool.settings.devices === 'ALWAYS'
        // Without MFA this has no effect: enabling a second factor removes the trust from all devices.
        const isNeeded = user.mfa.length > 0 || client.pool.settings.mfa === 'ON'
        await tx
          .update(devices)
          .set({
            name: given.DeviceName,
            srpSalt: salt.toString(16),
            sealedSrpVerifier: sealDeviceVerifier(device.key, verifier, config),
            remembered: always && (signIn.secondFactor || !isNeeded),
            updatedAt: clock.now(),
          })
          .where(eq(devices.key, device.key))
        return { UserConfirmationNecessary: !always }
      })
    },
  )
