import { z } from 'zod'
import { checkFresh, onOwnAccount } from '../accounts.ts'
import { readAttributeNames } from '../attributes.ts'
import { isVerifiable, removeAttributes } from '../change-attributes.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'

export const deleteUserAttributes = (tokens: Tokens) =>
  operation(
    z.object({ AccessToken: input.accessToken, UserAttributeNames: z.array(input.attributeName).max(50) }),
    (given, call) => {
      const names = readAttributeNames(given.UserAttributeNames)
      return onOwnAccount(tokens, given.AccessToken, call, async (tx, user, bearer) => {
        if (names.some(isVerifiable)) checkFresh(bearer, call)
        await removeAttributes(tx, user, names, call)
        return {}
      })
    },
  )
