import type { QueryClient } from '@tanstack/react-query'
import { local, session } from '../browser/storage.ts'

/**
 * Handles a page that the browser restores from its back/forward cache: its queries are refetched. If the browser's storage
 * has changed since (a cart was paid for, a user signed out), the page is reloaded, as its components hold copies of it.
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
    // The waiver that was read must be the one that is signed.
    else void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'waiver-document' })
  })
}
