import { asc, gt } from 'drizzle-orm'
import { z } from 'zod'
import { afterToken, epochSeconds, pageOf } from '../protocol/answers.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'
import { pools } from '../schema.ts'

export const listUserPools = administration(
  z.object({ MaxResults: input.pageSize.default(60), NextToken: input.pageToken }),
  async (given, { context }) => {
    const rows = await context.db
      .select()
      .from(pools)
      .where(gt(pools.id, afterToken(given.NextToken)))
      .orderBy(asc(pools.id))
      .limit(given.MaxResults + 1)
    const { page, next } = pageOf(rows, given.MaxResults, ({ id }) => id)
    return {
      UserPools: page.map(({ id, settings, createdAt, updatedAt }) => ({
        Id: id,
        Name: settings.name,
        Status: 'Enabled',
        CreationDate: epochSeconds(createdAt),
        LastModifiedDate: epochSeconds(updatedAt),
      })),
      ...(next === undefined ? {} : { NextToken: next }),
    }
  },
)
