import { formatClassDate } from '@robokids/contracts/class-date'
import type { BookableClasses, MemberClass, MemberCredits } from '@robokids/contracts/member-classes'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { sessionQuery } from '../account/session.ts'
import { SignInFirst } from '../account/SignInFirst.tsx'
import { done } from '../api/answer.ts'
import { adoptSignedInAccount, api } from '../api/api.ts'
import { isRefusal, messageOf } from '../api/refusals.ts'
import { useKeptFromBack } from '../browser/use-kept-from-back.ts'
import { uuidV7 } from '../browser/uuid-v7.ts'
import { Actions, StatusPage } from '../checkout/StatusPage.tsx'
import { MessageLine, Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { memberClass } from '../membership/book-answers.ts'
import { bookableQuery } from '../membership/bookable-query.ts'
import { classCount, creditSentence, enough } from '../membership/credit-words.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { focusHeading } from '../ui/focus-heading.ts'
import { Notice } from '../ui/Notice.tsx'
import { Item, Items, Section } from '../ui/Section.tsx'
import { Loading, pacific } from './ChangePage.tsx'
import { Moment } from './Moment.tsx'

const title = 'Book a class'

/** `Friday, February 12` */
const dayOf = (date: string) => formatClassDate(date).replace(/, \d+$/, '')
/** `Friday, February 11, 2027, 4:00 PM Pacific` → `February 11, 4:00 PM Pacific` */
const shortly = (instant: string) =>
  pacific(instant)
    .replace(/^\w+, /, '')
    .replace(/, \d{4},/, ',')

/** The dates of members' classes: one is booked with a credit, or a booked class is moved. */
export function BookPage() {
  const page = useRef<HTMLDivElement>(null)
  useKeptFromBack(page)
  const session = useQuery(sessionQuery)
  if (session.data?.user === null) return <SignInFirst />
  return (
    <div ref={page}>
      {session.data ? (
        <Account key={session.data.user.userId} userId={session.data.user.userId} />
      ) : (
        <StatusPage title={title}>
          <Loading />
        </StatusPage>
      )}
    </div>
  )
}

const toDashboard = (
  <Actions>
    <ButtonLink to="/dashboard" variant="secondary">
      Your classes
    </ButtonLink>
  </Actions>
)

function Account({ userId }: { userId: string }) {
  useEffect(adoptSignedInAccount, [])
  const { move } = useSearch({ from: '/dashboard/book' })
  const { data, error, refetch, isFetching } = useQuery(bookableQuery(userId))
  if (!data) {
    return (
      <StatusPage title={title}>
        {error ? (
          <>
            <Notice kind="error" title={messageOf(error, 'We could not load the dates.')} live>
              <Button variant="secondary" onClick={() => void refetch()} pending={isFetching} pendingLabel="Loading...">
                Try again
              </Button>
            </Notice>
            {toDashboard}
          </>
        ) : (
          <Loading />
        )}
      </StatusPage>
    )
  }
  const { memberships, membership } = data
  const own = memberships.find(({ membershipId }) => membershipId === membership?.membershipId) ?? memberships[0]
  if (!own) {
    return (
      <StatusPage title={title}>
        <Notice title="You can book members’ classes once you’re a member.">
          <ButtonLink to="/membership" variant="secondary">
            See membership plans
          </ButtonLink>
        </Notice>
        {toDashboard}
      </StatusPage>
    )
  }
  const booked = memberships.flatMap((one) => one.booked)
  const moving = move === undefined ? undefined : booked.find(({ bookingId }) => bookingId === move)
  return <Dates data={data} own={own} moving={moving} wanted={move} />
}

type DateRow = BookableClasses['dates'][number]
type Asking = { what: 'book' | 'move'; date: DateRow } | { what: 'cancel'; of: MemberClass } | null

interface DatesProps {
  data: BookableClasses
  own: MemberCredits
  /** The class that is moved. */
  moving: MemberClass | undefined
  /** The id in the address. */
  wanted: string | undefined
}

function Dates({ data, own, moving, wanted }: DatesProps) {
  const [asking, setAsking] = useState<Asking>(null)
  const { pending, message, submit, showSuccess } = useSubmit('Nothing has changed. Please try again.')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  // A repeated request is the same one.
  const ids = useRef(new Map<string, string>())
  const { credits, hasEnded, booked } = own
  const { dates, membership } = data
  const heading = moving ? `Move ${dayOf(moving.classDate)}` : title
  const shown = useRef(heading)
  useEffect(() => {
    if (shown.current !== heading) focusHeading()
    shown.current = heading
  }, [heading])

  const idOf = (what: string) => {
    const id = ids.current.get(what) ?? uuidV7()
    ids.current.set(what, id)
    return id
  }
  const send = (work: () => Promise<void>, done: string) =>
    submit(async () => {
      setAsking(null)
      try {
        await work()
      } catch (error) {
        // What was refused may have changed what is shown.
        await queryClient.invalidateQueries({ queryKey: ['dashboard'] })
        if (isRefusal(error, 'class_full'))
          throw new Error('That date just filled up. Nothing has changed.', { cause: error })
        throw error
      }
      ids.current.clear()
      await queryClient.invalidateQueries({ queryKey: ['dashboard'] })
      showSuccess(done)
    })
  const path = '/api/dashboard/member-classes'
  const book = ({ classDate }: DateRow) =>
    send(
      async () => {
        const body = { id: idOf(`book ${classDate}`), membershipId: own.membershipId, classDate }
        await api(path, { method: 'POST', body, answer: memberClass })
      },
      `Booked: ${dayOf(classDate)}. We emailed you the details.`,
    )
  const moveTo = (of: MemberClass, { classDate }: DateRow) =>
    send(
      async () => {
        const body = { id: idOf(`move ${classDate}`), from: of.classDate, classDate }
        await api(`${path}/${of.bookingId}/move`, { method: 'POST', body, answer: memberClass })
        await navigate({ to: '/dashboard/book', search: {}, replace: true })
      },
      `Moved to ${dayOf(classDate)}. We emailed you the details.`,
    )
  const cancel = ({ bookingId, classDate }: MemberClass) =>
    send(
      async () => {
        const body = { id: idOf(`cancel ${bookingId}`), from: classDate, keepsCredit: !hasEnded }
        await api(`${path}/${bookingId}/cancel`, { method: 'POST', body, answer: done })
      },
      `Canceled: ${dayOf(classDate)}.`,
    )

  const canBook = moving !== undefined || (credits > 0 && !hasEnded)
  const bookedOn = (date: DateRow) => booked.find(({ classSessionId }) => classSessionId === date.classSessionId)
  return (
    <StatusPage title={heading}>
      <MessageLine message={message} />
      {wanted !== undefined && !moving ? (
        <Notice title="This class can’t be moved: it was canceled, moved or has begun." />
      ) : moving ? (
        <p>Choose another date. It costs nothing.</p>
      ) : (
        <p>
          {hasEnded ? 'Your membership has ended. What you have booked stays.' : creditSentence(credits, membership)}
        </p>
      )}
      <Section title="Dates">
        {dates.length === 0 && <p>There is no date right now. New ones come with the next season.</p>}
        <Items label="Dates of members’ classes">
          {dates.map((date) => {
            const isBooked = bookedOn(date) !== undefined
            return (
              <Item
                key={date.classSessionId}
                name={<Moment of={date.startsAt} withDay />}
                detail={isBooked ? 'Booked' : seatsText(date.seatsLeft)}
              >
                {canBook && !isBooked && date.seatsLeft > 0 && (
                  <Button
                    variant="secondary"
                    disabled={pending}
                    onClick={() => setAsking({ what: moving ? 'move' : 'book', date })}
                  >
                    <span>{moving ? 'Choose' : 'Book'}</span>
                    <span className="visually-hidden">{` ${dayOf(date.classDate)}`}</span>
                  </Button>
                )}
              </Item>
            )
          })}
        </Items>
      </Section>
      {!moving && booked.length > 0 && (
        <Booked booked={booked} now={data.now} pending={pending} cancel={(of) => setAsking({ what: 'cancel', of })} />
      )}
      <Actions>
        {moving && (
          <ButtonLink to="/dashboard/book" search={{}} variant="secondary">
            {`Keep ${dayOf(moving.classDate).replace(/^\w+, /, '')}`}
          </ButtonLink>
        )}
        <ButtonLink to="/dashboard" variant="secondary">
          Your classes
        </ButtonLink>
      </Actions>

      <Dialog
        open={asking?.what === 'book'}
        title={asking?.what === 'book' ? `Book ${dayOf(asking.date.classDate)}?` : ''}
        onClose={() => setAsking(null)}
      >
        {asking?.what === 'book' && (
          <>
            <p>{`This uses ${credits === 1 ? 'your class' : `1 of your ${classCount(credits)}`}. No payment. ${freeUntil(asking.date, data.now)}`}</p>
            <Row>
              <Button onClick={() => book(asking.date)}>Book this class</Button>
              <Button variant="secondary" onClick={() => setAsking(null)}>
                Not now
              </Button>
            </Row>
          </>
        )}
      </Dialog>
      <Dialog
        open={asking?.what === 'move'}
        title={asking?.what === 'move' ? `Move to ${dayOf(asking.date.classDate)}?` : ''}
        onClose={() => setAsking(null)}
      >
        {asking?.what === 'move' && moving && (
          <>
            <p>{`Your class on ${dayOf(moving.classDate)} moves, and your calendar entry is updated. No payment. ${freeUntil(asking.date, data.now)}`}</p>
            <Row>
              <Button onClick={() => moveTo(moving, asking.date)}>Move this class</Button>
              <Button variant="secondary" onClick={() => setAsking(null)}>
                {`Keep ${dayOf(moving.classDate).replace(/^\w+, /, '')}`}
              </Button>
            </Row>
          </>
        )}
      </Dialog>
      <Dialog
        open={asking?.what === 'cancel'}
        title={asking?.what === 'cancel' ? `Cancel ${dayOf(asking.of.classDate)}?` : ''}
        onClose={() => setAsking(null)}
      >
        {asking?.what === 'cancel' && <Cancel of={asking.of} own={own} cancel={cancel} keep={() => setAsking(null)} />}
      </Dialog>
    </StatusPage>
  )
}

interface BookedProps {
  booked: readonly MemberClass[]
  now: string
  pending: boolean
  cancel: (of: MemberClass) => void
}

function Booked({ booked, now, pending, cancel }: BookedProps) {
  return (
    <Section title="What you have booked">
      <Items label="Booked classes">
        {booked.map((one) => {
          const isOpen = Date.parse(now) <= Date.parse(one.changeUntil)
          return (
            <Item
              key={one.bookingId}
              name={<Moment of={one.startsAt} withDay />}
              detail={
                isOpen
                  ? `Free to move until ${shortly(one.changeUntil)}`
                  : `Changes were free until ${shortly(one.changeUntil)}. Write to us if something came up.`
              }
            >
              {isOpen && (
                <>
                  <ButtonLink to="/dashboard/book" search={{ move: one.bookingId }} variant="secondary">
                    Move<span className="visually-hidden">{` ${dayOf(one.classDate)}`}</span>
                  </ButtonLink>
                  <Button variant="quiet" disabled={pending} onClick={() => cancel(one)}>
                    Cancel<span className="visually-hidden">{` ${dayOf(one.classDate)}`}</span>
                  </Button>
                </>
              )}
            </Item>
          )
        })}
      </Items>
    </Section>
  )
}

interface CancelProps {
  of: MemberClass
  own: MemberCredits
  cancel: (of: MemberClass) => void
  keep: () => void
}

/** What becomes of its credit is told before. */
function Cancel({ of, own: { credits, hasEnded }, cancel, keep }: CancelProps) {
  if (!hasEnded && credits >= enough) {
    return (
      <>
        <p>{`You have ${classCount(credits)} to book already, so this one can’t be added. Move it to another date instead.`}</p>
        <Row>
          <ButtonLink to="/dashboard/book" search={{ move: of.bookingId }} onClick={keep}>
            Move instead
          </ButtonLink>
          <Button variant="secondary" onClick={keep}>
            Keep the class
          </Button>
        </Row>
      </>
    )
  }
  return (
    <>
      <p>
        {hasEnded
          ? 'Your membership has ended, so you can’t book another class for it. The seat is offered to others at once.'
          : 'You can book another class for it. The seat is offered to others at once.'}
      </p>
      <Row>
        <Button variant="danger" onClick={() => cancel(of)}>
          Cancel this class
        </Button>
        <Button variant="secondary" onClick={keep}>
          Keep the class
        </Button>
      </Row>
    </>
  )
}

function seatsText(seatsLeft: number): string {
  if (seatsLeft === 0) return 'Full'
  return seatsLeft === 1 ? '1 seat left' : `${seatsLeft} seats left`
}

/** Until when a class can be moved, once it is booked: a day before, at the same time. */
function freeUntil({ changeUntil }: DateRow, now: string): string {
  return Date.parse(changeUntil) >= Date.parse(now)
    ? `You can move it for free until ${shortly(changeUntil)}.`
    : 'It starts in less than a day, so it can’t be moved.'
}
