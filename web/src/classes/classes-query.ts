import type { ClassesView } from '@robokids/contracts/bff'
import { queryOptions } from '@tanstack/react-query'
import { answer } from '../api/answer.ts'
import classesViewShape from '../api/answers/classes-view.json'
import { api } from '../api/api.ts'

export const classesView = answer<ClassesView>(classesViewShape)

/** Levels with their prices, dates and seats left. Seats change, so each screen that mounts refetches it. */
export const classesQuery = queryOptions({
  queryKey: ['classes'],
  queryFn: ({ signal }) => api('/api/classes', { answer: classesView, signal }),
  staleTime: 5_000,
})
