import type { Dashboard as DashboardAnswer, DashboardPart } from '@robokids/contracts/dashboard'
import { schoolDate } from '@robokids/contracts/school-date'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { sessionQuery } from '../account/session.ts'
import { SignInFirst } from '../account/SignInFirst.tsx'
import { adoptSignedInAccount } from '../api/api.ts'
import { useKeptFromBack } from '../browser/use-kept-from-back.ts'
import { inOneLine } from '../checkout/Ticket.tsx'
import { isLevel, levels } from '../classes/level-looks.ts'
import { AsWritten, asWritten } from '../ui/AsWritten.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { focusHeading } from '../ui/focus-heading.ts'
import { Notice } from '../ui/Notice.tsx'
import { Section } from '../ui/Section.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import { Announcements } from './Announcements.tsx'
import { Children, isOf } from './Children.tsx'
import { ClassCard } from './ClassCard.tsx'
import { type Home, useDashboard } from './dashboard-query.ts'
import styles from './Dashboard.module.css'
import { dateOf } from './moments.ts'
import { Next } from './Next.tsx'
import { tasksOf, ToDo } from './ToDo.tsx'
import { deadlinesOf, isLinkOpen, nextOf, statedCards, statedSeats } from './upcoming.ts'
import { useHeldBack } from './use-held-back.ts'
import { useServerNow } from './use-server-now.ts'

// Seldom seen, or below the classes.
const Others = lazy(async () => ({ default: (await import('./Others.tsx')).Others }))
const MoveResult = lazy(async () => ({ default: (await import('./MoveResult.tsx')).MoveResult }))
const Unconfirmed = lazy(async () => ({ default: (await import('./Unconfirmed.tsx')).Unconfirmed }))

/** A parent's home: everything that the signed-in family has bought, and what is to do about it. */
export function Dashboard() {
  const page = useRef<HTMLDivElement>(null)
  useKeptFromBack(page)
  const session = useQuery(sessionQuery)
  if (session.data?.user === null) return <SignInFirst />
  return (
    <div ref={page} className={styles.page}>
      {session.data ? (
        <Account key={session.data.user.userId} userId={session.data.user.userId} />
      ) : session.isError ? (
        <Unreachable retry={() => void session.refetch()} pending={session.isFetching} />
      ) : (
        <Waiting />
      )}
    </div>
  )
}

function Waiting() {
  return (
    <div className={styles.waiting} aria-busy="true">
      <h1>Your classes</h1>
      <p className="visually-hidden" aria-live="polite">
        Loading your classes...
      </p>
      <Skeleton height="12.5rem" />
      <div className={styles.columns}>
        <Skeleton height="26rem" />
        <Skeleton height="12rem" />
      </div>
      <TakesLonger />
    </div>
  )
}

function Unreachable({ retry, pending }: { retry: () => void; pending: boolean }) {
  return (
    <div className={`${styles.waiting} ${styles.narrow}`}>
      <h1>Your classes</h1>
      <Notice kind="error" title="We could not load your classes." live>
        <p>
          Our server didn’t respond. Nothing is lost. If a class is about to start, use the link in our reminder email.
        </p>
        <Button variant="secondary" onClick={retry} pending={pending} pendingLabel="Loading...">
          Try again
        </Button>
      </Notice>
    </div>
  )
}

function Account({ userId }: { userId: string }) {
  useEffect(adoptSignedInAccount, [])
  const { data, isError, isFetching, refetch } = useDashboard(userId)
  if (!data) return isError ? <Unreachable retry={() => void refetch()} pending={isFetching} /> : <Waiting />
  if (!data.account.isConfirmed) {
    return (
      <div className={`${styles.waiting} ${styles.narrow}`}>
        <h1>Your classes</h1>
        <Suspense fallback={<Skeleton height="12rem" />}>
          <Unconfirmed email={data.account.email} again={() => void refetch()} />
        </Suspense>
      </div>
    )
  }
  return <Known dashboard={data} asking={isFetching} again={() => void refetch()} />
}

const partTexts: Record<DashboardPart, string> = {
  classes: 'We cannot show your classes right now. If one is about to start, use the link in our reminder email.',
  money: 'We cannot show payments right now. Your classes and links are right.',
  waitlist: 'We cannot show your waitlist right now.',
  membership: 'We cannot show your membership right now.',
  orders: 'We cannot show your shop orders right now.',
}

interface DownProps {
  part: DashboardPart
  asking: boolean
  again: () => void
}

function Down({ part, asking, again }: DownProps) {
  return (
    <Notice title={partTexts[part]} live>
      <Button variant="secondary" onClick={again} pending={asking} pendingLabel="Loading...">
        Try again<span className="visually-hidden">{` to show ${part}`}</span>
      </Button>
    </Notice>
  )
}

interface KnownProps {
  dashboard: Home
  asking: boolean
  again: () => void
}

