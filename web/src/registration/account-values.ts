import type { Profile } from '@robokids/contracts/auth'
import type { Family } from '@robokids/contracts/dashboard'
import type { QueryClient } from '@tanstack/react-query'
import { profileQuery } from '../account/profile.ts'
import { answer } from '../api/answer.ts'
import familyShape from '../api/answers/family.json'
import { api } from '../api/api.ts'
import type { ChildValues, SignUpValues } from './sign-up-values.ts'

/** The format of `composeAddress`. */
const composed = /^(.+), ([^,]+), ([^,]+) (\d{5})$/

/** The form's values from an account. An address in another format is left to the parent. */
export function valuesOfProfile({ givenName, familyName, email, address }: Profile): Partial<SignUpValues> {
  const [, addressLine1 = '', city = '', state = '', zipCode = ''] = composed.exec(address.trim()) ?? []
  return { guardianName: `${givenName} ${familyName}`.trim(), email, addressLine1, city, state, zipCode }
}

export const familyAnswer = answer<Family>(familyShape)

/** What an account says of the form, and the children that it has registered before. */
interface AccountValues {
  values: Partial<SignUpValues>
  children: ChildValues[]
}

/**
 * Adds what earlier registrations say to what the profile does: an address that the profile lacks, and an only child. Of several
 * children the parent chooses, as each takes a seat.
 */
export function withFamily(values: Partial<SignUpValues>, { children, address }: Family): AccountValues {
  const known = children.map(({ childName, childAge }) => ({ childName, childAge: String(childAge) }))
  return {
    values: {
      ...values,
      ...(values.addressLine1 === '' && address ? address : {}),
      ...(known.length === 1 ? { children: known } : {}),
    },
    children: known,
  }
}

/** The values of the signed-in account. @throws Error if another account is signed in by now */
export async function accountValues(queryClient: QueryClient, userId: string): Promise<AccountValues> {
  const [profile, family] = await Promise.all([
    queryClient.fetchQuery(profileQuery(userId)),
    // Without it the form is filled in from the profile alone.
    api('/api/family', { answer: familyAnswer }).catch((): Family => ({ children: [], address: null })),
  ])
  if (profile.userId !== userId) throw new Error('Another account is logged in.')
  return withFamily(valuesOfProfile(profile), family)
}
