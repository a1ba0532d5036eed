import type { PageData } from '@robokids/contracts/pages'
import type { QueryClient } from '@tanstack/react-query'

/**
 * Fills the query cache with the data that a document was rendered with.
 *
 * @param updatedAt when the data was current, in milliseconds since 1970: queries are refetched by their `staleTime`
 */
export function answerQueries(queryClient: QueryClient, data: PageData, updatedAt: number): void {
  for (const [name, answer] of Object.entries(data)) {
    queryClient.setQueryData([name], answer as unknown, { updatedAt })
  }
}
