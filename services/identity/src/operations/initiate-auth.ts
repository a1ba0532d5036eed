import * as input from '../protocol/inputs.ts'
import { z } from 'zod'
import { customAuth } from '../flows/custom-auth.ts'
import { refreshTokenAuth } from '../flows/refresh-token-auth.ts'
import { userAuth } from '../flows/user-auth.ts'
import { userPasswordAuth } from '../flows/user-password-auth.ts'
import { userSrpAuth } from '../flows/user-srp-auth.ts'
import { invalid } from '../protocol/errors.ts'
import { consumeAttempt } from '../limits/limits.ts'
import { findClient } from '../pools/pools.ts'
import { operation } from '../protocol/protocol.ts'
import type { AuthAnswer } from '../sign-in/sign-in-steps.ts'
import type { Tokens } from '../sign-in/tokens.ts'
import type { Flow } from '../flows/flow.ts'

const flows = {
  USER_PASSWORD_AUTH: userPasswordAuth,
  USER_SRP_AUTH: userSrpAuth,
  USER_AUTH: userAuth,
  CUSTOM_AUTH: customAuth,
  REFRESH_TOKEN_AUTH: refreshTokenAuth,
  REFRESH_TOKEN: refreshTokenAuth,
} as const satisfies Record<string, (flow: Flow) => Promise<AuthAnswer | object>>

export const initiateAuth = (tokens: Tokens) =>
  operation(
    z.object({
      ClientId: input.clientId,
      AuthFlow: z.string().min(1).max(64),
      AuthParameters: input.parameters,
      Session: input.session.optional(),
    }),
    async (given, call) => {
      const client = await findClient(given.ClientId, call.context)
      const name = given.AuthFlow
      if (!Object.hasOwn(flows, name)) throw invalid(`Unknown AuthFlow ${name}`)
      const known = name as keyof typeof flows
      const allowed = `ALLOW_${known === 'REFRESH_TOKEN' ? 'REFRESH_TOKEN_AUTH' : known}` as const
      if (!client.settings.flows.includes(allowed)) throw invalid(`${known} flow not enabled for this client`)
      // Refresh tokens cannot be guessed, so renewals are not throttled by other requests from the address.
      if (allowed !== 'ALLOW_REFRESH_TOKEN_AUTH') await consumeAttempt(call)
      return flows[known]({
        client,
        parameters: given.AuthParameters,
        session: given.Session,
        call,
        tokens,
      })
    },
  )
