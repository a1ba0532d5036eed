import { z } from 'zod'
import { IdentityError } from '../protocol/errors.ts'
import { describeGroup } from '../pools/groups.ts'
import * as input from '../protocol/inputs.ts'
import { findPool } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'
import { groups } from '../schema.ts'

export const createGroup = administration(
  z.object({ UserPoolId: input.poolId, GroupName: input.groupName, Description: z.string().max(2048).default('') }),
  async (given, { context }) => {
    const pool = await findPool(given.UserPoolId, context)
    const [group] = await context.db
      .insert(groups)
      .values({
        poolId: pool.id,
        name: given.GroupName,
        description: given.Description,
        createdAt: context.clock.now(),
      })
      .onConflictDoNothing()
      .returning()
    if (!group) throw new IdentityError('GroupExistsException', 'A group with the name already exists.')
    return { Group: describeGroup(group) }
  },
)
