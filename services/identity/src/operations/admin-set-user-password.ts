import { userConfirmed } from '@robokids/contracts/identity'
import { z } from 'zod'
import { setPassword } from '../accounts.ts'
import { onNamed } from '../administered.ts'
import * as input from '../inputs.ts'
import { temporaryPasswordEnd } from '../invitations.ts'
import { newPassword } from '../passwords.ts'
import { findPool } from '../pools.ts'
import { administration } from '../protocol.ts'
import { publishAccount } from '../users.ts'

export const adminSetUserPassword = administration(
  input.named.extend({ Password: input.password, Permanent: z.boolean().default(false) }),
  async (given, call) => {
    const password = await newPassword(given.Password, await findPool(given.UserPoolId, call.context), call)
    return onNamed(given, call, async (tx, user, pool) => {
      const change = given.Permanent
        ? { status: 'CONFIRMED' as const }
        : { status: 'FORCE_CHANGE_PASSWORD' as const, passwordExpiresAt: temporaryPasswordEnd(pool, call) }
      const changed = await setPassword(tx, user, pool, password, change, call)
      if (given.Permanent && user.status === 'UNCONFIRMED') await publishAccount(tx, userConfirmed, changed, {})
      return {}
    })
  },
)
