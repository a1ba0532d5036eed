import type { Transaction } from '@robokids/runtime/db'
import type { z } from 'zod'
import { epochSeconds } from '../protocol/answers.ts'
import { listAttributes } from './attributes.ts'
import { orThrow, type IdentityError } from '../protocol/errors.ts'
import type * as input from '../protocol/inputs.ts'
import { findPool, type Pool } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import type { User } from '../schema.ts'
import { lockTargetUser } from './users.ts'

/**
 * Runs `work` on the account that an administrator names, with its row locked.
 * @throws IdentityError ResourceNotFoundException, UserNotFoundException
 */
export async function withTargetUser<T>(
  given: z.infer<typeof input.named>,
  { context }: Call,
  work: (tx: Transaction, user: User, pool: Pool) => Promise<T | IdentityError>,
): Promise<T> {
  const pool = await findPool(given.UserPoolId, context)
  const outcome = await context.db.transaction(async (tx) =>
    work(tx, await lockTargetUser(tx, pool, given.Username), pool),
  )
  return orThrow(outcome)
}

/** The protocol's representation of an account in administrators' lists. */
export function describeUser(user: User, only?: string[]): object {
  const attributes = listAttributes(user.id, user.attributes)
  return {
    Username: user.username,
    Attributes: only ? attributes.filter(({ Name }) => only.includes(Name)) : attributes,
    UserCreateDate: epochSeconds(user.createdAt),
    UserLastModifiedDate: epochSeconds(user.updatedAt),
    Enabled: user.enabled,
    UserStatus: user.status,
  }
}
