import type { Membership } from '@robokids/contracts/billing'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { askAgainMs } from '../api/ask-again.ts'
import { isRefusal } from '../api/refusals.ts'
import { returnedQuery } from '../checkout/returned.ts'
import { foundMembership, type FoundMembership, memberSeat, membership, membershipOutcome } from './answers.ts'

/** The signed-in user's membership. Not cached once no screen shows it. */
export function membershipQuery(userId: string) {
  return queryOptions({
    queryKey: ['membership', userId],
    queryFn: ({ signal }) => api('/api/membership', { answer: foundMembership, signal }),
    gcTime: 0,
    staleTime: 2_000,
    refetchOnWindowFocus: 'always',
  })
}

/** Changes a membership of the account, and updates the cache. */
export async function changeMembership(
  queryClient: QueryClient,
  userId: string,
  change: 'cancel' | 'resume' | 'switch',
  body?: object,
): Promise<Membership> {
  const changed = await api(`/api/membership/${change}`, {
    method: 'POST',
    ...(body === undefined ? {} : { body }),
    answer: membership,
  })
  const now = (one: Membership) => (one.membershipId === changed.membershipId ? changed : one)
  queryClient.setQueryData(membershipQuery(userId).queryKey, (known: FoundMembership | undefined): FoundMembership =>
    known?.others?.some(({ membershipId }) => membershipId === changed.membershipId)
      ? { ...known, others: known.others.map(now) }
      : { ...known, membership: changed },
  )
  return changed
}

/** A 404, as opposed to a network failure. */
export const isUnknown = (error: unknown) => isRefusal(error, 'checkout_not_found', 'not_found', 'validation_failed')

/** The outcome of a membership's payment, polled until it is final. */
export function outcomeQuery(reference: string) {
  return queryOptions({
    queryKey: ['membership-outcome', reference],
    queryFn: ({ signal }) =>
      api(`/api/membership-checkouts/${encodeURIComponent(reference)}${returnedQuery()}`, {
        answer: membershipOutcome,
        signal,
      }),
    retry: false,
    staleTime: 0,
    refetchInterval: ({ state: { data, error, dataUpdateCount, errorUpdateCount } }) => {
      const isSettled = data && data.status !== 'open' && data.status !== 'processing'
      return isSettled || isUnknown(error) ? false : askAgainMs(1_500, dataUpdateCount + errorUpdateCount)
    },
  })
}

/** A 404 (no such membership, yet), as opposed to a network failure. */
export const isNoMembership = (error: unknown) => isRefusal(error, 'membership_not_found')

/** It exists moments after the payment; after that the reference is wrong. */
const mostLooksForSeat = 20

/** The seat of a membership, with its waiver, polled until it is known. */
export function memberSeatQuery(membershipId: string) {
  return queryOptions({
    queryKey: ['member-seat', membershipId],
    queryFn: ({ signal }) =>
      api(`/api/member-seats/${encodeURIComponent(membershipId)}`, { answer: memberSeat, signal }),
    retry: false,
    staleTime: 0,
    refetchInterval: ({ state: { data, errorUpdateCount } }) =>
      data || errorUpdateCount >= mostLooksForSeat ? false : askAgainMs(3_000, errorUpdateCount),
  })
}
