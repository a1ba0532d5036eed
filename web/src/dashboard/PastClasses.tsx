import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { cardStateOf } from './card-state.ts'
import { ClassCard } from './ClassCard.tsx'
import { dashboardPastQuery } from './dashboard-query.ts'
import { OrderList } from './Orders.tsx'
import styles from './PastClasses.module.css'

interface PastProps {
  userId: string
  /** How many there are of each. */
  classes: number
  orders: number
  now: number
  open: boolean
}

/** What is over, which is loaded when it is opened. */
export function PastClasses({ userId, classes, orders, now, open }: PastProps) {
  const [isOpen, setIsOpen] = useState(open)
  if (classes + orders === 0) return null
  const title =
    classes === 0
      ? `Past orders (${orders})`
      : `Past classes (${classes})${orders > 0 ? ` and orders (${orders})` : ''}`
  return (
    <details className={styles.past} open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary className={styles.summary}>
        <span>{title}</span>
        <Icon name="down" />
      </summary>
      {isOpen && <Past userId={userId} now={now} />}
    </details>
  )
}

function Past({ userId, now }: { userId: string; now: number }) {
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
        <ClassCard key={card.registrationId} card={card} state={cardStateOf(card, now)} now={now} />
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
