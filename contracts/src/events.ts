import * as billing from './billing.ts'
import * as enrollment from './enrollment.ts'
import type { EventDefinition, Producer } from './event.ts'
import * as notifications from './notifications.ts'

/** Every event there is, in the order of the flow. */
export const allEvents: readonly EventDefinition[] = [
  enrollment.registrationHeld,
  billing.checkoutCreated,
  billing.checkoutExpired,
  billing.paymentCompleted,
  billing.paymentFailed,
  billing.paymentRefunded,
  enrollment.registrationConfirmed,
  enrollment.registrationRejected,
  enrollment.registrationExpired,
  enrollment.registrationCancelled,
  enrollment.waiverSigned,
  enrollment.kitReady,
  enrollment.kitShipped,
  notifications.mailDelivered,
  notifications.mailFailed,
]

/** The streams of the bus: one a producer, named after it, with the subjects (event types) it holds. */
export function streams(): { name: Producer; subjects: string[] }[] {
  const producers = [...new Set(allEvents.map((event) => event.producer))]
  return producers.map((name) => ({
    name,
    subjects: allEvents.filter((event) => event.producer === name).map((event) => event.type),
  }))
}
