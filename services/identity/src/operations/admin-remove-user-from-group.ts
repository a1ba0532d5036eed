import { and, eq } from 'drizzle-orm'
import { changeAccount } from '../accounts.ts'
import { onNamed } from '../administered.ts'
import { findGroup } from '../groups.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'
import { groupMembers } from '../schema.ts'

/** Tokens tell of it from the next one on. */
export const adminRemoveUserFromGroup = administration(
  input.named.extend({ GroupName: input.groupName }),
  (given, call) =>
    onNamed(given, call, async (tx, user, pool) => {
      const { name } = await findGroup(tx, pool, given.GroupName)
      const removed = await tx
        .delete(groupMembers)
        .where(and(eq(groupMembers.userId, user.id), eq(groupMembers.name, name)))
        .returning()
      if (removed.length > 0) await changeAccount(tx, user, {}, ['groups'], call)
      return {}
    }),
)
