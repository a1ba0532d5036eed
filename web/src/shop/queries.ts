import type { Order } from '@robokids/contracts/shop'
import { queryOptions } from '@tanstack/react-query'
import { api, ApiError } from '../api/api.ts'
import { askAgainMs } from '../api/ask-again.ts'
import { returnedQuery } from '../checkout/returned.ts'
import { noticeAnswer, orderAnswer } from './answers.ts'

/** Whether its status may still change by itself. */
export function isUndecided({ status, checkout }: Order): boolean {
  return status === 'unpaid' && ['creating', 'open', 'processing'].includes(checkout.status)
}

/** A 404, as opposed to a network failure. */
export function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && ['order_not_found', 'notice_not_found', 'not_found'].includes(error.code)
}

export function orderQuery(reference: string) {
  return queryOptions({
    queryKey: ['order', reference],
    queryFn: ({ signal }) =>
      api(`/api/orders/${encodeURIComponent(reference)}${returnedQuery()}`, { answer: orderAnswer, signal }),
    retry: false,
    staleTime: 0,
    refetchInterval: ({ state: { data, error, dataUpdateCount, errorUpdateCount } }) =>
      isUnknown(error) || (data && !isUndecided(data)) ? false : askAgainMs(3_000, dataUpdateCount + errorUpdateCount),
  })
}

export function noticeQuery(reference: string) {
  return queryOptions({
    queryKey: ['notice', reference],
    queryFn: ({ signal }) =>
      api(`/api/shop/notices/${encodeURIComponent(reference)}`, { answer: noticeAnswer, signal }),
    retry: false,
  })
}
