import { z } from 'zod'
import { withAuthenticatedUser } from '../users/accounts.ts'
import { codePurposeOf, isVerifiable, verifyAttribute } from '../users/change-attributes.ts'
import { ownCodeKey, takeCode } from '../factors/codes.ts'
import { expiredCode, IdentityError, invalid } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { consumeAttempt } from '../limits/limits.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const verifyUserAttribute = (tokens: Tokens) =>
  operation(
    z.object({ AccessToken: input.accessToken, AttributeName: input.attributeName, Code: input.code }),
    async (given, call) => {
      const attribute = given.AttributeName
      if (!isVerifiable(attribute)) throw invalid(`Attribute ${attribute} cannot be verified.`)
      await consumeAttempt(call)
      return withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, { client: { pool } }) => {
        const taken = await takeCode(tx, ownCodeKey(user, codePurposeOf[attribute]), given.Code, call)
        if (taken instanceof IdentityError) return taken
        // The address changed after the code was sent, so it is not verified.
        if (user.attributes[attribute] !== taken.destination) return expiredCode()
        await verifyAttribute(tx, user, pool, attribute, taken.destination, call)
        return {}
      })
    },
  )
