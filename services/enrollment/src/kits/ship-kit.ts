import { kitShipped, type Registration, type ShipKit } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { lockWithPlaces } from '../registrations/lock-registration.ts'
import { readPaymentStates } from '../registrations/payment-states.ts'
import { factsOf, readRegistration, registrationNotFound } from '../registrations/read-registrations.ts'
import { paymentProblem } from '../rules.ts'
import { kitShipments } from '../schema.ts'

/**
 * Records that a kit was shipped, once. Repeating the same request returns the same.
 * @throws DomainError `registration_not_found`, `kit_not_ready`, `kit_already_shipped`
 */
export async function shipKit(
  registrationId: string,
  { carrier, trackingNumber }: ShipKit,
  context: Context<Config>,
): Promise<Registration> {
  return context.db.transaction(async (tx) => {
    const locked = await lockWithPlaces(tx, registrationId)
    if (!locked) throw registrationNotFound()
    const [kit] = await tx.select().from(kitShipments).where(eq(kitShipments.registrationId, registrationId))
    if (kit?.status === 'shipped') {
      const same = kit.carrier === carrier && kit.trackingNumber === trackingNumber
      if (!same)
        throw new DomainError('kit_already_shipped', 'This kit is already shipped under another tracking number.')
      return readRegistration(tx, registrationId)
    }
    // The row of a ready kit is kept when its registration is cancelled.
    if (!kit || locked.registration.status !== 'waiver_signed') {
      throw new DomainError('kit_not_ready', 'A kit can be shipped only for a registration that is paid and signed.')
    }
    const states = await readPaymentStates(tx, [locked.registration])
    const reason = paymentProblem(states.get(registrationId) ?? 'paid')
    if (reason !== undefined) throw new DomainError('kit_not_ready', `${reason}, so its kit cannot be shipped.`)
    const attended = locked.places.filter(
      ({ status, classSessionId }) =>
        status === 'seated' && locked.classSessions.some((one) => one.id === classSessionId && one.status === 'open'),
    )
    if (attended.length === 0)
      throw new DomainError('kit_not_ready', 'The class was canceled, and the family has no other one yet.')
    await tx
      .update(kitShipments)
      .set({ status: 'shipped', carrier, trackingNumber, shippedAt: context.clock.now() })
      .where(eq(kitShipments.registrationId, registrationId))
    await publish(tx, kitShipped, registrationId, { ...factsOf(locked.registration), carrier, trackingNumber })
    return readRegistration(tx, registrationId)
  })
}
