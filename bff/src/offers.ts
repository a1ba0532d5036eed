import { membershipPlansSchema, type MembershipPlans, pricesChanged } from '@robokids/contracts/billing'
import type { ClassesView } from '@robokids/contracts/bff'
import {
  availableSlotsSchema,
  memberRejected,
  memberSeated,
  registrationCancelled,
  registrationConfirmed,
  registrationExpired,
  registrationHeld,
  registrationRejected,
  seasonOpened,
  type AvailableSlots,
  type ClassType,
} from '@robokids/contracts/enrollment'
import { productStateChanged, type ShopView } from '@robokids/contracts/shop'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import { Recent } from './recent.ts'
import { shared } from './shared.ts'
import type { Services } from './upstream.ts'
import { classesView } from './views/classes.ts'
import { shopView } from './views/shop.ts'

/** What the site offers, the same to everybody: dates with their seats, prices, the promotion, products. */
export interface Offers {
  /** Each is asked for now, for all who ask at once. @throws DomainError `upstream_unavailable` */
  classes(): Promise<ClassesView>
  shop(): Promise<ShopView>
  slots(classType: ClassType): Promise<AvailableSlots>
  plans(): Promise<MembershipPlans>
  /** What pages show: a few seconds old at most, or as it was a while ago where nobody answers. */
  recently: { classes: Recent<ClassesView>; plans: Recent<MembershipPlans>; shop: Recent<ShopView> }
}

const seatsMoved = [
  registrationHeld,
  registrationConfirmed,
  registrationRejected,
  registrationExpired,
  registrationCancelled,
  memberSeated,
  memberRejected,
]

export function offersOf(services: Services, { bus, log }: Context<Config>): Offers {
  const { enrollment, billing } = services
  const slotsOf = new Map<ClassType, () => Promise<AvailableSlots>>()
  const classes = shared(() => classesView(services))
  const shop = shared(() => shopView(services))
  const plans = shared(() => billing.call('GET', '/membership-plans', { answer: membershipPlansSchema }))
  const failed = (error: unknown) =>
    log.warn({ err: error }, 'Pages show prices and dates as they were before, or none')
  const recently = {
    classes: new Recent(classes, failed),
    plans: new Recent(plans, failed),
    shop: new Recent(shop, failed),
  }
  const typesOf = (events: { type: string }[]) => events.map(({ type }) => type)
  bus.watch(typesOf([...seatsMoved, seasonOpened, pricesChanged]), () => recently.classes.change())
  bus.watch(typesOf([pricesChanged]), () => recently.plans.change())
  bus.watch(typesOf([pricesChanged, productStateChanged]), () => recently.shop.change())

  return {
    classes,
    shop,
    slots(classType) {
      const known = slotsOf.get(classType)
      if (known) return known()
      const path = `/available-slots?classType=${classType}`
      const ask = shared(() => enrollment.call('GET', path, { answer: availableSlotsSchema }))
      slotsOf.set(classType, ask)
      return ask()
    },
    plans,
    recently,
  }
}
