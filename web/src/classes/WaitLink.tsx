import { formatClassDate } from '@robokids/contracts/class-date'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { Link } from '@tanstack/react-router'

/** Leads to the waitlist of a class. What is typed in the sign-up form stays, and is there again. */
export function WaitLink({ classType, startDate }: { classType: LevelClassType; startDate: string }) {
  return (
    <Link to="/waitlist" search={{ classType, startDate }}>
      <span>Join the waitlist</span>
      <span className="visually-hidden">{` for ${formatClassDate(startDate)}`}</span>
    </Link>
  )
}
