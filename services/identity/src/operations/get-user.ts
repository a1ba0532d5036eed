import { z } from 'zod'
import { listAttributes } from '../users/attributes.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'
import { verifiedAddress } from '../users/users.ts'

export const getUser = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken }), async (given, { context }) => {
    const { user } = await tokens.authenticate(given.AccessToken)
    const verified = await verifiedAddress(context.db, user, 'email')
    return {
      Username: user.username,
      UserAttributes: listAttributes(user.id, user.attributes),
      // Not in the public protocol: the verified address, even while `email` is changing.
      ...(verified === undefined ? {} : { VerifiedEmail: verified }),
      ...(user.mfa.length > 0 ? { UserMFASettingList: user.mfa } : {}),
      ...(user.preferredMfa === null ? {} : { PreferredMfaSetting: user.preferredMfa }),
    }
  })
