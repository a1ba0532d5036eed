import { and, eq } from 'drizzle-orm'
import { changeAccount } from '../users/accounts.ts'
import { withTargetUser } from '../users/target-user.ts'
import { findGroup } from '../pools/groups.ts'
import * as input from '../protocol/inputs.ts'
import { administration } from '../protocol/protocol.ts'
import { groupMembers } from '../schema.ts'

/** Left out of tokens issued from now on. */
export const adminRemoveUserFromGroup = administration(
  input.named.extend({ GroupName: input.groupName }),
  (given, call) =>
    withTargetUser(given, call, async (tx, user, pool) => {
      const { name } = await findGroup(tx, pool, given.GroupName)
      const removed = await tx
        .delete(groupMembers)
        .where(and(eq(groupMembers.userId, user.id), eq(groupMembers.name, name)))
        .returning()
      if (removed.length > 0) await changeAccount(tx, user, {}, ['groups'], call)
      return {}
    }),
)
