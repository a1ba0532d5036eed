import { z } from 'zod'
import * as billing from './billing.ts'
import * as changes from './changes.ts'
import * as classCancellation from './class-cancellation.ts'
import * as enrollment from './enrollment.ts'
import type { EventDefinition, Producer } from './event.ts'
import * as identity from './identity.ts'
import * as memberClasses from './member-classes.ts'
import * as notifications from './notifications.ts'
import * as reminders from './reminders.ts'
import * as shop from './shop.ts'
import * as waitlist from './waitlist.ts'

/** All events, in the order of the business flow. */
export const allEvents: readonly EventDefinition[] = [
  identity.userSignedUp,
  identity.codeIssued,
  identity.userConfirmed,
  identity.userUpdated,
  identity.userDeleted,
  identity.signInLocked,
  enrollment.seasonOpened,
  enrollment.smallClassesFound,
  waitlist.waitlistJoined,
  waitlist.waitlistOffered,
  waitlist.waitlistEnded,
  enrollment.registrationHeld,
  billing.checkoutCreated,
  billing.checkoutExpired,
  billing.paymentCompleted,
  billing.paymentFailed,
  billing.paymentRefunded,
  billing.refundFailed,
  billing.refundRequested,
  billing.refundDeclined,
  changes.movePaid,
  changes.moveCheckoutEnded,
  billing.pricesChanged,
  billing.membershipCheckoutExpired,
  billing.subscriptionActivated,
  billing.subscriptionRenewed,
  billing.subscriptionPastDue,
  billing.subscriptionCancelled,
  billing.subscriptionResumed,
  billing.subscriptionSwitched,
  billing.subscriptionEnded,
  billing.subscriptionReminder,
  billing.membershipAskedAgain,
  billing.membershipRefunded,
  billing.membershipRefundFailed,
  billing.paymentDisputed,
  enrollment.memberSeated,
  enrollment.memberRejected,
  memberClasses.memberCreditChanged,
  memberClasses.memberClassBooked,
  memberClasses.memberClassMoved,
  memberClasses.memberClassCancelled,
  memberClasses.memberClassNotRestored,
  shop.orderPaid,
  shop.orderRefunded,
  shop.orderRefundFailed,
  shop.orderShipped,
  shop.productStateChanged,
  enrollment.registrationConfirmed,
  enrollment.registrationRejected,
  enrollment.registrationExpired,
  enrollment.registrationCancelled,
  enrollment.waiverSigned,
  enrollment.registrationAskedAgain,
  classCancellation.classCancelled,
  changes.placesCancelled,
  changes.placesMoved,
  changes.moveEnded,
  changes.moveRefused,
  enrollment.kitReady,
  enrollment.kitShipped,
  reminders.registrationRescheduled,
  reminders.classReminderDue,
  reminders.classLinkMissing,
  notifications.mailDelivered,
  notifications.mailFailed,
]

/** The events whose data has a `registrationId`; never a secret one. */
export const registrationEvents: readonly EventDefinition[] = allEvents.filter(
  ({ data, secret }) => !secret && data instanceof z.ZodObject && 'registrationId' in data.shape,
)

/** The events that may change what an account sees of what it owns. */
export const familyEvents: readonly EventDefinition[] = allEvents.filter(
  ({ data, secret }) =>
    !secret &&
    data instanceof z.ZodObject &&
    ['registrationId', 'orderId', 'ownerId'].some((name) => name in data.shape),
)

export interface Stream {
  name: string
  /** The service that publishes its events, and creates it. */
  producer: Producer
  subjects: string[]
  /** Its events are stored in memory, for ten minutes. */
  secret: boolean
}

/** Returns the broker's streams with their subjects (event types): one per producer, named after it, and one for its secret events. */
export function streams(): Stream[] {
  return Map.groupBy(allEvents, (event) => event.stream)
    .entries()
    .flatMap(([name, [first, ...others]]) =>
      first === undefined
        ? []
        : [
            {
              name,
              producer: first.producer,
              subjects: [first, ...others].map((event) => event.type),
              secret: first.secret,
            },
          ],
    )
    .toArray()
}
