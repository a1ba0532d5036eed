import { onOwnAccount } from '../accounts.ts'
import * as input from '../inputs.ts'
import { preferenceSchema, preferFactors } from '../mfa-preference.ts'
import { operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'

export const setUserMfaPreference = (tokens: Tokens) =>
  operation(preferenceSchema.extend({ AccessToken: input.accessToken }), (given, call) =>
    onOwnAccount(tokens, given.AccessToken, call, async (tx, user, { client: { pool } }) => {
      await preferFactors(tx, user, pool, given, call)
      return {}
    }),
  )
