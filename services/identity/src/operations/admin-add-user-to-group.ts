import { changeAccount } from '../users/accounts.ts'
import { withTargetUser } from '../users/target-user.ts'
import { findGroup } from '../pools/groups.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'
import { groupMembers } from '../schema.ts'

/** Included in tokens issued from now on. */
export const adminAddUserToGroup = administration(input.named.extend({ GroupName: input.groupName }), (given, call) =>
  withTargetUser(given, call, async (tx, user, pool) => {
    const { name } = await findGroup(tx, pool, given.GroupName)
    const added = await tx
      .insert(groupMembers)
      .values({ userId: user.id, poolId: pool.id, name })
      .onConflictDoNothing()
      .returning()
    if (added.length > 0) await changeAccount(tx, user, {}, ['groups'], call)
    return {}
  }),
)
