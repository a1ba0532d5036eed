import { changeAccount } from '../accounts.ts'
import { onNamed } from '../administered.ts'
import { findGroup } from '../groups.ts'
import * as input from '../inputs.ts'
import { administration } from '../protocol.ts'
import { groupMembers } from '../schema.ts'

/** Tokens tell of it from the next one on. */
export const adminAddUserToGroup = administration(input.named.extend({ GroupName: input.groupName }), (given, call) =>
  onNamed(given, call, async (tx, user, pool) => {
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
