import { onNamed, describeUser } from '../administered.ts'
import { listAttributes } from '../attributes.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'

export const adminGetUser = administration(input.named, (given, call) =>
  onNamed(given, call, async (_tx, user) => ({
    ...describeUser(user),
    Attributes: undefined,
    UserAttributes: listAttributes(user.id, user.attributes),
    ...(user.mfa.length > 0 ? { UserMFASettingList: user.mfa } : {}),
    ...(user.preferredMfa === null ? {} : { PreferredMfaSetting: user.preferredMfa }),
  })),
)
