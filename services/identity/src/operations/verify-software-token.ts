import { readCode } from '@robokids/contracts/code'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { changeAccount, withAuthenticatedUser } from '../users/accounts.ts'
import { verifyBySession, wrongSetUpCode } from '../challenges/mfa-setup.ts'
import { IdentityError, missing } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { consumeAttempt } from '../limits/limits.ts'
import { signOutOthers } from '../factors/mfa-preference.ts'
import { operation } from '../protocol/protocol.ts'
import { signIns } from '../schema.ts'
import { endSetUp, openSetUp } from '../factors/mfa-setups.ts'
import type { Tokens } from '../sign-in/tokens.ts'
import { sealTotpSecret, totpStep } from '../factors/totp.ts'

export const verifySoftwareToken = (tokens: Tokens) =>
  operation(
    z.object({
      AccessToken: input.accessToken.optional(),
      Session: input.session.optional(),
      UserCode: z.string().min(1).max(64),
      FriendlyDeviceName: z.string().max(131_072).optional(),
    }),
    async (given, call) => {
      if (given.AccessToken === undefined) {
        if (given.Session === undefined) throw missing('AccessToken')
        return verifyBySession(given.Session, given.UserCode, call)
      }
      await consumeAttempt(call)
      return withAuthenticatedUser(tokens, given.AccessToken, call, async (tx, user, { client: { pool }, signIn }) => {
        const { config, clock } = call.context
        const secret = await openSetUp(tx, user, 'totp', call)
        if (secret === undefined) {
          throw new IdentityError('SoftwareTokenMFANotFoundException', 'Associate a software token first.')
        }
        const step = totpStep(secret, readCode(given.UserCode), clock.now())
        if (step === undefined) throw wrongSetUpCode()
        await endSetUp(tx, user, 'totp')
        // Enabled at once where MFA is mandatory; otherwise the person enables it.
        const mfa = pool.settings.mfa === 'ON' ? [...new Set([...user.mfa, 'SOFTWARE_TOKEN_MFA' as const])] : user.mfa
        if (user.mfa.length === 0 && mfa.length > 0) await signOutOthers(tx, user, call, signIn)
        // The code counts as this sign-in's second factor, so that the browser can be trusted.
        await tx.update(signIns).set({ secondFactor: true }).where(eq(signIns.id, signIn.id))
        // The code is used up: it cannot also sign in.
        await changeAccount(
          tx,
          user,
          { sealedTotpSecret: sealTotpSecret(secret, user.id, config), totpLastStep: step, mfa },
          // Without it, nothing about signing in has changed yet.
          mfa.includes('SOFTWARE_TOKEN_MFA') ? ['mfa'] : [],
          call,
        )
        return { Status: 'SUCCESS' }
      })
    },
  )
