import { z } from 'zod'
import { checkFresh, withAuthenticatedUser } from '../users/accounts.ts'
import { readAttributeNames } from '../users/attributes.ts'
import { isVerifiable, removeAttributes } from '../users/change-attributes.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const deleteUserAttributes = (tokens: Tokens) =>
  operation(
    z.object({ AccessToken: input.accessToken, UserAttributeNames: z.array(input.attributeName).max(50) }),
    (given, call) => {
      const names = readAttributeNames(given.UserAttributeNames)
      return withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, bearer) => {
        if (names.some(isVerifiable)) checkFresh(bearer, call)
        await removeAttributes(tx, user, names, call)
        return {}
      })
    },
  )
