import { classSku } from '@robokids/contracts/billing'
import type { ClassType, LevelClassType, RegistrationFacts } from '@robokids/contracts/enrollment'
import { payableChildren } from '@robokids/contracts/pricing'

/** Promotions start and end at midnight in this zone. */
const businessZone = 'America/Los_Angeles'

export interface Promotion {
  id: string
  kind: 'sibling_free'
  classTypes: LevelClassType[]
  startsAt: Temporal.Instant
  endsAt: Temporal.Instant
}

function startOfDay(day: Temporal.PlainDate): Temporal.Instant {
  return day.toZonedDateTime(businessZone).toInstant()
}

/** Creates a promotion from the start of one day to the end of another. */
export function siblingPromotion(id: string, firstDay: Temporal.PlainDate, lastDay: Temporal.PlainDate): Promotion {
  return {
    id,
    kind: 'sibling_free',
    classTypes: ['basic', 'intermediate', 'advanced'],
    startsAt: startOfDay(firstDay),
    endsAt: startOfDay(lastDay.add({ days: 1 })),
  }
}

/**
 * Creates the promotion of a season: from the day it opens until a week after its first class day, four days after the
 * season's Monday, as in Fall 2025.
 */
export function seasonPromotion(openedOn: string, firstClassDay: string): Promotion {
  const first = Temporal.PlainDate.from(firstClassDay)
  return siblingPromotion(`sibling-free-${firstClassDay}`, Temporal.PlainDate.from(openedOn), first.add({ days: 7 }))
}

/** Whether a promotion is running: `startsAt` is inclusive, `endsAt` exclusive. */
export function isRunning(promotion: Pick<Promotion, 'startsAt' | 'endsAt'>, now: Temporal.Instant): boolean {
  return Temporal.Instant.compare(promotion.startsAt, now) <= 0 && Temporal.Instant.compare(now, promotion.endsAt) < 0
}

/** The promotion in force at `now`: of the running ones, the latest. */
export function promotionInForce<One extends Pick<Promotion, 'startsAt' | 'endsAt'>>(
  promotions: One[],
  now: Temporal.Instant,
): One | undefined {
  return promotions
    .filter((promotion) => isRunning(promotion, now))
    .toSorted((a, b) => Temporal.Instant.compare(a.startsAt, b.startsAt))
    .at(-1)
}

export interface Quote {
  siblingJoinsFree: boolean
  unitAmount: number
  /** Number of paid children. */
  quantity: number
  amount: number
}

/** Quotes a registration at `now` by the price of its class and the promotions. */
export function quote(
  price: number,
  classType: ClassType,
  children: number,
  promotions: Promotion[],
  now: Temporal.Instant,
): Quote {
  const promotion = promotionInForce(promotions, now)
  const siblingJoinsFree = (promotion?.classTypes as ClassType[] | undefined)?.includes(classType) ?? false
  const quantity = payableChildren(children, siblingJoinsFree)
  return { siblingJoinsFree, unitAmount: price, quantity, amount: price * quantity }
}

export function purchaseSku({ classType }: Pick<RegistrationFacts, 'classType'>): string {
  return classSku(classType)
}
