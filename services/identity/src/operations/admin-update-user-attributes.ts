import { onNamed } from '../administered.ts'
import { attributeListSchema, readAttributes } from '../attributes.ts'
import { changeAttributes } from '../change-attributes.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'

export const adminUpdateUserAttributes = administration(
  input.named.extend({ UserAttributes: attributeListSchema }),
  (given, call) => {
    const attributes = readAttributes(given.UserAttributes, true)
    return onNamed(given, call, async (tx, user, pool) => {
      await changeAttributes(tx, user, pool, attributes, call)
      return {}
    })
  },
)
