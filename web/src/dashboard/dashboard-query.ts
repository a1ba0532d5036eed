import type { Dashboard } from '@robokids/contracts/dashboard'
import { focusManager, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { api } from '../api/api.ts'
import { dashboard } from './answers.ts'
import { cardStateOf } from './card-state.ts'

/** Beside the stream, or without one. */
const askMs = 60_000
/** While a payment, a refund or a hold is open and the stream is lost. */
const askWhileMoneyMovesMs = 8_000

/** An answer, with how far the server's clock was ahead of this device's when it arrived. */
export type Home = Dashboard & { aheadByMs: number }

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
export function dashboardQuery(userId: string, isStreaming: boolean) {
  return queryOptions({
    queryKey: ['dashboard', userId],
    queryFn: async ({ signal }): Promise<Home> => {
      const answered = await api('/api/dashboard', { answer: dashboard, signal })
      return { ...answered, aheadByMs: Date.parse(answered.now) - Date.now() }
    },
    gcTime: 0,
    staleTime: 5_000,
    refetchOnWindowFocus: 'always',
    refetchInterval: ({ state: { data } }) => (data && movesMoney(data) && !isStreaming ? askWhileMoneyMovesMs : askMs),
  })
}

const streamedParts = ['unavailable', 'classes', 'waitlist', 'membership', 'orders'] as const

/** Whether the page is visible, as TanStack Query sees it, which refetches when it becomes visible. */
const useVisible = () =>
  useSyncExternalStore(
    (changed) => focusManager.subscribe(changed),
    () => focusManager.isFocused(),
    () => true,
  )

/**
 * The family's home, kept up to date by its event stream, each of whose events is a part, and by asking if the stream is lost or
 * silent. A hidden tab does neither.
 */
export function useDashboard(userId: string) {
  const queryClient = useQueryClient()
  const isVisible = useVisible()
  const [isStreaming, setIsStreaming] = useState(false)
  const query = useQuery(dashboardQuery(userId, isStreaming))
  const isWatched = isVisible && query.data?.account.isConfirmed === true

  useEffect(() => {
    if (!isWatched) return
    const { queryKey } = dashboardQuery(userId, true)
    const stream = new EventSource('/api/dashboard/events')
    stream.addEventListener('open', () => setIsStreaming(true))
    stream.addEventListener('error', () => setIsStreaming(false))
    for (const part of streamedParts) {
      stream.addEventListener(part, ({ data }: MessageEvent<string>) => {
        // An answer in flight is older than this event.
        void queryClient
          .cancelQueries({ queryKey, exact: true })
          .then(() => queryClient.setQueryData<Home>(queryKey, (known) => known && withPart(known, part, data)))
      })
    }
    return () => {
      stream.close()
      setIsStreaming(false)
    }
  }, [isWatched, userId, queryClient])

  return query
}

/** A part that the contract does not know changes nothing. */
function withPart(known: Home, part: (typeof streamedParts)[number], data: string): Home {
  try {
    const next = { ...known, [part]: JSON.parse(data) as unknown }
    const read = dashboard.safeParse(next)
    return read.success ? { ...read.data, aheadByMs: known.aheadByMs } : known
  } catch {
    return known
  }
}
