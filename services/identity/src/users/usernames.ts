import { emailKey } from '@robokids/contracts/fields'
import { z } from 'zod'
import { invalid } from '../protocol/errors.ts'
import type { Pool } from '../pools/pools.ts'

/** Returns which kind of address a name is, if the pool has such aliases. @returns undefined for a username */
export function addressKind({ settings: { aliases } }: Pool, name: string): 'email' | 'phone_number' | undefined {
  if (aliases.includes('email') && name.includes('@')) return 'email'
  if (aliases.includes('phone_number') && /^\+\d+$/.test(name)) return 'phone_number'
  return undefined
}

/** Returns a name in its form for comparison: addresses in lower case, usernames unchanged. */
export function nameKey(pool: Pool, name: string): string {
  return addressKind(pool, name) === 'email' ? emailKey(name) : name
}

/**
 * Rejects a username for a new account that could be mistaken for another account's alias, or for the `sub` that
 * administrators find accounts by.
 * @throws IdentityError InvalidParameterException
 */
export function checkNewUsername(pool: Pool, name: string): void {
  const kind = addressKind(pool, name)
  if (kind === 'email') {
    throw invalid('Username cannot be of email format, since user pool is configured for email alias.')
  }
  if (kind === 'phone_number') {
    throw invalid('Username cannot be of phone number format, since user pool is configured for phone number alias.')
  }
  if (z.guid().safeParse(name).success) {
    throw invalid('Username cannot be of UUID format, since users are found by their sub as well.')
  }
}
