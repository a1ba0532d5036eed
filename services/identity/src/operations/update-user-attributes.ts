import { z } from 'zod'
import { checkFresh, withAuthenticatedUser } from '../users/accounts.ts'
import { attributeListSchema, readAttributes } from '../users/attributes.ts'
import { changeAttributes, changesAddress, isVerifiable } from '../users/change-attributes.ts'
import * as input from '../protocol/inputs.ts'
import { countRequest } from '../limits/limits.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const updateUserAttributes = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, UserAttributes: attributeListSchema }), async (given, call) => {
    const attributes = readAttributes(given.UserAttributes)
    // A new address may be sent a code. Counted before the account is locked, because it uses another connection.
    if (Object.keys(attributes).some(isVerifiable)) await countRequest(call)
    return withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, bearer) => {
      if (changesAddress(user, attributes)) checkFresh(bearer, call)
      return { CodeDeliveryDetailsList: await changeAttributes(tx, user, bearer.client.pool, attributes, call) }
    })
  })
