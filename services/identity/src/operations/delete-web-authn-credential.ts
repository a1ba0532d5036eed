import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { changeAccount, withAuthenticatedUser } from '../users/accounts.ts'
import { IdentityError } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import { passkeys } from '../schema.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const deleteWebAuthnCredential = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken, CredentialId: z.string().min(1).max(2048) }), (given, call) =>
    withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user) => {
      const deleted = await tx
        .delete(passkeys)
        .where(and(eq(passkeys.id, given.CredentialId), eq(passkeys.userId, user.id)))
        .returning()
      if (deleted.length === 0) {
        throw new IdentityError('ResourceNotFoundException', 'The passkey does not exist.')
      }
      await changeAccount(tx, user, {}, ['passkeys'], call)
      return {}
    }),
  )
