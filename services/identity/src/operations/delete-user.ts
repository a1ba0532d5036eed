import { z } from 'zod'
import { deleteAccount, onOwnAccount } from '../accounts.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'

export const deleteUser = (tokens: Tokens) =>
  operation(z.object({ AccessToken: input.accessToken }), (given, call) =>
    onOwnAccount(tokens, given.AccessToken, call, async (tx, user) => {
      await deleteAccount(tx, user)
      return {}
    }),
  )
