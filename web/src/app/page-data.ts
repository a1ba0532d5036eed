import type { PageData } from '@robokids/contracts/pages'
import type { QueryClient } from '@tanstack/react-query'

/**
 * Answers queries with what a document was rendered with.
 *
 * @param updatedAt when that was true, in milliseconds since 1970: each is asked again as its `staleTime` says.
 */
export function answerQueries(queryClient: QueryClient, data: PageData, updatedAt: number): void {
  for (const [name, answer] of Object.entries(data)) {
    queryClient.setQueryData([name], answer as unknown, { updatedAt })
  }
}
