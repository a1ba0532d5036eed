import { eq } from 'drizzle-orm'
import { z } from 'zod'
import * as input from '../protocol/inputs.ts'
import { describePool } from '../pools/pool-shapes.ts'
import { unknownPool } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'
import { pools, users } from '../schema.ts'

export const describeUserPool = administration(z.object({ UserPoolId: input.poolId }), async (given, { context }) => {
  const { db } = context
  const [pool] = await db.select().from(pools).where(eq(pools.id, given.UserPoolId))
  if (!pool) throw unknownPool(given.UserPoolId)
  const EstimatedNumberOfUsers = await db.$count(users, eq(users.poolId, pool.id))
  return { UserPool: { ...describePool(pool), EstimatedNumberOfUsers } }
})
