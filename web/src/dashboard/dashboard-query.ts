import type { Dashboard } from '@robokids/contracts/dashboard'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { dashboard } from './answers.ts'
import { cardStateOf } from './card-state.ts'

const askMs = 60_000
const askWhileMoneyMovesMs = 8_000

/** Whether a payment or a refund is on its way, so that the page may change at any moment. */
function movesMoney({ classes, now }: Dashboard): boolean {
  return (
    classes?.cards.some((card) => {
      const { kind, badge } = cardStateOf(card, Date.parse(now))
      return kind === 'processing' || kind === 'held' || kind === 'no seat' || badge === 'Refund on its way'
    }) ?? false
  )
}

/** The signed-in family's own. Not cached once no screen shows it; a hidden tab does not ask. */
export function dashboardQuery(userId: string) {
  return queryOptions({
    queryKey: ['dashboard', userId],
    queryFn: ({ signal }) => api('/api/dashboard', { answer: dashboard, signal }),
    gcTime: 0,
    staleTime: 5_000,
    refetchOnWindowFocus: 'always',
    refetchInterval: ({ state: { data } }) => (data && movesMoney(data) ? askWhileMoneyMovesMs : askMs),
  })
}
