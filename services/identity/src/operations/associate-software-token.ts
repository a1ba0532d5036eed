import { z } from 'zod'
import { checkFresh, withAuthenticatedUser } from '../users/accounts.ts'
import { associateBySession } from '../challenges/mfa-setup.ts'
import { IdentityError, missing } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import { beginSetUp } from '../factors/mfa-setups.ts'
import type { Tokens } from '../sign-in/tokens.ts'
import { newTotpSecret } from '../factors/totp.ts'

export const associateSoftwareToken = (tokens: Tokens) =>
  operation(
    z.object({ AccessToken: input.accessToken.optional(), Session: input.session.optional() }),
    (given, call) => {
      if (given.AccessToken === undefined) {
        if (given.Session === undefined) throw missing('AccessToken')
        return associateBySession(given.Session, call)
      }
      return withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, bearer) => {
        const { pool } = bearer.client
        if (pool.settings.mfa === 'OFF' || !pool.settings.mfaFactors.includes('SOFTWARE_TOKEN_MFA')) {
          throw new IdentityError(
            'SoftwareTokenMFANotFoundException',
            'Software token TOTP multi-factor authentication is not enabled for this user pool.',
          )
        }
        checkFresh(bearer, call)
        // The current authenticator stays in use until the new one has shown a code.
        const SecretCode = newTotpSecret()
        await beginSetUp(tx, user, 'totp', SecretCode, { hours: 1 }, call)
        return { SecretCode }
      })
    },
  )
