import { eq } from 'drizzle-orm'
import { z } from 'zod'
import * as input from '../protocol/inputs.ts'
import { describeClient } from '../pools/pool-shapes.ts'
import { findClient, findPool, unknownClient } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'
import { clients } from '../schema.ts'

export const describeUserPoolClient = administration(
  z.object({ UserPoolId: input.poolId, ClientId: input.clientId }),
  async (given, { context }) => {
    const pool = await findPool(given.UserPoolId, context)
    const client = await findClient(given.ClientId, context, pool.id)
    const [dates] = await context.db.select().from(clients).where(eq(clients.id, client.id))
    if (!dates) throw unknownClient(client.id)
    return { UserPoolClient: describeClient(client, dates) }
  },
)
