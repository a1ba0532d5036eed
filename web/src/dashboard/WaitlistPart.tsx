import type { WaitlistView } from '@robokids/contracts/waitlist'
import { placeInLine, seatCount } from '@robokids/contracts/waitlist-texts'
import { useQueryClient } from '@tanstack/react-query'
import { done } from '../api/answer.ts'
import { api } from '../api/api.ts'
import { isLevel } from '../classes/level-looks.ts'
import { useSubmit } from '../forms/use-submit.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Item, Items, Section } from '../ui/Section.tsx'
import { schoolMoment, schoolWeekday, timeLeft } from '../waitlist/offer-time.ts'
import { shortDayOf } from './moments.ts'

/** An offer ends by the server's clock, even before the server says so. */
export const isOffered = ({ status, offerEndsAt }: WaitlistView, now: number) =>
  status === 'offered' && offerEndsAt !== null && Date.parse(offerEndsAt) > now

function sentenceOf(entry: WaitlistView, now: number): string {
  const { status, place, familiesWaiting, offerEndsAt, closedReason, children } = entry
  const seats = seatCount(children.length)
  if (status === 'waiting') return `${placeInLine(place ?? 1, familiesWaiting)} for ${seats}`
  if (isOffered(entry, now) && offerEndsAt !== null) {
    const are = children.length === 1 ? 'is' : 'are'
    return `${seats} ${are} yours until ${schoolMoment(offerEndsAt)}. ${timeLeft(offerEndsAt, now) ?? ''}`
  }
  if (closedReason === 'class_cancelled') return 'This class was canceled, so the line is closed.'
  const when = offerEndsAt === null ? '' : ` on ${schoolWeekday(offerEndsAt)}`
  return `The offer ended${when}. ${children.length === 1 ? 'The seat' : 'The seats'} went to the next family.`
}

function Leave({ entryId }: Pick<WaitlistView, 'entryId'>) {
  const queryClient = useQueryClient()
  const state = useSubmit('That did not work. Please try again.')
  const leave = () =>
    state.submit(async () => {
      await api(`/api/waitlist/${entryId}/leave`, { method: 'POST', body: {}, answer: done })
      await queryClient.invalidateQueries({ queryKey: ['dashboard'] })
    })
  return (
    <>
      <Button variant="quiet" pending={state.pending} onClick={leave}>
        Leave the line
      </Button>
      {state.message && <p role="alert">{state.message.text}</p>}
    </>
  )
}

function actionOf(entry: WaitlistView, now: number) {
  const { entryId, status, closedReason, classType, startDate, children } = entry
  if (status === 'waiting') return <Leave entryId={entryId} />
  if (isOffered(entry, now)) {
    return (
      <ButtonLink to="/waitlist" search={{ offer: entryId }} variant="secondary">
        {children.length === 1 ? 'Take the seat' : 'Take the seats'}
      </ButtonLink>
    )
  }
  if (closedReason === 'class_cancelled' || !isLevel(classType)) {
    return (
      <ButtonLink to="/levels" variant="secondary">
        See other dates
      </ButtonLink>
    )
  }
  return (
    <ButtonLink to="/waitlist" search={{ classType, startDate }} variant="secondary">
      Join the line again
    </ButtonLink>
  )
}

/** The family's places in line. */
export function WaitlistPart({ entries, now }: { entries: readonly WaitlistView[]; now: number }) {
  if (entries.length === 0) return null
  return (
    <Section title="Waitlist">
      <Items label="Places in line">
        {entries.map((entry) => (
          <Item
            key={entry.entryId}
            name={`${entry.levelTitle.split(' ').slice(0, 2).join(' ')}, ${shortDayOf(entry.startDate)}`}
            detail={sentenceOf(entry, now)}
          >
            {actionOf(entry, now)}
          </Item>
        ))}
      </Items>
    </Section>
  )
}
