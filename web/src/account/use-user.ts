import type { Session } from '@robokids/contracts/auth'
import { useQuery } from '@tanstack/react-query'
import { useHydrated } from '../browser/use-hydrated.ts'
import { sessionQuery } from './session.ts'

/** The signed-in user; null while that is unknown, and during hydration, as documents are rendered without a user. */
export function useUser(): Session['user'] {
  const hydrated = useHydrated()
  const { data } = useQuery(sessionQuery)
  return hydrated && data ? data.user : null
}
