import type { PageData } from '@robokids/contracts/pages'
import type { QueryClient } from '@tanstack/react-query'

/** Answers queries with what a document was rendered with. Seats move: each is asked again when a screen shows it. */
export function answerQueries(queryClient: QueryClient, data: PageData): void {
  for (const [name, answer] of Object.entries(data)) {
    queryClient.setQueryData([name], answer as unknown, { updatedAt: 1 })
  }
}
