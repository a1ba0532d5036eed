import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { askAgainMs } from '../api/ask-again.ts'
import { waiverDocument } from './answers.ts'

/** The same words as a file. */
export const waiverAddress = '/waiver.pdf'

const askAgainAfterMs = 3_000

/** The words that the page shows, and the SHA-256 of their file, which goes with the signature. */
export const waiverDocumentQuery = queryOptions({
  queryKey: ['waiver-document'],
  queryFn: ({ signal }) => api('/api/waiver-document', { answer: waiverDocument, signal }),
  // The one that is read is the one that is signed, however long that takes.
  staleTime: Infinity,
  refetchInterval: ({ state }) => (state.data ? false : askAgainMs(askAgainAfterMs, state.errorUpdateCount)),
})
