import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { bookableClasses } from './book-answers.ts'

/** What the signed-in member can book, and has booked. Not cached once no screen shows it. */
export const bookableQuery = (userId: string) =>
  queryOptions({
    queryKey: ['dashboard', userId, 'member classes'],
    queryFn: ({ signal }) => api('/api/dashboard/member-classes', { answer: bookableClasses, signal }),
    gcTime: 0,
  })
