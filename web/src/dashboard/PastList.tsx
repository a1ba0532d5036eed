import type { DashboardPast } from '@robokids/contracts/dashboard'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer } from '../api/answer.ts'
import dashboardPastShape from '../api/answers/dashboard-past.json'
import { api } from '../api/api.ts'
import { Button } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { cardStateOf } from './card-state.ts'
import { ClassCard } from './ClassCard.tsx'
import { OrderList } from './Orders.tsx'
import styles from './PastClasses.module.css'

export const dashboardPast = answer<DashboardPast>(dashboardPastShape)

const dashboardPastQuery = (userId: string) =>
  queryOptions({
    queryKey: ['dashboard', userId, 'past'],
    queryFn: ({ signal }) => api('/api/dashboard/past', { answer: dashboardPast, signal }),
    gcTime: 0,
    staleTime: 60_000,
  })

/** What is over, loaded when it is opened. */
export function PastList({ userId, now }: { userId: string; now: number }) {
  const { data, isFetching, isError, refetch } = useQuery(dashboardPastQuery(userId))
  const failed = isError || (data && (data.cards === null || data.orders === null))
  return (
    <div className={styles.list} aria-busy={!data && !isError}>
      {!data && !isError && (
        <>
          <p className="visually-hidden" aria-live="polite">
            Loading...
          </p>
          <Skeleton height="12rem" />
        </>
      )}
      {data?.cards?.map((card) => (
        <ClassCard key={card.cardId} card={card} state={cardStateOf(card, now)} now={now} />
      ))}
      {data?.orders && data.orders.length > 0 && <OrderList orders={data.orders} />}
      {failed && (
        <Notice kind="error" title="We cannot show all of it right now." live>
          <Button variant="secondary" onClick={() => void refetch()} pending={isFetching} pendingLabel="Loading...">
            Try again
          </Button>
        </Notice>
      )}
    </div>
  )
}
