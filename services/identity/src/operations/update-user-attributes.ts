import { z } from 'zod'
import { onOwnAccount } from '../accounts.ts'
import { attributeListSchema, readAttributes } from '../attributes.ts'
import { changeAttributes } from '../change-attributes.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'

export const updateUserAttributes = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, UserAttributes: attributeListSchema }), (given, call) => {
    const attributes = readAttributes(given.UserAttributes)
    return onOwnAccount(tokens, given.AccessToken, call, async (tx, user, { client: { pool } }) => ({
      CodeDeliveryDetailsList: await changeAttributes(tx, user, pool, attributes, call),
    }))
  })
