import { and, asc, eq, gt, sql, type SQL } from 'drizzle-orm'
import { z } from 'zod'
import { describeUser } from '../users/target-user.ts'
import { afterToken, pageOf } from '../protocol/answers.ts'
import { invalid } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { findPool } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'
import { users } from '../schema.ts'

const attributes = ['email', 'phone_number', 'name', 'given_name', 'family_name', 'preferred_username']
const columns: Record<string, SQL> = {
  username: sql`${users.username}`,
  sub: sql`${users.id}::text`,
  'cognito:user_status': sql`${users.status}`,
  status: sql`case when ${users.enabled} then 'Enabled' else 'Disabled' end`,
  ...Object.fromEntries(attributes.map((name) => [name, sql`${users.attributes} ->> ${name}`])),
}

/** Parses `name = "value"`, or `name ^= "value"` for a prefix. @throws IdentityError InvalidParameterException */
function conditionOf(filter: string): SQL | undefined {
  if (filter.trim() === '') return undefined
  const [, name = '', operator = '', quoted = ''] =
    /^\s*"?([\w:]+)"?\s*(\^?=)\s*"((?:[^"\\]|\\.)*)"\s*$/s.exec(filter) ?? []
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined
  if (column === undefined) throw invalid('Error while parsing filter.')
  const value = quoted.replaceAll(/\\(.)/gs, '$1')
  return operator === '=' ? sql`${column} = ${value}` : sql`starts_with(${column}, ${value})`
}

export const listUsers = administration(
  z.object({
    UserPoolId: input.poolId,
    AttributesToGet: z.array(input.attributeName).max(50).optional(),
    Limit: input.pageSize.default(60),
    PaginationToken: input.pageToken,
    Filter: z.string().max(1024).default(''),
  }),
  async (given, { context }) => {
    const pool = await findPool(given.UserPoolId, context)
    const rows = await context.db
      .select()
      .from(users)
      .where(
        and(
          eq(users.poolId, pool.id),
          gt(users.username, afterToken(given.PaginationToken)),
          conditionOf(given.Filter),
        ),
      )
      .orderBy(asc(users.username))
      .limit(given.Limit + 1)
    const { page, next } = pageOf(rows, given.Limit, ({ username }) => username)
    return {
      Users: page.map((user) => describeUser(user, given.AttributesToGet)),
      ...(next === undefined ? {} : { PaginationToken: next }),
    }
  },
)
