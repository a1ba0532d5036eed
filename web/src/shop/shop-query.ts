import type { ShopView } from '@robokids/contracts/shop'
import { queryOptions } from '@tanstack/react-query'
import { answer } from '../api/answer.ts'
import shopViewShape from '../api/answers/shop-view.json'
import { api } from '../api/api.ts'

export const shopView = answer<ShopView>(shopViewShape)

export const shopQuery = queryOptions({
  queryKey: ['shop'],
  queryFn: ({ signal }) => api('/api/shop', { answer: shopView, signal }),
  staleTime: 5_000,
})
