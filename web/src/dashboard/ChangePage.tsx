import type { ChangeQuote } from '@robokids/contracts/changes'
import { formatClassDate, formatClassTime } from '@robokids/contracts/class-date'
import type { Place } from '@robokids/contracts/enrollment'
import { schoolDate, schoolTime } from '@robokids/contracts/school-date'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { sessionQuery } from '../account/session.ts'
import { SignInFirst } from '../account/SignInFirst.tsx'
import { adoptSignedInAccount, api } from '../api/api.ts'
import { isRefusal, messageOf } from '../api/refusals.ts'
import { useKeptFromBack } from '../browser/use-kept-from-back.ts'
import { Actions, StatusPage } from '../checkout/StatusPage.tsx'
import { inOneLine } from '../checkout/Ticket.tsx'
import { Form } from '../forms/Form.tsx'
import { asWritten } from '../ui/AsWritten.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { focusHeading } from '../ui/focus-heading.ts'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { changeQuote, changes } from './change-answers.ts'

/** The pages that move or cancel what is paid: who, then what happens. Each step is in the address. */
interface ChangePageProps {
  title: string
  /** The question of the first step. */
  who: string
  card: string | undefined
  /** The ids of the chosen places, by commas. */
  chosen: string | undefined
  /** Names the step, so that each has the focus on its heading. */
  step: string
  choose: (children: string) => void
  children: (chosen: Place[]) => ReactNode
}

export const namesOfPlaces = (places: readonly { childName: string }[]) =>
  inOneLine(places.map(({ childName }) => childName))

/** `Friday, February 19, 2027, 4:00 PM Pacific` */
export const pacific = (instant: string) =>
  `${formatClassDate(schoolDate(instant))}, ${formatClassTime(schoolTime(instant))} Pacific`

const changesQuery = (userId: string, reference: string) =>
  queryOptions({
    queryKey: ['dashboard', userId, 'changes', reference],
    queryFn: ({ signal }) =>
      api(`/api/registrations/${encodeURIComponent(reference)}/changes`, { answer: changes, signal }),
    gcTime: 0,
  })

export function ChangePage(props: ChangePageProps) {
  const page = useRef<HTMLDivElement>(null)
  useKeptFromBack(page)
  const session = useQuery(sessionQuery)
  if (session.data?.user === null) return <SignInFirst />
  return (
    <div ref={page}>
      {session.data ? (
        <Steps key={session.data.user.userId} userId={session.data.user.userId} {...props} />
      ) : (
        <Waiting title={props.title} />
      )}
    </div>
  )
}

function Waiting({ title }: { title: string }) {
  return (
    <StatusPage title={title}>
      <Loading />
    </StatusPage>
  )
}

/** Within the page of its step, whose heading keeps the focus. */
export function Loading() {
  return (
    <>
      <p className="visually-hidden" aria-live="polite">
        Loading...
      </p>
      <Skeleton height="14rem" />
    </>
  )
}

export function toCard(card: string | undefined) {
  return { to: '/dashboard', search: { card } } as const
}

function Steps({
  userId,
  title,
  who,
  card = '',
  chosen,
  step,
  choose,
  children,
}: ChangePageProps & { userId: string }) {
  useEffect(adoptSignedInAccount, [])
  const shown = useRef(step)
  useEffect(() => {
    if (shown.current !== step) focusHeading()
    shown.current = step
  }, [step])
  const { data, error, refetch, isFetching } = useQuery(changesQuery(userId, card))
  if (error && !data) {
    const missing = isRefusal(error, 'registration_not_found')
    return (
      <StatusPage title={title}>
        <Notice
          kind="error"
          title={missing ? 'There is no such class in your account.' : 'We could not load this class.'}
          live
        >
          {!missing && (
            <Button variant="secondary" onClick={() => void refetch()} pending={isFetching}>
              Try again
            </Button>
          )}
        </Notice>
        <Actions>
          <ButtonLink to="/dashboard" variant="secondary">
            Your classes
          </ButtonLink>
        </Actions>
      </StatusPage>
    )
  }
  if (!data) return <Waiting title={title} />
  const seated = data.places.filter(({ status }) => status === 'seated')
  const named = new Set(chosen?.split(',') ?? [])
  const places = seated.length === 1 ? seated : seated.filter(({ placeId }) => named.has(placeId))
  if (seated.length === 0) {
    return (
      <StatusPage title={title}>
        <Notice title="This class is already canceled." />
        <Actions>
          <ButtonLink {...toCard(card)} variant="secondary">
            Your classes
          </ButtonLink>
        </Actions>
      </StatusPage>
    )
  }
  if (places.length === 0) return <Who title={who} seated={seated} choose={choose} />
  return <>{children(places)}</>
}

function Who({ title, seated, choose }: { title: string; seated: Place[]; choose: (children: string) => void }) {
  const [ticked, setTicked] = useState<string[]>([])
  const [message, setMessage] = useState<{ kind: 'error'; text: string } | null>(null)
  const classes = new Set(seated.map(({ classSessionId }) => classSessionId))
  const next = () => {
    const of = seated.filter(({ placeId }) => ticked.includes(placeId))
    const text =
      of.length === 0
        ? 'Choose a child.'
        : new Set(of.map(({ classSessionId }) => classSessionId)).size > 1
          ? 'Choose children of one class.'
          : undefined
    if (text === undefined) choose(ticked.join(','))
    else setMessage({ kind: 'error', text })
  }
  return (
    <StatusPage title={title}>
      <Card>
        <Form message={message} onSubmit={next}>
          {seated.map(({ placeId, childName, levelTitle, startDate }) => (
            <Checkbox
              key={placeId}
              label={
                <>
                  {asWritten(childName)}
                  {classes.size > 1 && <span>{`, ${levelTitle}, ${formatClassDate(startDate)}`}</span>}
                </>
              }
              checked={ticked.includes(placeId)}
              onChange={({ target: { checked } }) =>
                setTicked((before) => (checked ? [...before, placeId] : before.filter((id) => id !== placeId)))
              }
            />
          ))}
          <Actions>
            <Button type="submit">Next</Button>
          </Actions>
        </Form>
      </Card>
    </StatusPage>
  )
}

/** What a change would do, as the server reckons it; a newer quote that came with a refusal takes over. */
export function useQuote(path: `/api/${string}`, body: object) {
  const [newer, setNewer] = useState<ChangeQuote | null>(null)
  const asked = useQuery({
    queryKey: ['dashboard', 'quote', path, body],
    queryFn: ({ signal }) => api(path, { method: 'POST', body, answer: changeQuote, signal }),
    gcTime: 0,
    retry: false,
  })
  return {
    quote: newer ?? asked.data,
    refusal: asked.error ? messageOf(asked.error, 'Something went wrong.') : undefined,
    /** Shows what is offered now, if that is why a confirmation was refused. */
    takeNewer: (error: unknown) => {
      const offered = isRefusal(error, 'quote_outdated') ? error.details.quote : undefined
      const read = offered === undefined ? undefined : changeQuote.safeParse(offered)
      if (read?.success) setNewer(read.data)
    },
  }
}
