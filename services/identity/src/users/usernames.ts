import { emailKey } from '@robokids/contracts/fields'
import { z } from 'zod'
import { invalid } from '../protocol/errors.ts'
import type { Pool } from '../pools/pools.ts'

/** What a name is an address of, where such addresses are aliases of the pool. @returns undefined for an account's own name. */
export function addressKind({ settings: { aliases } }: Pool, name: string): 'email' | 'phone_number' | undefined {
  if (aliases.includes('email') && name.includes('@')) return 'email'
  if (aliases.includes('phone_number') && /^\+\d+$/.test(name)) return 'phone_number'
  return undefined
}

/** A name as it is compared: an address in small letters, an account's own name as it is. */
export function nameKey(pool: Pool, name: string): string {
  return addressKind(pool, name) === 'email' ? emailKey(name) : name
}

/**
 * Refuses a name for a new account that could be taken for another account: for the address that it signs in by, or for
 * the `sub` that administrators find it by.
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
