import type { Session } from '@robokids/contracts/auth'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { answer } from '../api/answer.ts'
import sessionShape from '../api/answers/session.json'
import { api, setAccount } from '../api/api.ts'
import { forgetAccountDraft, forgetMemberRecord, forgetMessage, forgetPendingUser } from '../browser/stored-data.ts'

export const sessionAnswer = answer<Session>(sessionShape)

/** Who is signed in in this browser. Other tabs sign in and out too, so it is refetched whenever this one gets the focus. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    const session = await api('/api/auth/session', { answer: sessionAnswer, signal })
    setAccount(session.user?.userId ?? null)
    return session
  },
  staleTime: 10_000,
  refetchOnWindowFocus: 'always',
  // Pages work without it.
  retry: 1,
})

/** Clears everything of the signed-in user from this tab. */
export function forgetUser(queryClient: QueryClient): void {
  void queryClient.cancelQueries(sessionQuery)
  const known = queryClient.getQueryData(sessionQuery.queryKey)
  if (known?.user) forgetAccountDraft(known.user.userId)
  setAccount(null)
  queryClient.setQueryData(sessionQuery.queryKey, { user: null })
  queryClient.removeQueries({
    predicate: ({ queryKey }) => queryKey[0] === 'profile' || queryKey[0] === 'registration',
  })
  forgetPendingUser()
  forgetMemberRecord()
  forgetMessage()
}

/** Returns the session after a call that may have changed it. */
export async function refetchSession(queryClient: QueryClient): Promise<Session> {
  await queryClient.cancelQueries(sessionQuery)
  return queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
}
