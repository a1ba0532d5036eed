import { z } from 'zod'
import * as input from '../protocol/inputs.ts'
import { findClient } from '../pools/pools.ts'
import { operation } from '../protocol/protocol.ts'
import { checkClientSecret, refresh } from '../sign-in/refresh.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const getTokensFromRefreshToken = (tokens: Tokens) =>
  operation(
    z.object({
      ClientId: input.clientId,
      RefreshToken: input.refreshToken,
      DeviceKey: input.deviceKey.optional(),
      ClientSecret: z.string().max(128).optional(),
    }),
    async (given, call) => {
      const client = await findClient(given.ClientId, call.context)
      checkClientSecret(client, given.ClientSecret)
      return refresh(given.RefreshToken, given.DeviceKey, client, call, tokens, () => {})
    },
  )
