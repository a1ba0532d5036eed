import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { askAgainMs } from '../api/ask-again.ts'
import { waiverDocument } from './answers.ts'

/** The same text as a PDF. */
export const waiverAddress = '/waiver.pdf'

const askAgainAfterMs = 3_000

/** The text of the waiver, and the SHA-256 of its PDF, which is part of the signature. */
export const waiverDocumentQuery = queryOptions({
  queryKey: ['waiver-document'],
  queryFn: ({ signal }) => api('/api/waiver-document', { answer: waiverDocument, signal }),
  // Never refetched: the waiver that was read is the one that is signed.
  staleTime: Infinity,
  refetchInterval: ({ state }) => (state.data ? false : askAgainMs(askAgainAfterMs, state.errorUpdateCount)),
})
