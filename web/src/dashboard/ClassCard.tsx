import { meetingsOf } from '@robokids/contracts/class-link-times'
import type { DashboardCard } from '@robokids/contracts/dashboard'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useId } from 'react'
import { done } from '../api/answer.ts'
import { api } from '../api/api.ts'
import { inOneLine } from '../checkout/Ticket.tsx'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { isLevel, levels } from '../classes/level-looks.ts'
import { Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { AddToCalendar } from '../registration/AddToCalendar.tsx'
import { recordOfView } from '../registration/record.ts'
import { AsWritten, asWritten } from '../ui/AsWritten.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Badge } from './Badge.tsx'
import { type CardRow, cardRows } from './card-rows.tsx'
import { type CardState, isSeated } from './card-state.ts'
import { Join, linkOfCard, Passcode, useClassLink } from './class-link.tsx'
import styles from './ClassCard.module.css'
import { AllDates, NextMeeting } from './Meetings.tsx'
import { Moment } from './Moment.tsx'
import { PendingMove } from './PendingMove.tsx'
import { isLinkOpen } from './upcoming.ts'

// Seldom seen.
const StartAgain = lazy(async () => ({ default: (await import('../registration/StartAgain.tsx')).StartAgain }))

interface ClassCardProps {
  card: DashboardCard
  state: CardState
  now: number
  /** Whether its dates are unfolded. */
  open?: boolean
}

export const namesOf = (children: readonly { childName: string }[]) =>
  inOneLine(children.map(({ childName }) => childName))

/** The button that pays for a held seat: the page that is open already, or else the one that opens it. */
export function PayButton({
  card,
  state,
  variant,
}: Pick<ClassCardProps, 'card' | 'state'> & { variant: 'primary' | 'secondary' }) {
  const { leaving, leaveFor } = useExternalRedirect()
  const label = state.due ? `Pay ${formatMoney(state.due)}` : 'Pay'
  const url = card.checkout?.url
  if (url) {
    return (
      <Button variant={variant} pending={leaving} onClick={() => leaveFor(url)}>
        {label}
      </Button>
    )
  }
  return (
    <ButtonLink to="/robokids-payment" search={{ reference: card.registrationId }} variant={variant}>
      {label}
    </ButtonLink>
  )
}

/** Gives up a held seat before its time is over, so that another family can have it. */
function ReleaseButton({ card: { registrationId, children } }: Pick<ClassCardProps, 'card'>) {
  const queryClient = useQueryClient()
  const state = useSubmit('Something went wrong.')
  const release = () =>
    state.submit(async () => {
      await api(`/api/dashboard/registrations/${registrationId}/release`, { method: 'POST', answer: done })
      await queryClient.invalidateQueries({ queryKey: ['dashboard'] })
    })
  return (
    <>
      <Button variant="quiet" pending={state.pending} onClick={release}>
        {children.length === 1 ? 'Let the seat go' : 'Let the seats go'}
      </Button>
      {state.message && <p role="alert">{state.message.text}</p>}
    </>
  )
}

function cardActions(card: DashboardCard, state: CardState): ReactNode {
  const reference = { reference: card.registrationId }
  switch (state.kind) {
    case 'held':
      return (
        <>
          <PayButton card={card} state={state} variant="secondary" />
          <ReleaseButton card={card} />
        </>
      )
    case 'hold ended':
      return (
        <Suspense>
          <StartAgain record={recordOfView(card)} variant="secondary">
            Register again
          </StartAgain>
        </Suspense>
      )
    case 'no seat':
      return (
        <Suspense>
          <StartAgain record={recordOfView(card)} variant="secondary">
            See other dates
          </StartAgain>
        </Suspense>
      )
    case 'waiver missing':
      return (
        <>
          <ButtonLink to="/robokids/waiver" search={reference} variant="secondary">
            Sign the waiver
          </ButtonLink>
          <AddToCalendar registrationId={card.registrationId} />
        </>
      )
    case 'ready':
    case 'today':
      return <AddToCalendar registrationId={card.registrationId} />
    case 'choice':
      return choiceActions(card, state)
    case 'moving':
      return (
        card.pendingMove && <PendingMove base={`/api/registrations/${card.registrationId}`} move={card.pendingMove} />
      )
    case 'finished':
      return nextLevel(card)
    default:
      return null
  }
}

/** Neither way is the better one. */
function choiceActions({ places = [] }: DashboardCard, { due }: CardState): ReactNode {
  const reference = places.find(({ classCancelled }) => classCancelled)?.classCancelled?.choiceId
  if (!reference) return null
  const children = places.map(({ placeId }) => placeId).join(',')
  return (
    <>
      <ButtonLink to="/choice" search={{ reference, step: 'dates', children }} variant="secondary">
        Choose a new date
      </ButtonLink>
      <ButtonLink to="/choice" search={{ reference, step: 'refund', children }} variant="secondary">
        {`Get ${due ? formatMoney(due) : 'your money'} back`}
      </ButtonLink>
      {places.length > 1 && (
        <ButtonLink to="/choice" search={{ reference, step: 'each' }} variant="quiet">
          Choose for each child
        </ButtonLink>
      )}
    </>
  )
}

/** After a level the next one. */
const levelAfter = { basic: 'intermediate', intermediate: 'advanced', advanced: 'custom' } as const

function nextLevel({ classType }: DashboardCard): ReactNode {
  const next = classType in levelAfter ? levelAfter[classType as keyof typeof levelAfter] : undefined
  if (!next) return null
  return (
    <ButtonLink to={levels[next].path} variant="secondary">
      {`See Level ${{ intermediate: '2', advanced: '3', custom: 'X' }[next]}`}
    </ButtonLink>
  )
}

/** One registration in one class. Its heading has the focus after a link in a mail. */
export function ClassCard({ card, state, now, open = false }: ClassCardProps) {
  const meetings = meetingsOf(card)
  const who = namesOf(card.children)
  const link = useClassLink(linkOfCard(card), isLinkOpen(state))
  const isMissing = link.state === 'missing'
  const badge = isMissing ? 'Link is coming' : state.badge
  const sentence = isMissing ? linkMissing : state.sentence
  return (
    <CardFrame
      id={`card-${card.cardId}`}
      accent={isLevel(card.classType) ? levels[card.classType].accent : undefined}
      who={asWritten(who)}
      what={
        <>
          <span>{card.levelTitle}</span>
          {card.coachName && <span>{' · Coach '}</span>}
          {card.coachName && <AsWritten>{card.coachName}</AsWritten>}
        </>
      }
      badge={<Badge tone={isMissing ? 'note' : state.tone}>{badge}</Badge>}
      actions={isLinkOpen(state) ? <Join link={link} variant="secondary" who={who} /> : cardActions(card, state)}
    >
      {sentence && <p>{sentence}</p>}
      <Passcode link={link} />
      <dl className={styles.rows}>
        {state.kind === 'finished' || (
          <FactRow
            name={state.meeting ? 'Next' : 'First class'}
            value={
              state.meeting ? (
                <NextMeeting meetings={meetings} next={state.meeting} />
              ) : (
                <Moment of={card.startsAt} withDay />
              )
            }
          />
        )}
        {cardRows(card, state, now).map((row) => (
          <FactRow key={row.name} {...row} />
        ))}
      </dl>
      {isSeated(state) && <AllDates meetings={meetings} now={now} open={open} />}
      {isSeated(state) && now < Date.parse(card.startsAt) && <Changes card={card} who={who} />}
    </CardFrame>
  )
}

/** What the family can change by itself until the first meeting. */
function Changes({ card: { registrationId, places = [], kit }, who }: { card: DashboardCard; who: string }) {
  const seated = places.filter(({ status }) => status === 'seated')
  if (seated.length === 0) return null
  const [only, ...more] = seated
  const search = { card: registrationId, children: more.length === 0 ? only?.placeId : undefined }
  return (
    <Row>
      <ButtonLink to="/dashboard/move" search={search} variant="quiet">
        Move<span className="visually-hidden">{` ${who}`}</span>
      </ButtonLink>
      <ButtonLink to="/dashboard/cancel" search={search} variant="quiet">
        Cancel this class<span className="visually-hidden">{` for ${who}`}</span>
      </ButtonLink>
      {kit?.status !== 'shipped' && (
        <ButtonLink to="/dashboard/correct" search={{ card: registrationId }} variant="quiet">
          Correct a name or the address<span className="visually-hidden">{` of ${who}`}</span>
        </ButtonLink>
      )}
    </Row>
  )
}

export const linkMissing = 'Your coach has not shared the link yet. We have told the school.'

export function FactRow({ name, value, action }: CardRow) {
  return (
    <div className={styles.row}>
      <dt>{name}</dt>
      <dd>
        <span>{value}</span>
        {action}
      </dd>
    </div>
  )
}

interface CardFrameProps {
  id: string
  accent?: (typeof levels)['basic']['accent'] | undefined
  who: ReactNode
  what: ReactNode
  badge: ReactNode
  actions: ReactNode
  children: ReactNode
}

function CardFrame({ id, accent, who, what, badge, actions, children }: CardFrameProps) {
  const headingId = useId()
  return (
    <Card as="article" accent={accent} id={id} aria-labelledby={headingId} className={styles.card ?? ''}>
      <div className={styles.head}>
        <h3 id={headingId} tabIndex={-1} className={styles.who}>
          <bdi>{who}</bdi>
        </h3>
        {badge}
      </div>
      <p className={styles.what}>{what}</p>
      {children}
      {actions && <Row>{actions}</Row>}
    </Card>
  )
}
