import { formatClassDate } from '@robokids/contracts/class-date'
import { useQuery } from '@tanstack/react-query'
import { timeForReader } from '../classes/class-time.ts'
import { formatMoment } from '../ui/format-moment.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { bookableQuery } from './bookable-query.ts'
import { classCount } from './credit-words.ts'

interface WhatStaysProps {
  userId: string
  membershipId: string
  until: string
}

/** The classes that a cancellation leaves, and those that have to be booked before the end. */
export function WhatStays({ userId, membershipId, until }: WhatStaysProps) {
  const { data, isError } = useQuery(bookableQuery(userId))
  if (isError) return <p>What you have booked stays.</p>
  if (!data) return <Skeleton height="3rem" />
  const own = data.memberships.find((one) => one.membershipId === membershipId)
  const booked = own?.booked ?? []
  return (
    <>
      {booked.length > 0 && <p>{booked.length === 1 ? 'This class stays booked:' : 'These classes stay booked:'}</p>}
      {booked.length > 0 && (
        <ul>
          {booked.map(({ bookingId, classDate, startTime }) => (
            <li key={bookingId}>{`${formatClassDate(classDate)}, ${timeForReader(classDate, startTime)}`}</li>
          ))}
        </ul>
      )}
      {own && own.credits > 0 && (
        <p>{`You have ${classCount(own.credits)} to book. Book by ${formatMoment(until)}: after that, ${own.credits === 1 ? 'it is' : 'they are'} gone.`}</p>
      )}
    </>
  )
}
