import type { Dashboard, DashboardCard, FamilyClasses } from '@robokids/contracts/dashboard'
import { type CardState, cardStateOf, isSeated, worksAfterMs } from './card-state.ts'

export type MemberClass = FamilyClasses['memberClasses'][number]

export interface StatedCard {
  card: DashboardCard
  state: CardState
}

/** The class that comes next, whoever of the family sits in it. */
export type Upcoming = { startsAt: string } & (({ kind: 'card' } & StatedCard) | { kind: 'member'; seat: MemberClass })

export const statedCards = ({ classes }: Dashboard, now: number): StatedCard[] =>
  (classes?.cards ?? []).map((card) => ({ card, state: cardStateOf(card, now) }))

/** A member's seat whose class is not over. */
export function isAhead({ status, startsAt, durationMinutes }: MemberClass, now: number): boolean {
  return status === 'seated' && now < Date.parse(startsAt) + durationMinutes * 60_000 + worksAfterMs
}

export function nextOf({ classes }: Dashboard, cards: readonly StatedCard[], now: number): Upcoming | undefined {
  const upcoming: Upcoming[] = [
    ...cards
      .filter(({ state }) => isSeated(state))
      .map((one) => ({ kind: 'card' as const, startsAt: one.card.startsAt, ...one })),
    ...(classes?.memberClasses ?? [])
      .filter((seat) => isAhead(seat, now))
      .map((seat) => ({ kind: 'member' as const, startsAt: seat.startsAt, seat })),
  ]
  return upcoming.toSorted((one, other) => one.startsAt.localeCompare(other.startsAt))[0]
}
