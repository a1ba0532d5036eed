import { eq } from 'drizzle-orm'
import * as input from '../protocol/inputs.ts'
import { poolSettingsSchema } from '../pools/pool-settings.ts'
import { describeMfa, mfaInput, withMfa } from '../pools/pool-shapes.ts'
import { unknownPool } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'
import { pools } from '../schema.ts'

export const setUserPoolMfaConfig = administration(
  mfaInput.extend({ UserPoolId: input.poolId }),
  async (given, { context }) => {
    const { db, clock } = context
    const id = given.UserPoolId
    return db.transaction(async (tx) => {
      const [pool] = await tx.select().from(pools).where(eq(pools.id, id)).for('update')
      if (!pool) throw unknownPool(id)
      const settings = withMfa(poolSettingsSchema.parse(pool.settings), given)
      await tx.update(pools).set({ settings, updatedAt: clock.now() }).where(eq(pools.id, id))
      return describeMfa({ ...pool, settings })
    })
  },
)
