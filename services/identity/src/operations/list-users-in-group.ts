import { and, asc, eq, getTableColumns, gt } from 'drizzle-orm'
import { z } from 'zod'
import { describeUser } from '../users/target-user.ts'
import { afterToken, pageOf } from '../protocol/answers.ts'
import { findGroup } from '../pools/groups.ts'
import * as input from '../protocol/inputs.ts'
import { findPool } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'
import { groupMembers, users } from '../schema.ts'

export const listUsersInGroup = administration(
  z.object({
    UserPoolId: input.poolId,
    GroupName: input.groupName,
    Limit: input.pageSize.default(60),
    NextToken: input.pageToken,
  }),
  async (given, { context }) => {
    const pool = await findPool(given.UserPoolId, context)
    const { name } = await findGroup(context.db, pool, given.GroupName)
    const rows = await context.db
      .select(getTableColumns(users))
      .from(groupMembers)
      .innerJoin(users, eq(users.id, groupMembers.userId))
      .where(
        and(
          eq(groupMembers.poolId, pool.id),
          eq(groupMembers.name, name),
          gt(users.username, afterToken(given.NextToken)),
        ),
      )
      .orderBy(asc(users.username))
      .limit(given.Limit + 1)
    const { page, next } = pageOf(rows, given.Limit, ({ username }) => username)
    return { Users: page.map((user) => describeUser(user)), ...(next === undefined ? {} : { NextToken: next }) }
  },
)
