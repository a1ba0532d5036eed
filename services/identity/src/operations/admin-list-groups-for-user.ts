import { and, asc, eq, getTableColumns, gt } from 'drizzle-orm'
import { withTargetUser } from '../users/target-user.ts'
import { afterToken, pageOf } from '../protocol/answers.ts'
import { describeGroup } from '../pools/groups.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'
import { groupMembers, groups } from '../schema.ts'

export const adminListGroupsForUser = administration(
  input.named.extend({ Limit: input.pageSize.default(60), NextToken: input.pageToken }),
  (given, call) =>
    withTargetUser(given, call, async (tx, user) => {
      const rows = await tx
        .select(getTableColumns(groups))
        .from(groupMembers)
        .innerJoin(groups, and(eq(groups.poolId, groupMembers.poolId), eq(groups.name, groupMembers.name)))
        .where(and(eq(groupMembers.userId, user.id), gt(groups.name, afterToken(given.NextToken))))
        .orderBy(asc(groups.name))
        .limit(given.Limit + 1)
      const { page, next } = pageOf(rows, given.Limit, ({ name }) => name)
      return { Groups: page.map(describeGroup), ...(next === undefined ? {} : { NextToken: next }) }
    }),
)
