import type { Session } from '@robokids/contracts/auth'
import { useQuery } from '@tanstack/react-query'
import { useHydrated } from '../browser/use-hydrated.ts'
import { sessionQuery } from './session.ts'

/** Whoever is signed in. Nobody while that is not known, and on a page that is being hydrated: it was made for nobody. */
export function useUser(): Session['user'] {
  const hydrated = useHydrated()
  const { data } = useQuery(sessionQuery)
  return hydrated && data ? data.user : null
}
