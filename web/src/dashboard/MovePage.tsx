import type { ChangeTerms, MoveOptions } from '@robokids/contracts/changes'
import { formatClassDate, formatClassTime } from '@robokids/contracts/class-date'
import type { Place } from '@robokids/contracts/enrollment'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import { api } from '../api/api.ts'
import { isRefusal, messageOf } from '../api/refusals.ts'
import { uuidV7 } from '../browser/uuid-v7.ts'
import { Actions, StatusPage } from '../checkout/StatusPage.tsx'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { classesQuery } from '../classes/classes-query.ts'
import { MessageLine } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { asWritten } from '../ui/AsWritten.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Details, Lines } from '../ui/Details.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Item, Items, Section } from '../ui/Section.tsx'
import { moveAnswer, moveOptions } from './change-answers.ts'
import { ChangePage, Loading, namesOfPlaces, pacific, toCard, useQuote } from './ChangePage.tsx'

export const dollars = (amount: number) => formatMoney({ amount, currency: 'usd' })
export const whenOf = ({ startDate, startTime }: Pick<ChangeTerms['from'], 'startDate' | 'startTime'>) =>
  `${formatClassDate(startDate)}, ${formatClassTime(startTime)} Pacific`

export function MovePage() {
  const { card, children, to } = useSearch({ from: '/dashboard/move' })
  const navigate = useNavigate()
  return (
    <ChangePage
      title="Move a class"
      who="Who moves?"
      card={card}
      chosen={children}
      step={`${children ?? ''} ${to ?? ''}`}
      choose={(chosen) => void navigate({ to: '/dashboard/move', search: { card, children: chosen } })}
    >
      {(places) =>
        to === undefined ? (
          <Where flow={flowOfCard(card ?? '', places)} places={places} />
        ) : (
          <Check key={to} flow={flowOfCard(card ?? '', places)} places={places} to={to} />
        )
      }
    </ChangePage>
  )
}

type To =
  | ReturnType<typeof toCard>
  | { to: '/dashboard/move'; search: { card: string; children: string; to: string | undefined } }
  | { to: '/choice'; search: { reference: string; step?: string; children?: string; to?: string | undefined } }

/** Where a move is made: on a registration of one's own, or by the link to a choice that the school gave. */
export interface MoveFlow {
  base: `/api/${string}`
  /** The page of the dates, or of one of them. */
  toDates: (to?: string) => To
  home: To
  keep: string
}

function flowOfCard(card: string, places: Place[]): MoveFlow {
  const children = places.map(({ placeId }) => placeId).join(',')
  return {
    base: `/api/registrations/${encodeURIComponent(card)}`,
    toDates: (to) => ({ to: '/dashboard/move', search: { card, children, to } }),
    home: toCard(card),
    keep: places[0] ? `Keep ${dayOf(places[0].startDate)}` : 'Keep the class',
  }
}

/** `February 26` */
const dayOf = (date: string) =>
  formatClassDate(date)
    .replace(/^\w+, /, '')
    .replace(/, \d+$/, '')

type Option = MoveOptions['options'][number]

function priceText({ due, back }: Pick<Option, 'due' | 'back'>): string {
  if (due > 0) return `+${dollars(due)}`
  return back > 0 ? `${dollars(back)} back` : 'same price'
}

