import { withTargetUser } from '../users/target-user.ts'
import { attributeListSchema, readAttributes } from '../users/attributes.ts'
import { changeAttributes } from '../users/change-attributes.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'

export const adminUpdateUserAttributes = administration(
  input.named.extend({ UserAttributes: attributeListSchema }),
  (given, call) => {
    const attributes = readAttributes(given.UserAttributes, true)
    return withTargetUser(given, call, async (tx, user, pool) => {
      await changeAttributes(tx, user, pool, attributes, call)
      return {}
    })
  },
)
