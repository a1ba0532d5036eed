import { z } from 'zod'
import { onOwnAccount } from '../accounts.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import { endSignIns } from '../sign-outs.ts'
import type { Tokens } from '../tokens.ts'

export const globalSignOut = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken }), async (given, call) =>
    onOwnAccount(tokens, given.AccessToken, call, async (tx, user) => {
      await endSignIns(tx, user.id, 'signed_out', call.context.clock.now())
      return {}
    }),
  )