export function Where({ flow, places }: { flow: MoveFlow; places: Place[] }) {
  const placeIds = places.map(({ placeId }) => placeId)
  const path = `${flow.base}/move/options` as const
  const { data, error } = useQuery({
    queryKey: ['dashboard', 'move options', path, placeIds],
    queryFn: ({ signal }) => api(path, { method: 'POST', body: { placeIds }, answer: moveOptions, signal }),
    gcTime: 0,
    retry: false,
  })
  const title = 'Where to?'
  const own = places[0]
  const keep = (
    <Actions>
      <ButtonLink {...flow.home} variant="secondary">
        {flow.keep}
      </ButtonLink>
    </Actions>
  )
  const refusal = error ? messageOf(error, 'We could not load the dates. Please try again.') : data?.refusal
  if (refusal) {
    return (
      <StatusPage title={title}>
        <Notice title={refusal} />
        {keep}
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
  const ofLevel = Map.groupBy(data.options, ({ levelTitle }) => levelTitle)
  const ownFirst = [...ofLevel].toSorted(([a], [b]) => Number(b === own?.levelTitle) - Number(a === own?.levelTitle))
  return (
    <StatusPage title={title}>
      {data.kitShipped && own && (
        <Notice
          title={asWritten(
            `The ${own.levelTitle.split(' ').slice(0, 2).join(' ')} kit is on its way, so ${namesOfPlaces(places)} can move to another ${own.levelTitle.split(' ').slice(0, 2).join(' ')} date.`,
          )}
        />
      )}
      {ownFirst.length === 0 && <Notice title="There is no other date right now." />}
      {ownFirst.map(([level, options]) => (
        <Section key={level} title={level}>
          <Items label={`Dates of ${level}`} facts>
            {options.map((option) => (
              <Item key={option.classSessionId} name={whenOf(option)} detail={seatsText(option, places.length)}>
                {option.seatsLeft >= places.length ? (
                  <ButtonLink {...flow.toDates(option.classSessionId)} variant="secondary">
                    Choose<span className="visually-hidden">{` ${whenOf(option)}`}</span>
                  </ButtonLink>
                ) : (
                  <ButtonLink
                    to="/waitlist"
                    search={{ classType: option.classType, startDate: option.startDate }}
                    variant="secondary"
                  >
                    Join the waitlist<span className="visually-hidden">{` of ${whenOf(option)}`}</span>
                  </ButtonLink>
                )}
              </Item>
            ))}
          </Items>
        </Section>
      ))}
      {keep}
    </StatusPage>
  )
}

function seatsText(option: Option, wanted: number): string {
  const { seatsLeft } = option
  if (seatsLeft < wanted) return seatsLeft === 0 ? 'Full' : `${seatsLeft} seat${seatsLeft === 1 ? '' : 's'} left`
  return `${seatsLeft} seat${seatsLeft === 1 ? '' : 's'} left · ${priceText(option)}`
}

export function Check({ flow, places, to }: { flow: MoveFlow; places: Place[]; to: string }) {
  const placeIds = places.map(({ placeId }) => placeId)
  const path = `${flow.base}/move` as const
  const { quote, refusal, takeNewer } = useQuote(`${path}/quote`, { placeIds, to })
  const classes = useQuery(classesQuery)
  const { pending, message, submit } = useSubmit('Nothing has changed. Please try again.')
  const { leaving, leaveFor } = useExternalRedirect()
  const id = useRef(uuidV7())
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const who = namesOfPlaces(places)
  const title = 'Check the move'
  const chooseAnother = (
    <ButtonLink {...flow.toDates()} variant="secondary">
      Choose another date
    </ButtonLink>
  )
  if (refusal !== undefined) {
    return (
      <StatusPage title={title}>
        <Notice title={refusal} />
        <Actions>{chooseAnother}</Actions>
      </StatusPage>
    )
  }
  if (!quote?.terms.to) {
    return (
      <StatusPage title={title}>
        <Loading />
      </StatusPage>
    )
  }
  const { from, to: target, lines, due, back, rule } = quote.terms
  const meetings =
    classes.data?.levels
      .flatMap(({ sessions }) => sessions)
      .find(({ classSessionId }) => classSessionId === target.classSessionId)?.meetings ?? []
  const send = () => {
    const body = { id: id.current, placeIds, to, quoteId: quote.quoteId }
    return api(path, { method: 'POST', body, answer: moveAnswer })
  }
  const confirm = async () => {
    try {
      let answer = await send()
      if (answer.checkoutUrl === null && answer.change.status !== 'done') {
        // It was confirmed here before, and has run out since, or was given up in another tab.
        id.current = uuidV7()
        answer = await send()
      }
      if (answer.checkoutUrl !== null) return leaveFor(answer.checkoutUrl)
    } catch (error) {
      takeNewer(error)
      if (isRefusal(error, 'class_full'))
        throw new Error('That date just filled up. Nothing has changed.', { cause: error })
      throw error
    }
    await queryClient.invalidateQueries({ queryKey: ['dashboard'] })
    await navigate({ ...flow.home, replace: true })
  }
  const label =
    due > 0
      ? `Pay ${dollars(due)} and move ${who}`
      : back > 0
        ? `Move ${who} and get ${dollars(back)} back`
        : `Move ${who}`
  return (
    <StatusPage title={title}>
      <Card>
        <Details
          rows={[
            ['From', <Lines key="from" of={[from.levelTitle, whenOf(from)]} />],
            ['To', <Lines key="to" of={[target.levelTitle, whenOf(target)]} />],
            ...(meetings.length > 1
              ? ([
                  [
                    `All ${meetings.length} dates`,
                    <Lines key="dates" of={meetings.map(({ date }) => formatClassDate(date))} />,
                  ],
                ] as const)
              : []),
            ['Kit', quote.terms.kitShipped ? 'Already on its way to you' : 'Ships for the new class'],
            ['Calendar', 'Your calendar entry is updated'],
            ...(quote.terms.school ? [] : ([['Rule', ruleText(rule)]] as const)),
            ...lines.map(
              (line) =>
                [
                  line.childName,
                  `Paid ${dollars(line.paid)}, today ${dollars(line.price ?? 0)}: ${priceText(line)}`,
                ] as const,
            ),
          ]}
        />
      </Card>
      <MessageLine message={message} />
      <Actions>
        <Button pending={pending || leaving} onClick={() => submit(confirm)}>
          {asWritten(label)}
        </Button>
        {message && chooseAnother}
        <ButtonLink {...flow.home} variant="secondary">
          {flow.keep}
        </ButtonLink>
      </Actions>
    </StatusPage>
  )
}

function ruleText({ until, moves }: { until: string | null; moves: number | null }): string {
  const free = until === null ? 'Free.' : `Free until ${pacific(until)}.`
  return moves === 1 ? `${free} This is your one free move.` : free
}
