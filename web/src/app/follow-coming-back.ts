import type { QueryClient } from '@tanstack/react-query'
import { local, session } from '../browser/storage.ts'

/**
 * A browser may keep the very page that is left, and show it again on Back as it was (its back/forward cache). By then the
 * server may tell something else, which is asked for. What this browser keeps may have changed as well, where a cart was
 * paid for or somebody logged out: of that a page holds copies all over, and is loaded anew.
 */
export function followComingBack(queryClient: QueryClient): void {
  const kept = () => session.snapshot() + local.snapshot()
  let left: string | undefined
  window.addEventListener('pagehide', () => {
    left = kept()
  })
  window.addEventListener('pageshow', (event) => {
    if (!event.persisted) return
    if (left !== undefined && left !== kept()) window.location.reload()
    // The waiver that is read is the one that is signed.
    else void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'waiver-document' })
  })
}
