import type { Session } from '@robokids/contracts/auth'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { answer } from '../api/answer.ts'
import sessionShape from '../api/answers/session.json'
import { api, noteAccount } from '../api/api.ts'
import { forgetAccountDraft, forgetMemberRecord, forgetMessage, forgetPendingUser } from '../browser/stored-data.ts'

export const sessionAnswer = answer<Session>(sessionShape)

/** Who is signed in in this browser. Other tabs sign in and out too: it is asked again whenever one comes back to this one. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    const session = await api('/api/auth/session', { answer: sessionAnswer, signal })
    noteAccount(session.user?.userId ?? null)
    return session
  },
  staleTime: 10_000,
  refetchOnWindowFocus: 'always',
  // A page is usable without knowing.
  retry: 1,
})

/** What is left in this tab of whoever was signed in: nothing. */
export function forgetUser(queryClient: QueryClient): void {
  void queryClient.cancelQueries(sessionQuery)
  const known = queryClient.getQueryData(sessionQuery.queryKey)
  if (known?.user) forgetAccountDraft(known.user.userId)
  noteAccount(null)
  queryClient.setQueryData(sessionQuery.queryKey, { user: null })
  queryClient.removeQueries({
    predicate: ({ queryKey }) => queryKey[0] === 'profile' || queryKey[0] === 'registration',
  })
  forgetPendingUser()
  forgetMemberRecord()
  forgetMessage()
}

/** Asks who is signed in after something may have changed it, and hands back the answer. */
export async function askSession(queryClient: QueryClient): Promise<Session> {
  await queryClient.cancelQueries(sessionQuery)
  return queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
}
