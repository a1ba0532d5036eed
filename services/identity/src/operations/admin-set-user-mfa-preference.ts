import { onNamed } from '../administered.ts'
import * as input from '../inputs.ts'
import { preferenceSchema, preferFactors } from '../mfa-preference.ts'
import { administration } from '../protocol.ts'

/** For who has lost what their second factor was made of, once it is clear who they are. */
export const adminSetUserMfaPreference = administration(input.named.extend(preferenceSchema.shape), (given, call) =>
  onNamed(given, call, async (tx, user, pool) => {
    await preferFactors(tx, user, pool, given, call, { forgets: true })
    return {}
  }),
)
