import { withTargetUser } from '../users/target-user.ts'
import * as input from '../protocol/inputs.ts'
import { preferenceSchema, preferFactors } from '../factors/mfa-preference.ts'
import { administration } from '../protocol/protocol.ts'

/** For who has lost what their second factor was made of, once it is clear who they are. */
export const adminSetUserMfaPreference = administration(input.named.extend(preferenceSchema.shape), (given, call) =>
  withTargetUser(given, call, async (tx, user, pool) => {
    await preferFactors(tx, user, pool, given, call, { forgets: true })
    return {}
  }),
)
