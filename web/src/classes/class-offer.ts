import type { ClassesView } from '@robokids/contracts/bff'
import type { Level, LevelClassType } from '@robokids/contracts/enrollment'
import type { Money } from '@robokids/contracts/fields'
import { payableChildren } from '@robokids/contracts/pricing'

export type LevelOffer = Level & { price: Money; siblingJoinsFree: boolean; promotionLastDay: string | null }

/** The offer of one level, with the promotion if it applies. */
export function offerOf(classes: ClassesView, classType: LevelClassType): LevelOffer | undefined {
  const level = classes.levels.find((entry) => entry.classType === classType)
  if (!level) return undefined
  const siblingJoinsFree = classes.promotion?.classTypes.includes(classType) ?? false
  return {
    ...level,
    siblingJoinsFree,
    promotionLastDay: siblingJoinsFree ? (classes.promotion?.lastDay ?? null) : null,
  }
}

export interface Total {
  total: Money
  /** How many of the children join free. */
  free: number
  saved: Money
}

/** The current price for this many children, for display: the server calculates the charge. */
export function totalOf(offer: LevelOffer, children: number): Total {
  const paid = payableChildren(children, offer.siblingJoinsFree)
  const times = (count: number): Money => ({ amount: offer.price.amount * count, currency: offer.price.currency })
  return { total: times(paid), free: children - paid, saved: times(children - paid) }
}

/** If a date is unavailable: the next available one, else the first. */
export function nextOpenDate<Dated extends { date: string }>(open: readonly Dated[], date: string): Dated | undefined {
  return open.find((one) => one.date > date) ?? open[0]
}

export function seatsLeftText(seatsLeft: number): string {
  if (seatsLeft === 0) return 'full'
  return seatsLeft === 1 ? '1 seat left' : `${seatsLeft} seats left`
}
