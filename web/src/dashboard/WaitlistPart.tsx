import { formatMoney } from '@robokids/contracts/pricing'
import type { WaitlistView } from '@robokids/contracts/waitlist'
import { placeInLine, seatCount } from '@robokids/contracts/waitlist-texts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { offerOf, totalOf } from '../classes/class-offer.ts'
import { classesQuery } from '../classes/classes-query.ts'
import { isLevel } from '../classes/level-looks.ts'
import { ButtonLink } from '../ui/Button.tsx'
import { Item, Items, Section } from '../ui/Section.tsx'
import { DeclineButton } from '../waitlist/DeclineButton.tsx'
import { LeaveButton } from '../waitlist/LeaveButton.tsx'
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

/** Reads the home again, since a change of a line moves others in it. */
function useReadAgain() {
  const queryClient = useQueryClient()
  return () => void queryClient.invalidateQueries({ queryKey: ['dashboard'] })
}

function Leave({ entryId }: Pick<WaitlistView, 'entryId'>) {
  const readAgain = useReadAgain()
  return <LeaveButton entryId={entryId} onLeft={readAgain} />
}

/** The page of the offer asks for the address. The price is asked for only where there is an offer. */
function Take({ entry }: { entry: WaitlistView }) {
  const { entryId, classType, children } = entry
  const classes = useQuery(classesQuery)
  const readAgain = useReadAgain()
  const level = classes.data && isLevel(classType) ? offerOf(classes.data, classType) : undefined
  const price = level ? `, ${formatMoney(totalOf(level, children.length).total)}` : ''
  return (
    <>
      <ButtonLink to="/waitlist" search={{ offer: entryId }} variant="secondary">
        {`Take the ${children.length === 1 ? 'seat' : 'seats'}${price}`}
      </ButtonLink>
      <DeclineButton entry={entry} onDeclined={readAgain} />
    </>
  )
}

function actionOf(entry: WaitlistView, now: number) {
  const { entryId, status, closedReason, classType, startDate } = entry
  if (status === 'waiting') return <Leave entryId={entryId} />
  if (isOffered(entry, now)) return <Take entry={entry} />
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
