import { z } from 'zod'
import { challenges } from '../challenges/table.ts'
import { invalid, missing } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { consumeAttempt } from '../limits/limits.ts'
import { checkSecretHash, findClient } from '../pools/pools.ts'
import { operation } from '../protocol/protocol.ts'
import type { ChallengeName } from '../sign-in/sign-in-steps.ts'
import type { Tokens } from '../sign-in/tokens.ts'

/** Clients may also respond with the chosen factor as the challenge name. */
const passwordChoices = ['PASSWORD', 'PASSWORD_SRP']

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
      const [name, responses] = passwordChoices.includes(given.ChallengeName)
        ? ['SELECT_CHALLENGE', { ...given.ChallengeResponses, ANSWER: given.ChallengeName }]
        : [given.ChallengeName, given.ChallengeResponses]
      if (!Object.hasOwn(challenges, name)) throw invalid(`Unknown ChallengeName ${name}`)
      const challenge = name as ChallengeName
      const { USERNAME: username } = responses
      if (!username) throw missing('USERNAME')
      checkSecretHash(client, username, responses['SECRET_HASH'])
      // The SRP secret block is the session, for clients that send no other.
      const block = responses['PASSWORD_CLAIM_SECRET_BLOCK']
      const session = given.Session ?? (block === undefined ? undefined : Buffer.from(block, 'base64').toString())
      if (session === undefined) throw missing('Session')
      await consumeAttempt(call)
      return challenges[challenge]({ client, session, challenge, responses, call, tokens })
    },
  )
