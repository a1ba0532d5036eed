import { meetingTimes } from '@robokids/contracts/class-link-times'
import { useState } from 'react'
import { namesOf } from './ClassCard.tsx'
import type { StatedCard, StatedSeat } from './upcoming.ts'

interface AnnouncementsProps {
  cards: readonly StatedCard[]
  seats: readonly StatedSeat[]
  now: number
}

const minuteMs = 60_000
/** Minutes before its end at which a countdown is announced. */
const announced = [60, 10, 1]

interface Event {
  at: number
  text: string
}

function eventsOf({ cards, seats }: Omit<AnnouncementsProps, 'now'>): Event[] {
  const meetings = [
    ...cards.map(({ card, state }) => ({ who: `${namesOf(card.children)}’s class`, ...state })),
    ...seats.map(({ state }) => ({ who: 'The members’ class', ...state })),
  ]
  const opening = meetings.flatMap(({ who, kind, meeting }) =>
    meeting && kind !== 'waiver missing' && kind !== 'disputed'
      ? [{ at: meetingTimes(meeting).opens, text: `${who} is open.` }]
      : [],
  )
  const holds = cards.flatMap(({ card, state }) => {
    if (card.heldUntil === null || (state.kind !== 'held' && state.kind !== 'hold ended')) return []
    const until = Date.parse(card.heldUntil)
    const before = announced.map((minutes) => ({
      at: until - minutes * minuteMs,
      text:
        minutes === 60
          ? 'Your seat is held for one more hour.'
          : `Your seat is held for ${minutes} more ${minutes === 1 ? 'minute' : 'minutes'}.`,
    }))
    return [...before, { at: until, text: 'The hold of your seat has ended.' }]
  })
  return [...opening, ...holds]
}

/** Tells politely, in one sentence, what the passing of time has changed; the focus stays where it is. */
export function Announcements({ cards, seats, now }: AnnouncementsProps) {
  const [told, setTold] = useState({ until: now, text: '' })
  const due = eventsOf({ cards, seats }).findLast(({ at }) => at > told.until && at <= now)
  if (due) setTold({ until: now, text: due.text })
  return (
    <p className="visually-hidden" aria-live="polite">
      {told.text}
    </p>
  )
}
