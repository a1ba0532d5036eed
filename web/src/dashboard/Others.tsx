import type { DashboardPart } from '@robokids/contracts/dashboard'
import type { ReactNode } from 'react'
import { CalendarPart } from './CalendarPart.tsx'
import type { Home } from './dashboard-query.ts'
import { MembershipPart } from './MembershipPart.tsx'
import { Orders } from './Orders.tsx'
import { PastClasses } from './PastClasses.tsx'
import type { StatedSeat } from './upcoming.ts'
import { WaitlistPart } from './WaitlistPart.tsx'

interface OthersProps {
  dashboard: Home
  seats: StatedSeat[]
  now: number
  /** Whether past classes are unfolded. */
  isPastOpen: boolean
  /** What stands in place of a part that cannot be shown. */
  down: (part: DashboardPart) => ReactNode
}

/** What is on a parent's home besides its classes. It is loaded after them. */
export function Others({ dashboard, seats, now, isPastOpen, down }: OthersProps) {
  const { account, classes, orders } = dashboard
  return (
    <>
      {down('waitlist')}
      <WaitlistPart entries={dashboard.waitlist ?? []} now={now} />
      {down('membership')}
      <MembershipPart dashboard={dashboard} seats={seats} />
      {down('orders')}
      <Orders orders={orders?.open ?? []} />
      <PastClasses
        userId={account.userId}
        classes={classes?.past ?? 0}
        orders={orders?.past ?? 0}
        now={now}
        open={isPastOpen}
      />
      <CalendarPart />
    </>
  )
}
