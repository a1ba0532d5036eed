import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { withAuthenticatedUser } from '../users/accounts.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import { devices } from '../schema.ts'
import { endSignIns } from '../sign-in/sign-outs.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const globalSignOut = (tokens: Tokens) =>
  operation(
    z.object({
      AccessToken: input.accessToken,
      /** Not in the public protocol: also forgets all trusted browsers. */
      ForgetDevices: z.boolean().default(false),
    }),
    async (given, call) =>
      withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user) => {
        await endSignIns(tx, user.id, 'signed_out', call.context.clock.now())
        if (given.ForgetDevices) await tx.delete(devices).where(eq(devices.userId, user.id))
        return {}
      }),
  )
