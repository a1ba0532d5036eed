import { randomBytes, randomInt } from 'node:crypto'
import * as input from '../protocol/inputs.ts'
import { clientInput, clientSettingsOf, describeClient } from '../pools/pool-shapes.ts'
import { findPool, sealClientSecret } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'
import { clients } from '../schema.ts'

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'

export const createUserPoolClient = administration(
  clientInput.extend({ UserPoolId: input.poolId }),
  async (given, { context }) => {
    const { db, clock, config } = context
    const pool = await findPool(given.UserPoolId, context)
    const settings = clientSettingsOf(given)
    const id = Array.from({ length: 26 }, () => letters[randomInt(letters.length)]).join('')
    const secret = given.GenerateSecret ? randomBytes(36).toString('hex').slice(0, 52) : null
    const now = clock.now()
    await db.insert(clients).values({
      id,
      poolId: pool.id,
      sealedSecret: secret === null ? null : sealClientSecret(id, secret, config),
      settings,
      createdAt: now,
      updatedAt: now,
    })
    return { UserPoolClient: describeClient({ id, secret, settings, pool }, { createdAt: now, updatedAt: now }) }
  },
)
