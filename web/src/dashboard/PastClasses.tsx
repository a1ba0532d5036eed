import { lazy, Suspense, useState } from 'react'
import { Icon } from '../ui/Icon.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import styles from './PastClasses.module.css'

const PastList = lazy(async () => ({ default: (await import('./PastList.tsx')).PastList }))

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
      {isOpen && (
        <Suspense fallback={<Skeleton height="12rem" />}>
          <PastList userId={userId} now={now} />
        </Suspense>
      )}
    </details>
  )
}
