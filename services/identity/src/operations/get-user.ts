import { z } from 'zod'
import { listAttributes } from '../attributes.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'

export const getUser = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken }), async (given) => {
    const { user } = await tokens.authenticate(given.AccessToken)
    return {
      Username: user.username,
      UserAttributes: listAttributes(user.id, user.attributes),
      ...(user.mfa.length > 0 ? { UserMFASettingList: user.mfa } : {}),
      ...(user.preferredMfa === null ? {} : { PreferredMfaSetting: user.preferredMfa }),
    }
  })
