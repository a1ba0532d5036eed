import type { Choice } from '@robokids/contracts/class-cancellation'
import { formatClassDate } from '@robokids/contracts/class-date'
import type { Place } from '@robokids/contracts/enrollment'
import { schoolDate } from '@robokids/contracts/school-date'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { api } from '../api/api.ts'
import { isRefusal } from '../api/refusals.ts'
import { useKeptFromBack } from '../browser/use-kept-from-back.ts'
import { uuidV7 } from '../browser/uuid-v7.ts'
import { Actions, StatusPage } from '../checkout/StatusPage.tsx'
import { MessageLine, Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { asWritten } from '../ui/AsWritten.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Details, Lines } from '../ui/Details.tsx'
import { focusHeading } from '../ui/focus-heading.ts'
import { Notice } from '../ui/Notice.tsx'
import { change, choice as choiceAnswer } from './change-answers.ts'
import styles from './Change.module.css'
import { Loading, namesOfPlaces, pacific, useQuote } from './ChangePage.tsx'
import { clockTimeOf } from './moments.ts'
import { Check, dollars, type MoveFlow, Where, whenOf } from './MovePage.tsx'
import { PendingMove } from './PendingMove.tsx'

const title = 'Your choice'

const baseOf = (reference: string) => `/api/choices/${encodeURIComponent(reference)}` as const

/** @param returned from the card page, perhaps before its payment is known */
const choiceQuery = (reference: string, returned: boolean) =>
  queryOptions({
    queryKey: ['dashboard', 'choice', reference],
    queryFn: ({ signal }) => {
      const query = returned ? '?returned=true' : ''
      return api(`${baseOf(reference)}${query}`, { answer: choiceAnswer, signal })
    },
    gcTime: 0,
    refetchInterval: ({ state }) => (state.data?.pending ? 8_000 : false),
  })

/**
 * What a family chooses after the school has cancelled its class: another date, or its money. The link in the mail leads here, and
 * needs no account.
 */
export function ChoicePage() {
  const { reference = '', children, to, step, change: returned } = useSearch({ from: '/choice' })
  const page = useRef<HTMLDivElement>(null)
  useKeptFromBack(page)
  const current = `${step ?? ''} ${children ?? ''} ${to ?? ''}`
  const shown = useRef(current)
  useEffect(() => {
    if (shown.current !== current) focusHeading()
    shown.current = current
  }, [current])
  const { data, error, refetch, isFetching } = useQuery(choiceQuery(reference, returned !== undefined))
  return <div ref={page}>{content()}</div>

  function content() {
    if (error && !data) {
      const missing = isRefusal(error, 'choice_not_found')
      return (
        <StatusPage title={title}>
          <Notice
            kind="error"
            title={
              missing ? 'This link does not work. Please use the one in our email.' : 'We could not load your choice.'
            }
            live
          >
            {!missing && (
              <Button variant="secondary" onClick={() => void refetch()} pending={isFetching}>
                Try again
              </Button>
            )}
          </Notice>
        </StatusPage>
      )
    }
    if (!data) {
      return (
        <StatusPage title={title}>
          <Loading />
        </StatusPage>
      )
    }
    const named = new Set(children?.split(',') ?? [])
    const chosen = data.places.filter(({ placeId, status }) => status === 'seated' && named.has(placeId))
    if (!data.isOpen || chosen.length === 0 || (step !== 'dates' && step !== 'refund'))
      return <Overview choice={data} each={step === 'each'} />
    if (step === 'refund') return <Refund key={children} choice={data} places={chosen} />
    const flow = flowOf(data, chosen)
    return to === undefined ? (
      <Where flow={flow} places={chosen} />
    ) : (
      <Check key={to} flow={flow} places={chosen} to={to} />
    )
  }
}

const idsOf = (places: readonly Place[]) => places.map(({ placeId }) => placeId).join(',')

const toChoice = (reference: string) => ({ to: '/choice', search: { reference } }) as const

function flowOf({ choiceId }: Choice, places: Place[]): MoveFlow {
  const children = idsOf(places)
  return {
    base: baseOf(choiceId),
    toDates: (to) => ({ to: '/choice', search: { reference: choiceId, step: 'dates', children, to } }),
    home: toChoice(choiceId),
    keep: 'Back to your choice',
  }
}

/** The label of the way that ends the class: what was free has nothing to give back. */
const wayOut = (back: number) => (back > 0 ? `Get ${dollars(back)} back` : 'Let the class go')

/** Cents that go back for these children. */
function backOf({ back }: Choice, places: readonly Place[]): number {
  const paid = places.reduce((sum, { paidAmount }) => sum + paidAmount, 0)
  return places.every(({ classCancelled }) => classCancelled) ? Math.min(paid, back) : paid
}

function Overview({ choice, each }: { choice: Choice; each: boolean }) {
  const { places, chooseUntil, isOpen, back, pending, from } = choice
  const seated = places.filter(({ status }) => status === 'seated')
  const left = seated.filter(({ classCancelled }) => classCancelled)
  const groups = each
    ? seated.map((place) => [place])
    : [...Map.groupBy(seated, ({ classSessionId }) => classSessionId).values()]
  const hasSiblings = groups.some((group) => group.length > 1)
  const deadline = `Choose by ${pacific(chooseUntil)}.`
  return (
    <StatusPage title={title}>
      <p>
        <span>We had to cancel this class, and we are sorry. </span>
        {isOpen && left.length > 0 && (
          <>
            <strong>{deadline}</strong>
            <span>
              {back > 0
                ? ` If we hear nothing, all ${dollars(back)} goes back.`
                : ' If we hear nothing, nothing is refunded, as nothing was paid.'}
            </span>
          </>
        )}
        {isOpen && left.length === 0 && <span>{`You can choose again until ${pacific(chooseUntil)}.`}</span>}
        {!isOpen && left.length > 0 && (
          <span>
            {back > 0
              ? `The time to choose is over. All ${dollars(back)} goes back by itself.`
              : 'The time to choose is over.'}
          </span>
        )}
      </p>
      <Card>
        <Details
          rows={[
            ['Canceled', <Lines key="canceled" of={[from.levelTitle, whenOf(from)]} />],
            ...places.map((place) => [place.childName, <Now key={place.placeId} place={place} />] as const),
          ]}
        />
        <Sent choice={choice} />
      </Card>
      {pending?.terms.to && (
        <Notice
          title={asWritten(
            `${namesOfPlaces(pending.terms.lines)}: the new seat is held until ${clockTimeOf(Date.parse(pending.heldUntil ?? ''))}. Nothing changes until you pay ${dollars(pending.terms.due)}.`,
          )}
        >
          <Row>
            <PendingMove base={baseOf(choice.choiceId)} move={pending} />
          </Row>
        </Notice>
      )}
      {isOpen &&
        groups.map((group) => (
          <Group key={idsOf(group)} choice={choice} places={group} isOnly={groups.length === 1 && !hasSiblings} />
        ))}
      {isOpen && !each && hasSiblings && (
        <ButtonLink to="/choice" search={{ reference: choice.choiceId, step: 'each' }} variant="quiet">
          Choose for each child
        </ButtonLink>
      )}
    </StatusPage>
  )
}

function Now({ place }: { place: Place }) {
  if (place.status === 'cancelled') return <span>Canceled</span>
  if (place.classCancelled) return <span>Not chosen yet</span>
  return <Lines of={[place.levelTitle, whenOf(place)]} />
}

function Sent({ choice: { places, sent } }: { choice: Choice }) {
  const cancelledAt = places
    .flatMap((place) => place.cancelledAt ?? [])
    .toSorted()
    .at(-1)
  if (sent === 0 || cancelledAt === undefined) return null
  const isLate = places.some(({ cancelledBySchool }) => cancelledBySchool === 'deadline')
  const on = formatClassDate(schoolDate(cancelledAt))
  return (
    <p>
      {isLate
        ? `We sent all ${dollars(sent)} back on ${on}, as we had not heard from you.`
        : `We sent ${dollars(sent)} back to your card on ${on}. Banks take 5 to 10 days.`}
    </p>
  )
}

/** The two ways for these children: neither is the better one. */
function Group({ choice, places, isOnly }: { choice: Choice; places: Place[]; isOnly: boolean }) {
  const reference = choice.choiceId
  const children = idsOf(places)
  const of = isOnly ? '' : ` for ${namesOfPlaces(places)}`
  const isLeft = places.some(({ classCancelled }) => classCancelled)
  return (
    <Card as="section">
      {!isOnly && <h2 className={styles.group}>{asWritten(namesOfPlaces(places))}</h2>}
      <Row>
        <ButtonLink to="/choice" search={{ reference, step: 'dates', children }} variant="secondary">
          <span>{isLeft ? 'Choose a new date' : 'Choose another date'}</span>
          <span className="visually-hidden">{of}</span>
        </ButtonLink>
        <ButtonLink to="/choice" search={{ reference, step: 'refund', children }} variant="secondary">
          <span>{wayOut(backOf(choice, places))}</span>
          <span className="visually-hidden">{of}</span>
        </ButtonLink>
      </Row>
    </Card>
  )
}

function Refund({ choice, places }: { choice: Choice; places: Place[] }) {
  const { choiceId } = choice
  const placeIds = places.map(({ placeId }) => placeId)
  const path = `${baseOf(choiceId)}/cancellation` as const
  const { quote, refusal, takeNewer } = useQuote(`${path}/quote`, { placeIds })
  const { pending, message, submit } = useSubmit('Nothing has changed. Please try again.')
  const id = useRef(uuidV7())
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const back = (
    <ButtonLink {...toChoice(choiceId)} variant="secondary">
      Back to your choice
    </ButtonLink>
  )
  if (refusal !== undefined) {
    return (
      <StatusPage title="Your money back">
        <Notice title={refusal} />
        <Actions>{back}</Actions>
      </StatusPage>
    )
  }
  if (!quote) {
    return (
      <StatusPage title="Your money back">
        <Loading />
      </StatusPage>
    )
  }
  const { lines, back: amount } = quote.terms
  const confirm = async () => {
    try {
      const body = { id: id.current, placeIds, quoteId: quote.quoteId }
      await api(path, { method: 'POST', body, answer: change })
    } catch (error) {
      takeNewer(error)
      throw error
    }
    await queryClient.invalidateQueries({ queryKey: ['dashboard'] })
    await navigate({ ...toChoice(choiceId), replace: true })
  }
  return (
    <StatusPage title={amount > 0 ? 'Your money back' : 'Let the class go'}>
      <Card>
        <Details
          rows={[
            ...lines.map(
              (line) => [line.childName, `Paid ${dollars(line.paid)}, ${dollars(line.back)} goes back`] as const,
            ),
            ...(amount > 0 ? ([['To', 'The card you paid with. Banks take 5 to 10 days.']] as const) : []),
            ['Seat', 'You have no seat then. You can register for another date at any time.'],
          ]}
        />
      </Card>
      <MessageLine message={message} />
      <Actions>
        <Button pending={pending} onClick={() => submit(confirm)}>
          {wayOut(amount)}
        </Button>
        {back}
      </Actions>
    </StatusPage>
  )
}
