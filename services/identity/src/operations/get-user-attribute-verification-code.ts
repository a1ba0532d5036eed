import { z } from 'zod'
import { withAuthenticatedUser } from '../users/accounts.ts'
import { isVerifiable, sendVerificationCode } from '../users/change-attributes.ts'
import { invalid } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { countRequest } from '../limits/limits.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const getUserAttributeVerificationCode = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, AttributeName: input.attributeName }), async (given, call) => {
    const attribute = given.AttributeName
    if (!isVerifiable(attribute)) throw invalid(`Attribute ${attribute} cannot be verified.`)
    // Before the account is locked, because it uses another connection.
    await countRequest(call)
    return withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user) => ({
      CodeDeliveryDetails: await sendVerificationCode(tx, user, attribute, call),
    }))
  })
