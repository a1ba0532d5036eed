import type { Profile } from '@robokids/contracts/auth'
import type { QueryClient } from '@tanstack/react-query'
import { profileQuery } from '../account/profile.ts'
import type { SignUpValues } from './sign-up-values.ts'

/** The format of `composeAddress`. */
const composed = /^(.+), ([^,]+), ([^,]+) (\d{5})$/

/** The form's values from an account. An address in another format is left to the parent. */
export function valuesOfProfile({ givenName, familyName, email, address }: Profile): Partial<SignUpValues> {
  const [, addressLine1 = '', city = '', state = '', zipCode = ''] = composed.exec(address.trim()) ?? []
  return { guardianName: `${givenName} ${familyName}`.trim(), email, addressLine1, city, state, zipCode }
}

/** The values of the signed-in account. @throws Error if another account is signed in by now */
export async function accountValues(queryClient: QueryClient, userId: string): Promise<Partial<SignUpValues>> {
  const profile = await queryClient.fetchQuery(profileQuery(userId))
  if (profile.userId !== userId) throw new Error('Another account is logged in.')
  return valuesOfProfile(profile)
}
