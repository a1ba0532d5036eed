import { queryOptions } from '@tanstack/react-query'
import { classesView } from './answers.ts'
import { api } from './api.ts'

/** Levels with their prices, dates and seats left: seats move, so it is asked again whenever a screen shows it anew. */
export const classesQuery = queryOptions({
  queryKey: ['classes'],
  queryFn: ({ signal }) => api('/api/classes', { answer: classesView, signal }),
  staleTime: 15_000,
})
