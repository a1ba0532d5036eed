import type { Profile } from '@robokids/contracts/auth'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { done } from '../api/answer.ts'
import { api, type Call } from '../api/api.ts'
import { profile } from './answers.ts'
import { sessionQuery } from './session.ts'

/** The account's profile. Not cached once no screen shows it. */
export function profileQuery(userId: string) {
  return queryOptions({
    queryKey: ['profile', userId],
    queryFn: ({ signal }) => api('/api/profile', { answer: profile, signal }),
    gcTime: 0,
    staleTime: 5_000,
    refetchOnWindowFocus: 'always',
  })
}

type Change = Pick<Call<unknown>, 'method' | 'body'>

/** Changes a part of the account, and updates the cached profile. */
export async function changeProfile(
  queryClient: QueryClient,
  path: '/api/profile' | `/api/profile/${string}`,
  { method = 'POST', body }: Change,
): Promise<void> {
  const answered = await api(path, { method, ...(body === undefined ? {} : { body }), answer: done })
  const read = profile.safeParse(answered)
  if (read.success) queryClient.setQueryData<Profile>(profileQuery(read.data.userId).queryKey, read.data)
  else await queryClient.invalidateQueries({ queryKey: ['profile'] })
  // The session's email may have changed.
  void queryClient.invalidateQueries(sessionQuery)
}
