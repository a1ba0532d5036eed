import { meetingTimes, nextMeeting } from '@robokids/contracts/class-link-times'
import type { Dashboard, DashboardCard, FamilyClasses } from '@robokids/contracts/dashboard'
import type { Meeting } from '@robokids/contracts/meetings'
import { type CardState, cardStateOf, timeState } from './card-state.ts'

export type MemberClass = FamilyClasses['memberClasses'][number]

export interface StatedCard {
  card: DashboardCard
  state: CardState
}

/** A member's class that is ahead or running. */
export interface StatedSeat {
  seat: MemberClass
  state: CardState & { meeting: Meeting }
}

/** The class that comes next for anyone of the family. */
export type Upcoming =
  | { kind: 'card'; card: DashboardCard; state: CardState; meeting: Meeting }
  | { kind: 'member'; seat: MemberClass; state: CardState; meeting: Meeting }

/** @param paid the id of a move that has just been paid: nobody is asked to pay for it again */
export const statedCards = ({ classes }: Dashboard, now: number, paid?: string): StatedCard[] =>
  (classes?.cards ?? []).map((shown) => {
    const { pendingMove, ...rest } = shown
    const card = pendingMove?.changeId === paid ? rest : shown
    return { card, state: cardStateOf(card, now) }
  })

export function statedSeats({ classes }: Dashboard, now: number): StatedSeat[] {
  return (classes?.memberClasses ?? []).flatMap((seat) => {
    const { classDate: date, startTime, startsAt, durationMinutes } = seat
    const meeting = nextMeeting([{ number: 1, date, startTime: startTime ?? '', startsAt, durationMinutes }], now)
    if (!meeting || seat.status !== 'seated') return []
    const waiting: CardState = { kind: 'waiver missing', badge: 'Waiver missing', tone: 'note' }
    return [{ seat, state: { ...(seat.waiverSignedAt === null ? waiting : timeState(meeting, now)), meeting } }]
  })
}

export function nextOf(cards: readonly StatedCard[], seats: readonly StatedSeat[]): Upcoming | undefined {
  const upcoming: Upcoming[] = [
    ...cards.flatMap(({ card, state }) =>
      state.meeting ? [{ kind: 'card' as const, card, state, meeting: state.meeting }] : [],
    ),
    ...seats.map(({ seat, state }) => ({ kind: 'member' as const, seat, state, meeting: state.meeting })),
  ]
  return upcoming.reduce<Upcoming | undefined>(
    (first, one) => (first && first.meeting.startsAt <= one.meeting.startsAt ? first : one),
    undefined,
  )
}

/** Whether the link of a class works now, for a family that may have it. */
export const isLinkOpen = ({ kind }: CardState) => kind === 'soon' || kind === 'live'

/** The times that a countdown on the page runs to: the end of each hold, and the start of each class. */
export function deadlinesOf(cards: readonly StatedCard[], seats: readonly StatedSeat[]): number[] {
  const holds = cards.flatMap(({ card, state }) =>
    [state.kind === 'held' ? card.heldUntil : null, card.pendingMove?.heldUntil].flatMap((until) =>
      until ? [Date.parse(until)] : [],
    ),
  )
  const meetings = [...cards, ...seats].flatMap(({ state }) => (state.meeting ? [state.meeting] : []))
  return [
    ...holds,
    ...meetings.flatMap((meeting) => {
      const { opens, start } = meetingTimes(meeting)
      return [opens, start]
    }),
  ]
}
