import { randomInt } from 'node:crypto'
import { poolInput, describePool, poolSettingsOf } from '../pools/pool-shapes.ts'
import { administration } from '../protocol/protocol.ts'
import { pools } from '../schema.ts'

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export const createUserPool = administration(poolInput, async (given, { context }) => {
  const { db, clock, config } = context
  const now = clock.now()
  // The region of the configured pools; the random name separates SRP proofs of pools.
  const [region = 'us-west-1'] = config.POOLS_FILE.pools.map(({ id }) => id.slice(0, id.indexOf('_')))
  const name = Array.from({ length: 9 }, () => letters[randomInt(letters.length)]).join('')
  const [pool] = await db
    .insert(pools)
    .values({ id: `${region}_${name}`, settings: poolSettingsOf(given), createdAt: now, updatedAt: now })
    .returning()
  if (!pool) throw new Error('The pool was not written.')
  return { UserPool: describePool(pool) }
})
