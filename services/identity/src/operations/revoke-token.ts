import { z } from 'zod'
import { IdentityError } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { findClient } from '../pools/pools.ts'
import { operation } from '../protocol/protocol.ts'
import { checkClientSecret, lockRefreshToken } from '../sign-in/refresh.ts'
import { endSignIn } from '../sign-in/sign-outs.ts'

/** Ends the sign-in of a refresh token. An unknown token counts as revoked. */
export const revokeToken = operation(
  z.object({
    ClientId: input.clientId,
    Token: input.refreshToken,
    ClientSecret: z.string().max(128).optional(),
  }),
  async (given, call) => {
    const { context } = call
    const client = await findClient(given.ClientId, context)
    checkClientSecret(client, given.ClientSecret)
    if (!client.settings.enableTokenRevocation) {
      throw new IdentityError('UnsupportedOperationException', 'Token revocation is not enabled for this client.')
    }
    if (given.Token.split('.').length === 3) {
      throw new IdentityError('UnsupportedTokenTypeException', 'Only refresh tokens can be revoked.')
    }
    await context.db.transaction(async (tx) => {
      const found = await lockRefreshToken(tx, given.Token)
      if (!found) return
      if (found.signIn.clientId !== client.id) {
        throw new IdentityError('UnauthorizedException', 'The token was not issued to this client.')
      }
      await endSignIn(tx, found.signIn.id, 'revoked', context.clock.now())
    })
    return {}
  },
)
