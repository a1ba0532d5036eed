import { checkFresh, onOwnAccount } from '../accounts.ts'
import * as input from '../inputs.ts'
import { preferenceSchema, preferFactors, turnsOff } from '../mfa-preference.ts'
import { operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'

export const setUserMfaPreference = (tokens: Tokens) =>
  operation(preferenceSchema.extend({ AccessToken: input.accessToken }), (given, call) =>
    onOwnAccount(tokens, given.AccessToken, call, async (tx, user, bearer) => {
      if (turnsOff(user, given)) checkFresh(bearer, call)
      await preferFactors(tx, user, bearer.client.pool, given, call, { keep: bearer.signIn })
      return {}
    }),
  )
