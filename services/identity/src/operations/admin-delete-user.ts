import { deleteAccount } from '../accounts.ts'
import { onNamed } from '../administered.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'

export const adminDeleteUser = administration(input.named, (given, call) =>
  onNamed(given, call, async (tx, user) => {
    await deleteAccount(tx, user)
    return {}
  }),
)
