import { z } from 'zod'
import { customAuth } from '../flows/custom-auth.ts'
import { refreshTokenAuth } from '../flows/refresh-token-auth.ts'
import { userAuth } from '../flows/user-auth.ts'
import { userPasswordAuth } from '../flows/user-password-auth.ts'
import { userSrpAuth } from '../flows/user-srp-auth.ts'
import { invalid } from '../errors.ts'
import * as input from '../inputs.ts'
import { countGuess } from '../limits.ts'
import { findClient, type Client } from '../pools.ts'
import { operation, type Call } from '../protocol.ts'
import type { AuthAnswer } from '../sign-in-steps.ts'
import type { Tokens } from '../tokens.ts'

/** A way to begin a sign-in. Secret hashes are checked by each, since it knows the name that they are made with. */
export interface Flow {
  client: Client
  parameters: Record<string, string>
  /** What a confirmation of a sign-up answered, to sign in without another proof. */
  session: string | undefined
  call: Call
  tokens: Tokens
}

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
      // A refresh token is not to be guessed: whoever renews is not slowed down by others at the same address.
      if (allowed !== 'ALLOW_REFRESH_TOKEN_AUTH') await countGuess(call)
      return flows[known]({
        client,
        parameters: given.AuthParameters,
        session: given.Session,
        call,
        tokens,
      })
    },
  )
