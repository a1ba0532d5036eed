import type { Profile } from '@robokids/contracts/auth'
import type { QueryClient } from '@tanstack/react-query'
import { profileQuery } from '../account/profile.ts'
import type { SignUpValues } from './sign-up-values.ts'

/** As `composeAddress` makes one line of them. */
const composed = /^(.+), ([^,]+), ([^,]+) (\d{5})$/

/** What an account says of what the form asks for. An address that was written in a way of its own is left to the parent. */
export function valuesOfProfile({ givenName, familyName, email, address }: Profile): Partial<SignUpValues> {
  const [, addressLine1 = '', city = '', state = '', zipCode = ''] = composed.exec(address.trim()) ?? []
  return { guardianName: `${givenName} ${familyName}`.trim(), email, addressLine1, city, state, zipCode }
}

/** The same of the account that is signed in. @throws Error where another one is by now */
export async function accountValues(queryClient: QueryClient, userId: string): Promise<Partial<SignUpValues>> {
  const profile = await queryClient.fetchQuery(profileQuery(userId))
  if (profile.userId !== userId) throw new Error('Another account is signed in.')
  return valuesOfProfile(profile)
}
