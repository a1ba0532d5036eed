import type { Destination } from '../factors/one-time-codes.ts'
import type { Pool } from '../pools/pools.ts'
import type { User } from '../schema.ts'

/** Returns where the sign-up code goes: to the address that the pool verifies, e-mail first. */
export function signUpDestination({ attributes }: User, { settings }: Pool): Destination | undefined {
  const { email, phone_number: phone } = attributes
  if (email !== undefined && settings.autoVerified.includes('email')) return { medium: 'EMAIL', destination: email }
  if (phone !== undefined && settings.autoVerified.includes('phone_number')) {
    return { medium: 'SMS', destination: phone }
  }
  return undefined
}
