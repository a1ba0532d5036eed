import type { Database, Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import { epochSeconds } from '../protocol/answers.ts'
import { IdentityError } from '../protocol/errors.ts'
import type { Pool } from './pools.ts'
import { groups } from '../schema.ts'

type Group = typeof groups.$inferSelect

/** @throws IdentityError ResourceNotFoundException */
export async function findGroup(db: Database | Transaction, pool: Pool, name: string): Promise<Group> {
  const [group] = await db
    .select()
    .from(groups)
    .where(and(eq(groups.poolId, pool.id), eq(groups.name, name)))
  if (!group) throw new IdentityError('ResourceNotFoundException', 'Group not found.')
  return group
}

export function describeGroup({ poolId, name, description, createdAt }: Group): object {
  return {
    GroupName: name,
    UserPoolId: poolId,
    Description: description,
    CreationDate: epochSeconds(createdAt),
    LastModifiedDate: epochSeconds(createdAt),
  }
}
