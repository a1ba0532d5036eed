import { z } from 'zod'
import { challenges } from '../challenges/table.ts'
import { IdentityError, invalid, missing, orThrow } from '../errors.ts'
import * as input from '../inputs.ts'
import { countGuess } from '../limits.ts'
import { checkSecretHash, findClient } from '../pools.ts'
import { operation } from '../protocol.ts'
import { findStep, type ChallengeName } from '../sign-in.ts'
import type { Tokens } from '../tokens.ts'
import { lockUser } from '../users.ts'

export const respondToAuthChallenge = (tokens: Tokens) =>
  operation(
    z.object({
      ClientId: input.clientId,
      ChallengeName: z.string().min(1).max(64),
      Session: input.session.optional(),
      ChallengeResponses: input.parameters,
    }),
    async (given, call) => {
      const client = await findClient(given.ClientId, call.context)
      if (!Object.hasOwn(challenges, given.ChallengeName)) throw invalid(`Unknown ChallengeName ${given.ChallengeName}`)
      const name = given.ChallengeName as ChallengeName
      const challenge = challenges[name]
      const responses = given.ChallengeResponses
      const { USERNAME: username } = responses
      if (!username) throw missing('USERNAME')
      checkSecretHash(client, username, responses['SECRET_HASH'])
      // SRP's secret block is the session of its step, for clients that send no other.
      const block = responses['PASSWORD_CLAIM_SECRET_BLOCK']
      const session = given.Session ?? (block === undefined ? undefined : Buffer.from(block, 'base64').toString())
      if (session === undefined) throw missing('Session')
      await countGuess(call)
      const outcome = await call.context.db.transaction(async (tx) => {
        const step = await findStep(tx, session, name, client, lockUser, call)
        // Codes, choices and passwords are answered in the name of who began.
        if (!isNameOf(step, username)) {
          return new IdentityError('NotAuthorizedException', 'Invalid session for the user, session is expired.')
        }
        return challenge({ tx, step, responses, call, tokens })
      })
      return orThrow(outcome)
    },
  )

/** Clients answer by the canonical name, the `sub`, or the name that they began with. */
function isNameOf(
  step: { username: string; user: { id: string; attributes: Record<string, string> } | undefined },
  name: string,
) {
  const own = [step.username, step.user?.id, step.user?.attributes['email'], step.user?.attributes['phone_number']]
  return own.some((one) => one !== undefined && one.toLowerCase() === name.toLowerCase())
}
