import { withTargetUser, describeUser } from '../users/target-user.ts'
import { listAttributes } from '../users/attributes.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'
import { verifiedAddress } from '../users/users.ts'

export const adminGetUser = administration(input.named, (given, call) =>
  withTargetUser(given, call, async (tx, user) => {
    const verified = await verifiedAddress(tx, user, 'email')
    return {
      ...describeUser(user),
      Attributes: undefined,
      UserAttributes: listAttributes(user.id, user.attributes),
      // Not in the public protocol, as in GetUser.
      ...(verified === undefined ? {} : { VerifiedEmail: verified }),
      ...(user.mfa.length > 0 ? { UserMFASettingList: user.mfa } : {}),
      ...(user.preferredMfa === null ? {} : { PreferredMfaSetting: user.preferredMfa }),
    }
  }),
)
