import { generateRegistrationOptions } from '@simplewebauthn/server'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { checkFresh, withAuthenticatedUser } from '../users/accounts.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import { passkeys } from '../schema.ts'
import { beginSetUp } from '../factors/mfa-setups.ts'
import type { Tokens } from '../sign-in/tokens.ts'
import { webAuthnOf } from '../factors/web-authn.ts'

const minutes = 5

export const startWebAuthnRegistration = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken }), (given, call) =>
    withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, bearer) => {
      const { relyingPartyId, relyingPartyName, userVerification } = webAuthnOf(bearer.client.pool)
      checkFresh(bearer, call)
      const own = await tx.select().from(passkeys).where(eq(passkeys.userId, user.id))
      const { given_name: first = '', family_name: last = '', email } = user.attributes
      const options = await generateRegistrationOptions({
        rpName: relyingPartyName,
        rpID: relyingPartyId,
        userID: new Uint8Array(Buffer.from(user.id.replaceAll('-', ''), 'hex')),
        userName: email ?? user.username,
        userDisplayName: `${first} ${last}`.trim() || (email ?? user.username),
        timeout: minutes * 60_000,
        excludeCredentials: own.map(({ id, transports }) => ({ id, transports })),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification },
      })
      await beginSetUp(tx, user, 'passkey', options.challenge, { minutes }, call)
      return { CredentialCreationOptions: options }
    }),
  )
