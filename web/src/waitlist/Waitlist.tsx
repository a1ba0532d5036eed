import { formatClassDate } from '@robokids/contracts/class-date'
import type { WaitlistView } from '@robokids/contracts/waitlist'
import { placeInLine, seatCount, waitingTerms } from '@robokids/contracts/waitlist-texts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Actions, StatusPage } from '../checkout/StatusPage.tsx'
import { ClassMoment } from '../classes/ClassMoment.tsx'
import { isLevel, levels } from '../classes/level-looks.ts'
import { childRow } from '../registration/registration-rows.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Details } from '../ui/Details.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import { JoinForm } from './JoinForm.tsx'
import { LeaveButton } from './LeaveButton.tsx'
import { schoolWeekday } from './offer-time.ts'
import { Offer } from './Offer.tsx'
import { isUnknownPlace, waitlistQuery } from './waitlist-query.ts'

/** The line of a full class: the form to join it, or a family's place or offer. Opening it changes nothing. */
export function Waitlist() {
  const { classType = '', startDate = '', reference, offer } = useSearch({ from: '/waitlist' })
  const known = offer || reference
  if (known) return <PlaceOf reference={known} key={known} />
  if (isLevel(classType) && startDate !== '')
    return <JoinForm classType={classType} startDate={startDate} key={`${classType} ${startDate}`} />
  return (
    <StatusPage title="Waitlist">
      <Notice title="Choose a class first. A full date has a link to its waitlist." />
      <OtherDates variant="primary" />
    </StatusPage>
  )
}

function PlaceOf({ reference }: { reference: string }) {
  const { data, error, refetch, isFetching } = useQuery(waitlistQuery(reference))
  if (data) return <Place entry={data} />
  if (isUnknownPlace(error)) {
    return (
      <StatusPage title="Waitlist">
        <Notice kind="error" title="We can’t find this place in line." />
        <OtherDates variant="primary" />
      </StatusPage>
    )
  }
  if (error) {
    return (
      <StatusPage title="Waitlist">
        <Notice kind="error" title="We can’t look up your place right now. You keep it." live />
        <Actions>
          <Button onClick={() => void refetch()} pending={isFetching} pendingLabel="Loading...">
            Try again
          </Button>
        </Actions>
      </StatusPage>
    )
  }
  return (
    <StatusPage title="One moment">
      <p aria-live="polite">Loading your place in line...</p>
      <Skeleton height="12rem" />
      <TakesLonger />
    </StatusPage>
  )
}

function Place({ entry }: { entry: WaitlistView }) {
  switch (entry.status) {
    case 'waiting':
      return <Waiting entry={entry} />
    case 'offered':
      return (
        <Offer entry={entry} ended={<Ended entry={entry} />}>
          <Summary entry={entry} />
        </Offer>
      )
    case 'accepted':
      return (
        <StatusPage title={entry.children.length === 1 ? 'You took the seat.' : 'You took the seats.'}>
          <Summary entry={entry} />
          <Actions>
            <ButtonLink to="/robokids-payment" search={{ reference: entry.registrationId ?? '' }}>
              Go to your registration
            </ButtonLink>
          </Actions>
        </StatusPage>
      )
    default:
      return <Ended entry={entry} />
  }
}

function Waiting({ entry }: { entry: WaitlistView }) {
  const queryClient = useQueryClient()
  const { entryId, place, familiesWaiting, children } = entry
  const keepAnswer = (now: WaitlistView) => queryClient.setQueryData(waitlistQuery(entryId).queryKey, now)
  return (
    <StatusPage title={`You are ${placeInLine(place ?? 1, familiesWaiting)}.`}>
      <p>{waitingTerms(children.length)}</p>
      <Summary entry={entry} />
      <Actions>
        <LeaveButton entryId={entryId} onLeft={keepAnswer} />
        <ButtonLink to="/levels" variant="quiet">
          See other dates
        </ButtonLink>
      </Actions>
    </StatusPage>
  )
}

/** A place that is over, and why. Coming back means a new place at the end of the line. */
function Ended({ entry }: { entry: WaitlistView }) {
  const { title, text, again } = endOf(entry)
  return (
    <StatusPage title={title}>
      {text && <p>{text}</p>}
      <Summary entry={entry} />
      <OtherDates variant={again ? 'secondary' : 'primary'}>
        {again && isLevel(entry.classType) && (
          <ButtonLink to="/waitlist" search={{ classType: entry.classType, startDate: entry.startDate }}>
            Join the line again
          </ButtonLink>
        )}
      </OtherDates>
    </StatusPage>
  )
}

function endOf({ status, closedReason, offerEndsAt, children }: WaitlistView): {
  title: string
  text?: string
  again: boolean
} {
  const theSeats = children.length === 1 ? 'The seat' : 'The seats'
  if (status === 'left') return { title: 'You left the line.', text: 'Nothing was charged.', again: true }
  if (status === 'declined') {
    return { title: 'No, thank you: noted.', text: `${theSeats} went to the next family.`, again: true }
  }
  switch (closedReason) {
    case 'class_cancelled':
      return { title: 'This class was canceled, so the line is closed.', again: false }
    case 'class_started':
      return { title: 'This class has begun, so the line is closed.', again: false }
    case 'registered':
      return {
        title: 'You’re already registered',
        text: 'Your child has a seat in this class, so this place in line ended. The confirmation is in your email.',
        again: false,
      }
    case null: {
      const when = offerEndsAt === null ? '' : ` on ${schoolWeekday(offerEndsAt)}`
      return { title: `The offer ended${when}.`, text: `${theSeats} went to the next family.`, again: true }
    }
  }
}

function Summary({ entry }: { entry: WaitlistView }) {
  const { levelTitle, startDate, startTime, children, classType } = entry
  return (
    <Card accent={isLevel(classType) ? levels[classType].accent : undefined}>
      <Details
        rows={[
          ['Class', levelTitle],
          ['Start date', <ClassMoment key={formatClassDate(startDate)} date={startDate} time={startTime} />],
          ['Seats', seatCount(children.length)],
          ...children.map(({ childName, childAge }) => childRow({ childName, childAge: String(childAge) })),
        ]}
      />
    </Card>
  )
}

function OtherDates({ variant, children }: { variant: 'primary' | 'secondary'; children?: ReactNode }) {
  return (
    <Actions>
      {children}
      <ButtonLink to="/levels" variant={variant}>
        See other dates
      </ButtonLink>
    </Actions>
  )
}
