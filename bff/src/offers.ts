import { membershipPlansSchema, type MembershipPlans, pricesChanged } from '@robokids/contracts/billing'
import { placesCancelled, placesMoved } from '@robokids/contracts/changes'
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
import type { EventDefinition } from '@robokids/contracts/event'
import { productStateChanged, type ShopView } from '@robokids/contracts/shop'
import { waitlistEnded, waitlistJoined, waitlistOffered } from '@robokids/contracts/waitlist'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import { Cached } from './cached.ts'
import { coalesce } from './coalesce.ts'
import type { Services } from './upstream.ts'
import { classesView } from './views/classes.ts'
import { shopView } from './views/shop.ts'

/** The site's offers, the same for everybody: dates with their seats, prices, the promotion, products. */
export interface Offers {
  /** Fetched now, once for concurrent requests. @throws DomainError `upstream_unavailable` */
  classes(): Promise<ClassesView>
  shop(): Promise<ShopView>
  slots(classType: ClassType): Promise<AvailableSlots>
  plans(): Promise<MembershipPlans>
  /** For pages: a few seconds old at most, or older while a service is unavailable. */
  cached: { classes: Cached<ClassesView>; plans: Cached<MembershipPlans>; shop: Cached<ShopView> }
}

const seatEvents = [
  placesCancelled,
  placesMoved,
  registrationHeld,
  registrationConfirmed,
  registrationRejected,
  registrationExpired,
  registrationCancelled,
  memberSeated,
  memberRejected,
  waitlistJoined,
  waitlistOffered,
  waitlistEnded,
]

/** The events that make cached offers stale. */
export const offerEvents: readonly EventDefinition[] = [...seatEvents, seasonOpened, pricesChanged, productStateChanged]

export function createOffers(services: Services, { bus, log }: Context<Config>): Offers {
  const { enrollment, billing } = services
  const slotsOf = new Map<ClassType, () => Promise<AvailableSlots>>()
  const classes = coalesce(() => classesView(services))
  const shop = coalesce(() => shopView(services))
  const plans = coalesce(() => billing.call('GET', '/membership-plans', { answer: membershipPlansSchema }))
  const failed = (error: unknown) => log.warn({ err: error }, 'Pages show older prices and dates, or none')
  const cached = {
    classes: new Cached(classes, failed),
    plans: new Cached(plans, failed),
    shop: new Cached(shop, failed),
  }
  const typesOf = (events: { type: string }[]) => events.map(({ type }) => type)
  bus.watch(typesOf([...seatEvents, seasonOpened, pricesChanged]), () => cached.classes.invalidate())
  bus.watch(typesOf([pricesChanged]), () => cached.plans.invalidate())
  bus.watch(typesOf([pricesChanged, productStateChanged]), () => cached.shop.invalidate())

  return {
    classes,
    shop,
    slots(classType) {
      const known = slotsOf.get(classType)
      if (known) return known()
      const path = `/available-slots?classType=${classType}`
      const fetchSlots = coalesce(() => enrollment.call('GET', path, { answer: availableSlotsSchema }))
      slotsOf.set(classType, fetchSlots)
      return fetchSlots()
    },
    plans,
    cached,
  }
}
