import { userConfirmed } from '@robokids/contracts/identity'
import { z } from 'zod'
import { setPassword } from '../users/accounts.ts'
import { withTargetUser } from '../users/target-user.ts'
import * as input from '../protocol/inputs.ts'
import { temporaryPasswordEnd } from '../users/invitations.ts'
import { newPassword } from '../factors/passwords.ts'
import { findPool } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'
import { publishAccount } from '../users/users.ts'

export const adminSetUserPassword = administration(
  input.named.extend({ Password: input.password, Permanent: z.boolean().default(false) }),
  async (given, call) => {
    const password = await newPassword(given.Password, await findPool(given.UserPoolId, call.context), call)
    return withTargetUser(given, call, async (tx, user, pool) => {
      const change = given.Permanent
        ? { status: 'CONFIRMED' as const }
        : { status: 'FORCE_CHANGE_PASSWORD' as const, passwordExpiresAt: temporaryPasswordEnd(pool, call) }
      const changed = await setPassword(tx, user, pool, password, change, call)
      if (given.Permanent && user.status === 'UNCONFIRMED') await publishAccount(tx, userConfirmed, changed, {})
      return {}
    })
  },
)