function Known({ dashboard, asking, again }: KnownProps) {
  const { account, unavailable, classes } = dashboard
  const now = useServerNow(dashboard.aheadByMs, (time) =>
    deadlinesOf(statedCards(dashboard, time), statedSeats(dashboard, time)),
  )
  const search = useSearch({ from: '/dashboard' })
  useGoTo(search.card)
  const cards = statedCards(dashboard, now, search.change)
  const seats = statedSeats(dashboard, now)
  const tasks = tasksOf(dashboard, cards, seats, now)
  const { held, isShown, show } = useHeldBack([
    ...cards.map(({ card }) => card.cardId),
    ...tasks.map(({ key }) => `task ${key}`),
  ])
  if (unavailable.includes('classes') && unavailable.includes('money'))
    return <Unreachable retry={again} pending={asking} />
  const incomplete = unavailable.includes('classes')
  const down = (part: DashboardPart) =>
    unavailable.includes(part) && <Down key={part} part={part} asking={asking} again={again} />
  const next = nextOf(cards, seats)
  const shown = cards.filter(({ card }) => isOf(card, search.child) && isShown(card.cardId))
  return (
    <>
      <header className={styles.head}>
        <h1>Your classes</h1>
        <p className={styles.email}>
          <AsWritten>{account.email}</AsWritten>
        </p>
      </header>
      {held > 0 && (
        <p className={styles.updates}>
          <span>{held === 1 ? '1 update' : `${held} updates`}</span>
          <Button
            variant="secondary"
            onClick={() => {
              show()
              focusHeading()
            }}
          >
            Show
          </Button>
        </p>
      )}
      {search.change && search.card && (
        <Suspense>
          <MoveResult card={search.card} changeId={search.change} />
        </Suspense>
      )}
      {next && <Next key={next.meeting.startsAt} next={next} now={now} incomplete={incomplete} />}
      <Announcements cards={cards} seats={seats} now={now} />
      <div className={styles.columns}>
        <div className={styles.column}>
          <ToDo
            tasks={tasks.filter(({ key }) => isShown(`task ${key}`))}
            incomplete={incomplete}
            pressing={!next || !isLinkOpen(next.state)}
          />
          {down('classes')}
          {down('money')}
          {classes && cards.length === 0 && next === undefined && (
            <NoClasses dashboard={dashboard} pressing={tasks.length === 0} />
          )}
          {cards.length > 0 && (
            <section className={styles.column} aria-labelledby="classes-heading">
              <h2 id="classes-heading" className="visually-hidden">
                Classes
              </h2>
              <Children cards={cards} chosen={search.child} />
              {shown.map(({ card, state }) => (
                <ClassCard
                  key={card.cardId}
                  card={card}
                  state={state}
                  now={now}
                  open={search.open === 'dates' && search.card === card.cardId}
                />
              ))}
              {search.child !== undefined && shown.length === 0 && (
                <Section title={`Nothing for ${search.child ?? ''} right now.`}>
                  <div>
                    <ButtonLink to="/dashboard" search={{}} variant="secondary">
                      Show everyone
                    </ButtonLink>
                  </div>
                </Section>
              )}
            </section>
          )}
        </div>
        <div className={styles.column}>
          <Suspense fallback={<Skeleton height="12rem" />}>
            <Others dashboard={dashboard} seats={seats} now={now} isPastOpen={search.open === 'past'} down={down} />
          </Suspense>
        </div>
      </div>
    </>
  )
}

/** Leads to the card that a link names, once it is there. */
function useGoTo(card: string | undefined): void {
  const [wanted] = useState(card)
  useEffect(() => {
    const heading = wanted === undefined ? null : document.getElementById(`card-${wanted}`)?.querySelector('h3')
    if (heading) {
      heading.focus({ preventScroll: true })
      heading.scrollIntoView({ block: 'center' })
    } else if (document.activeElement === document.body) {
      // The focused heading was removed with the loading state.
      focusHeading()
    }
  }, [wanted])
}

/** The next level, after the one that a child has finished. */
const nextLevels = {
  basic: { name: 'Level 2', path: levels.intermediate.path },
  intermediate: { name: 'Level 3', path: levels.advanced.path },
  advanced: { name: 'Level X', path: levels.custom.path },
  custom: undefined,
}

/** An empty page leads on. */
function NoClasses({ dashboard, pressing }: { dashboard: DashboardAnswer; pressing: boolean }) {
  const { account, classes } = dashboard
  const variant = pressing ? 'primary' : 'secondary'
  const last = classes?.lastFinished
  if (last) {
    const level = isLevel(last.classType) ? nextLevels[last.classType] : undefined
    const title = last.levelTitle.split(' ').slice(0, 2).join(' ')
    const month = monthOf(last.endedAt)
    return (
      <Section title="No class coming up">
        <p>
          <span>{asWritten(inOneLine(last.children.map(({ childName }) => childName)))}</span>
          <span>{` finished ${title} in ${month}.${level ? ` ${level.name} is next.` : ''}`}</span>
        </p>
        <div>
          <ButtonLink to={level?.path ?? '/robokidslanding'} variant={variant}>
            See dates
          </ButtonLink>
        </div>
      </Section>
    )
  }
  return (
    <Section title="No classes yet">
      <p>
        <span>Classes that you register with </span>
        <AsWritten>{account.email}</AsWritten>
        <span> appear here, also those from before you had an account.</span>
      </p>
      <div>
        <ButtonLink to="/robokidslanding" variant={variant}>
          See classes
        </ButtonLink>
      </div>
      <p className={styles.quiet}>
        Registered with another address? The link in our email shows everything of that registration.
      </p>
    </Section>
  )
}

const monthOf = (instant: string) => dateOf(schoolDate(instant)).split(' ', 1)[0] ?? ''
