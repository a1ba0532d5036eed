import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { changeAccount, withAuthenticatedUser } from '../users/accounts.ts'
import { attemptsExceeded, IdentityError } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import { passkeys } from '../schema.ts'
import { endSetUp, openSetUp } from '../factors/mfa-setups.ts'
import type { Tokens } from '../sign-in/tokens.ts'
import { challengeNotFound, verifyNewPasskey, newPasskeySchema, webAuthnOf } from '../factors/web-authn.ts'

/** Per account. */
const maxPasskeys = 20

export const completeWebAuthnRegistration = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, Credential: newPasskeySchema }), (given, call) =>
    withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, { client: { pool } }) => {
      const settings = webAuthnOf(pool)
      const challenge = await openSetUp(tx, user, 'passkey', call)
      if (challenge === undefined) return challengeNotFound()
      // A challenge can be used once, whether it succeeds or not.
      await endSetUp(tx, user, 'passkey')
      const passkey = await verifyNewPasskey(given.Credential, challenge, settings)
      if (passkey instanceof IdentityError) return passkey
      const own = await tx.select({ name: passkeys.name }).from(passkeys).where(eq(passkeys.userId, user.id))
      if (own.length >= maxPasskeys) return attemptsExceeded()
      // The highest number plus one, so that no two passkeys have the same name.
      const numbers = own.map(({ name }) => Number(/^Passkey (\d+)$/.exec(name)?.[1] ?? 0))
      const [written] = await tx
        .insert(passkeys)
        .values({
          ...passkey,
          userId: user.id,
          name: `Passkey ${Math.max(0, ...numbers) + 1}`,
          relyingPartyId: settings.relyingPartyId,
          createdAt: call.context.clock.now(),
        })
        .onConflictDoNothing({ target: passkeys.id })
        .returning()
      if (!written) {
        return new IdentityError('WebAuthnCredentialNotSupportedException', 'This passkey is already registered.')
      }
      await changeAccount(tx, user, {}, ['passkeys'], call)
      return {}
    }),
  )
