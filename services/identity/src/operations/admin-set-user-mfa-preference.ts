import { withTargetUser } from '../users/target-user.ts'
import * as input from '../protocol/inputs.ts'
import { preferenceSchema, preferFactors } from '../factors/mfa-preference.ts'
import { administration } from '../protocol/protocol.ts'

/** For people who have lost their second factor, after their identity was checked. */
export const adminSetUserMfaPreference = administration(input.named.extend(preferenceSchema.shape), (given, call) =>
  withTargetUser(given, call, async (tx, user, pool) => {
    await preferFactors(tx, user, pool, given, call, { forgetsAuthenticator: true })
    return {}
  }),
)
