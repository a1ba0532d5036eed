import { and, asc, eq, gt } from 'drizzle-orm'
import { z } from 'zod'
import { afterToken, epochSeconds, pageOf } from '../protocol/answers.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import { passkeys } from '../schema.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const listWebAuthnCredentials = (tokens: Tokens) =>
  operation(
    z.object({
      AccessToken: input.accessToken,
      MaxResults: z.number().int().min(0).max(20).optional(),
      NextToken: input.pageToken,
    }),
    async (given, { context }) => {
      const { user } = await tokens.authenticate(given.AccessToken)
      const size = given.MaxResults || 20
      const rows = await context.db
        .select()
        .from(passkeys)
        .where(and(eq(passkeys.userId, user.id), gt(passkeys.id, afterToken(given.NextToken))))
        .orderBy(asc(passkeys.id))
        .limit(size + 1)
      const { page, next } = pageOf(rows, size, ({ id }) => id)
      return {
        Credentials: page.map((passkey) => ({
          CredentialId: passkey.id,
          FriendlyCredentialName: passkey.name,
          RelyingPartyId: passkey.relyingPartyId,
          ...(passkey.attachment === null ? {} : { AuthenticatorAttachment: passkey.attachment }),
          AuthenticatorTransports: passkey.transports,
          CreatedAt: epochSeconds(passkey.createdAt),
        })),
        ...(next === undefined ? {} : { NextToken: next }),
      }
    },
  )
