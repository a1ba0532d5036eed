import { checkoutSchema, type Checkout } from '@robokids/contracts/billing'
import type { RegistrationView } from '@robokids/contracts/bff'
import { registrationSchema, type Registration } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { CheckoutSync } from '../checkout-sync.ts'
import type { Services } from '../upstream.ts'

/** A payment may be under way: what billing knows could be older than what the provider knows. */
function isUnsettled(registration: Registration, checkout: Checkout): boolean {
  return (
    (registration.status === 'held' || registration.status === 'expired') &&
    ['creating', 'open', 'processing'].includes(checkout.status)
  )
}

async function findCheckout(
  { billing }: Services,
  registration: Registration,
  sync: CheckoutSync,
): Promise<Checkout | null> {
  const path = `/checkouts/${registration.registrationId}`
  try {
    const known = await billing.call('GET', path, { answer: checkoutSchema })
    if (!isUnsettled(registration, known) || !sync.isDue(registration.registrationId)) return known
    return await billing.call('POST', `${path}/sync`, { answer: checkoutSchema })
  } catch (error) {
    // What enrollment knows is worth showing without billing.
    if (error instanceof DomainError && (error.code === 'checkout_not_found' || error.code === 'upstream_unavailable'))
      return null
    throw error
  }
}

function present(registration: Registration, checkout: Checkout | null): RegistrationView {
  return {
    registrationId: registration.registrationId,
    status: registration.status,
    guardianName: registration.guardianName,
    email: registration.email,
    children: registration.children,
    address: registration.address,
    classType: registration.classType,
    levelTitle: registration.levelTitle,
    startDate: registration.startDate,
    startTime: registration.startTime,
    timeZone: registration.timeZone,
    heldUntil: registration.heldUntil,
    rejectionReason: registration.rejectionReason,
    waiverSignedAt: registration.waiver?.signedAt ?? null,
    checkout: checkout && {
      status: checkout.status,
      url: checkout.checkoutUrl,
      amount: checkout.amount,
      currency: checkout.currency,
      receiptNumber: checkout.payment?.receiptNumber ?? null,
      paidAt: checkout.payment?.paidAt ?? null,
      lastDecline: checkout.lastDecline,
      unitAmount: checkout.unitAmount,
      paidSeats: checkout.paidSeats,
      refunds: checkout.refunds.map(({ amount, currency, status, reason }) => ({ amount, currency, status, reason })),
      disputes: checkout.disputes.map(({ amount, currency, status }) => ({ amount, currency, status })),
    },
  }
}

/** One registration as its family sees it. @throws DomainError `registration_not_found` */
export async function registrationView(
  services: Services,
  registrationId: string,
  sync: CheckoutSync,
): Promise<RegistrationView> {
  const path = `/registrations/${registrationId}`
  const registration = await services.enrollment.call('GET', path, { answer: registrationSchema })
  const checkout = await findCheckout(services, registration, sync)
  return present(registration, checkout)
}
