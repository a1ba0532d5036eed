import { and, asc, eq, gt } from 'drizzle-orm'
import { z } from 'zod'
import { afterToken, pageOf } from '../protocol/answers.ts'
import * as input from '../protocol/inputs.ts'
import { findPool } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'
import { clients } from '../schema.ts'

export const listUserPoolClients = administration(
  z.object({ UserPoolId: input.poolId, MaxResults: input.pageSize.default(60), NextToken: input.pageToken }),
  async (given, { context }) => {
    const pool = await findPool(given.UserPoolId, context)
    const rows = await context.db
      .select()
      .from(clients)
      .where(and(eq(clients.poolId, pool.id), gt(clients.id, afterToken(given.NextToken))))
      .orderBy(asc(clients.id))
      .limit(given.MaxResults + 1)
    const { page, next } = pageOf(rows, given.MaxResults, ({ id }) => id)
    return {
      UserPoolClients: page.map(({ id, settings }) => ({
        ClientId: id,
        UserPoolId: pool.id,
        ClientName: settings.name,
      })),
      ...(next === undefined ? {} : { NextToken: next }),
    }
  },
)
