import type { Profile } from '@robokids/contracts/auth'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { done } from '../api/answer.ts'
import { api, type Call } from '../api/api.ts'
import { profile } from './answers.ts'
import { sessionQuery } from './session.ts'

/** What the account holds. It stays nowhere once no screen shows it. */
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

/** Changes a part of the account, and shows what it is then. */
export async function changeProfile(
  queryClient: QueryClient,
  path: '/api/profile' | `/api/profile/${string}`,
  { method = 'POST', body }: Change,
): Promise<void> {
  const answered = await api(path, { method, ...(body === undefined ? {} : { body }), answer: done })
  const read = profile.safeParse(answered)
  if (read.success) queryClient.setQueryData<Profile>(profileQuery(read.data.userId).queryKey, read.data)
  else await queryClient.invalidateQueries({ queryKey: ['profile'] })
  // The address that it names may be another one now.
  void queryClient.invalidateQueries(sessionQuery)
}
