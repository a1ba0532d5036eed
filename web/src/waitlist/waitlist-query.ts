import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { isRefusal } from '../api/refusals.ts'
import { waitlistView } from './answers.ts'

const askOfferAgainMs = 8_000
const askPlaceAgainMs = 60_000

/** A place in line, kept up to date while it may still change. Reading it changes nothing. */
export function waitlistQuery(reference: string) {
  return queryOptions({
    queryKey: ['waitlist', reference],
    queryFn: ({ signal }) => api(`/api/waitlist/${encodeURIComponent(reference)}`, { answer: waitlistView, signal }),
    retry: false,
    staleTime: 0,
    refetchInterval: ({ state: { data, error } }) => {
      if (isUnknownPlace(error)) return false
      if (data?.status === 'offered') return askOfferAgainMs
      return data === undefined || data.status === 'waiting' ? askPlaceAgainMs : false
    },
  })
}

export function isUnknownPlace(error: unknown): boolean {
  return isRefusal(error, 'waitlist_entry_not_found', 'not_found', 'validation_failed')
}
