import { checkFresh, withAuthenticatedUser } from '../users/accounts.ts'
import * as input from '../protocol/inputs.ts'
import { preferenceSchema, preferFactors, turnsOff } from '../factors/mfa-preference.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const setUserMfaPreference = (tokens: Tokens) =>
  operation(preferenceSchema.extend({ AccessToken: input.accessToken }), (given, call) =>
    withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, bearer) => {
      if (turnsOff(user, given)) checkFresh(bearer, call)
      await preferFactors(tx, user, bearer.client.pool, given, call, { keep: bearer.signIn })
      return {}
    }),
  )
