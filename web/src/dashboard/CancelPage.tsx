import { formatClassDate, formatClassTime } from '@robokids/contracts/class-date'
import type { Place } from '@robokids/contracts/enrollment'
import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate } from '@robokids/contracts/school-date'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { api } from '../api/api.ts'
import { uuidV7 } from '../browser/uuid-v7.ts'
import { Actions, StatusPage } from '../checkout/StatusPage.tsx'
import { MessageLine } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { asWritten } from '../ui/AsWritten.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Details } from '../ui/Details.tsx'
import { Notice } from '../ui/Notice.tsx'
import { change, moveOptions } from './change-answers.ts'
import styles from './Change.module.css'
import { ChangePage, Loading, namesOfPlaces, pacific, toCard, useQuote } from './ChangePage.tsx'

const dollars = (amount: number) => formatMoney({ amount, currency: 'usd' })
const dayMs = 86_400_000

export function CancelPage() {
  const { card, children } = useSearch({ from: '/dashboard/cancel' })
  const navigate = useNavigate()
  return (
    <ChangePage
      title="Cancel a class"
      who="Whose class is canceled?"
      card={card}
      chosen={children}
      step={children ?? ''}
      choose={(chosen) => void navigate({ to: '/dashboard/cancel', search: { card, children: chosen } })}
    >
      {(places) => <WhatHappens key={children} card={card ?? ''} places={places} />}
    </ChangePage>
  )
}

function WhatHappens({ card, places }: { card: string; places: Place[] }) {
  const placeIds = places.map(({ placeId }) => placeId)
  const path = `/api/registrations/${encodeURIComponent(card)}` as const
  const { quote, refusal, takeNewer } = useQuote(`${path}/cancellation/quote`, { placeIds })
  const moves = useQuery({
    queryKey: ['dashboard', 'move options', path, placeIds],
    queryFn: ({ signal }) =>
      api(`${path}/move/options`, { method: 'POST', body: { placeIds }, answer: moveOptions, signal }),
    gcTime: 0,
    retry: false,
  })
  const { pending, message, submit } = useSubmit('The class was not canceled. Please try again.')
  const id = useRef(uuidV7())
  const [today] = useState(() => schoolDate(new Date().toISOString()))
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const who = namesOfPlaces(places)
  const title = 'What happens'
  if (refusal !== undefined) {
    return (
      <StatusPage title={title}>
        <Notice title={refusal} />
        <Actions>
          <ButtonLink {...toCard(card)} variant="secondary">
            Keep the class
          </ButtonLink>
        </Actions>
      </StatusPage>
    )
  }
  if (!quote) {
    return (
      <StatusPage title={title}>
        <Loading />
      </StatusPage>
    )
  }
  const { lines, from, back, rule } = quote.terms
  const days = Math.round((Date.parse(from.startDate) - Date.parse(today)) / dayMs)
  const confirm = async () => {
    try {
      const body = { id: id.current, placeIds, quoteId: quote.quoteId }
      await api(`${path}/cancellation`, { method: 'POST', body, answer: change })
    } catch (error) {
      takeNewer(error)
      throw error
    }
    await queryClient.invalidateQueries({ queryKey: ['dashboard'] })
    await navigate({ ...toCard(card), replace: true })
  }
  const until = moves.data?.until
  return (
    <StatusPage title={title}>
      {until && (
        <Notice title={`You can move for free until ${pacific(until)}.`}>
          <ButtonLink to="/dashboard/move" search={{ card, children: placeIds.join(',') }} variant="secondary">
            Move instead
          </ButtonLink>
        </Notice>
      )}
      <Card>
        <p>
          <span>{`${from.levelTitle}, ${formatClassDate(from.startDate)}, ${formatClassTime(from.startTime)} Pacific`}</span>
        </p>
        <table className={styles.money}>
          <caption className="visually-hidden">What goes back</caption>
          <thead>
            <tr>
              <th scope="col">Child</th>
              <th scope="col">Paid</th>
              <th scope="col">Days before the start</th>
              <th scope="col">Goes back</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.placeId}>
                <th scope="row">{asWritten(line.childName)}</th>
                <td>{dollars(line.paid)}</td>
                <td>{days}</td>
                <td>{dollars(line.back)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <Details
          rows={[
            ['Rule', ruleText(rule)],
            ['Kit', quote.terms.kitShipped ? 'Already on its way to you' : 'Not sent if no child stays'],
            ['Calendar', 'Your calendar entry is updated'],
            ['Seat', 'The seat is offered to the next family at once'],
          ]}
        />
      </Card>
      <MessageLine message={message} />
      <Actions>
        <Button variant="danger" pending={pending} onClick={() => submit(confirm)}>
          {asWritten(`Cancel ${who}’s class, ${dollars(back)} back`)}
        </Button>
        <ButtonLink {...toCard(card)} variant="secondary">
          Keep the class
        </ButtonLink>
      </Actions>
    </StatusPage>
  )
}

function ruleText({ percent, until, validFrom }: { percent: number | null; until: string | null; validFrom: string }) {
  const since = `In force since ${formatClassDate(schoolDate(validFrom))}`
  if (!percent) return `All sales are final: nothing goes back. ${since}.`
  return `${percent}% goes back${until === null ? '' : ` until ${pacific(until)}`}. ${since}.`
}
