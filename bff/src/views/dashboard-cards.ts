import type { Checkout } from '@robokids/contracts/billing'
import { meetingsOf, nextMeeting } from '@robokids/contracts/class-link-times'
import type { Dashboard, DashboardCard, Family, FamilyClasses } from '@robokids/contracts/dashboard'
import { isEnded, toDisplayStatus } from '@robokids/contracts/display-status'
import type { Place } from '@robokids/contracts/enrollment'
import { presentRegistration } from './registration.ts'

type FamilyRegistration = FamilyClasses['registrations'][number]

/** How long a hold that ended unpaid is shown, for a parent who comes back for it. */
const endedHoldFor = Temporal.Duration.from({ hours: 72 })

/** A registration as one card. */
function cardOf(registration: FamilyRegistration, checkout: Checkout | undefined, siteUrl: string): DashboardCard {
  const { startsAt, durationMinutes, updatedAt, waiver, kit, payment, meetings, coachName } = registration
  return {
    cardId: registration.registrationId,
    ...presentRegistration(registration, checkout ?? null, siteUrl),
    startsAt,
    durationMinutes,
    updatedAt,
    waiver,
    kit,
    payment,
    meetings,
    coachName,
  }
}

/**
 * A registration's cards: one for all children that sit in the same class, and one for those who gave up their seats in it. Only a
 * family that has moved or cancelled single children has several.
 */
function splitCard(card: DashboardCard, places: readonly Place[]): DashboardCard[] {
  if (card.status !== 'confirmed' && card.status !== 'waiver_signed') return [card]
  const groups = [...Map.groupBy(places, ({ classSessionId, status }) => `${classSessionId} ${status}`).values()]
  if (groups.length < 2) return [{ ...card, places: places.map(placeOnCard) }]
  const main = groups.find(([first]) => first?.status === 'seated')
  return groups.flatMap((group) => {
    const [first] = group
    if (!first) return []
    const { classType, levelTitle, startDate, startTime, durationMinutes, timeZone, meetings, coachName } = first
    return [
      {
        ...card,
        // A link to the registration leads to the first of its cards that has a seat.
        cardId: group === main ? card.registrationId : first.placeId,
        children: group.map(({ childName, childAge }) => ({ childName, childAge })),
        places: group.map(placeOnCard),
        classType,
        levelTitle,
        startDate,
        startTime,
        durationMinutes,
        timeZone,
        meetings,
        coachName,
        startsAt: meetings?.[0]?.startsAt ?? card.startsAt,
        // What went back is of the whole payment, and not of these children alone.
        ...(first.status === 'cancelled' ? { status: 'cancelled' as const, checkout: null, kit: null } : {}),
      },
    ]
  })
}

function placeOnCard(place: Place) {
  const { placeId, childName, childAge, status, paidAmount, moves, cancelledAt, classCancelled, cancelledBySchool } =
    place
  const school = {
    ...(classCancelled ? { classCancelled } : {}),
    ...(cancelledBySchool ? { cancelledBySchool } : {}),
  }
  return { placeId, childName, childAge, status, paidAmount, moves, cancelledAt, ...school }
}

const isBefore = (one: Temporal.Instant, other: Temporal.Instant) => Temporal.Instant.compare(one, other) < 0

/** The cards of an account, current and past. @param checkouts absent while billing is unavailable. */
export function dashboardCards(
  { registrations }: FamilyClasses,
  checkouts: readonly Checkout[] | undefined,
  { siteUrl, now }: { siteUrl: string; now: Temporal.Instant },
): { current: DashboardCard[]; past: DashboardCard[] } {
  const known = new Map(checkouts?.map((checkout) => [checkout.registrationId, checkout]))
  const whole = registrations.map((one) => cardOf(one, known.get(one.registrationId), siteUrl))
  const places = new Map(registrations.map((one) => [one.registrationId, one.places ?? []]))
  const cards = whole
    .filter((card) => isShown(card, whole, now))
    .flatMap((card) => splitCard(card, places.get(card.registrationId) ?? []))
    .map((card) => withPendingMove(card, registrations))
  const { past = [], current = [] } = Object.groupBy(cards, (card) => (isPast(card, now) ? 'past' : 'current'))
  const nextStart = (card: DashboardCard) =>
    nextMeeting(meetingsOf(card), now.epochMilliseconds)?.startsAt ?? card.startsAt
  return {
    current: current.toSorted((one, other) => nextStart(one).localeCompare(nextStart(other))),
    past: past.toSorted((one, other) => endOf(other).localeCompare(endOf(one))),
  }
}

/** Adds the move of some of a card's children that is not paid yet. */
function withPendingMove(card: DashboardCard, registrations: FamilyClasses['registrations']): DashboardCard {
  const { pendingMoves = [] } = registrations.find((one) => one.registrationId === card.registrationId) ?? {}
  const seated = new Set(card.places?.flatMap(({ placeId, status }) => (status === 'seated' ? [placeId] : [])))
  const pendingMove = pendingMoves.find(({ terms }) => terms.lines.some(({ placeId }) => seated.has(placeId)))
  return pendingMove ? { ...card, pendingMove } : card
}

/** When the last meeting begins. */
const endOf = (card: DashboardCard) => meetingsOf(card).at(-1)?.startsAt ?? card.startsAt

/** Leaves out what a parent has replaced or given up, unless money is involved. */
function isShown(card: DashboardCard, all: readonly DashboardCard[], now: Temporal.Instant): boolean {
  if (card.payment !== null || card.checkout?.paidAt || (card.checkout?.refunds.length ?? 0) > 0) return true
  if (card.status === 'cancelled') return false
  if (card.status !== 'expired') return true
  const isRecent = isBefore(now, Temporal.Instant.from(card.updatedAt).add(endedHoldFor))
  return isRecent && isBefore(now, Temporal.Instant.from(card.startsAt)) && !all.some((other) => replaces(other, card))
}

/** Whether a registration is for one of the same children and the same class as one whose hold has ended. */
function replaces(one: DashboardCard, ended: DashboardCard): boolean {
  const isForOneOf = one.children.some(({ childName }) => ended.children.some((child) => child.childName === childName))
  const isNewer = one.registrationId !== ended.registrationId && one.updatedAt > ended.updatedAt
  return isForOneOf && isNewer && one.classType === ended.classType && one.startDate === ended.startDate
}

/** An ended registration stays with the current ones while its money is on its way. */
function isPast(card: DashboardCard, now: Temporal.Instant): boolean {
  const status = toDisplayStatus(card)
  // What is to be chosen, or is being refunded.
  if (card.places?.some(({ classCancelled }) => classCancelled)) return false
  if (nextMeeting(meetingsOf(card), now.epochMilliseconds)) return false
  const refund = isEnded(status) ? status.refund : null
  return refund === null || refund.state === 'done'
}

/** The latest class that was not given up. */
export function lastFinishedOf(past: readonly DashboardCard[]): NonNullable<Dashboard['classes']>['lastFinished'] {
  const card = past.find((one) => toDisplayStatus(one).kind === 'registered')
  return card ? { ...card, endedAt: endOf(card) } : null
}

/** The children and the address that an account has registered, the latest first. */
export function familyOf({ registrations }: FamilyClasses): Family {
  const children = new Map<string, Family['children'][number]>()
  for (const { childName, childAge } of registrations.flatMap((registration) => registration.children)) {
    const key = childName.trim().toLowerCase()
    if (!children.has(key)) children.set(key, { childName, childAge })
  }
  return { children: [...children.values()], address: registrations[0]?.address ?? null }
}
