import { checkoutSchema, type Checkout } from '@robokids/contracts/billing'
import type { RegistrationView } from '@robokids/contracts/bff'
import { registrationSchema, type Registration } from '@robokids/contracts/enrollment'
import { registrationEvents } from '@robokids/contracts/events'
import { DomainError } from '@robokids/runtime/errors'
import type { LiveView } from '../live-streams.ts'
import { paymentLink } from '../payment-pages.ts'
import { refreshCheckout } from '../refresh-checkout.ts'
import type { Services } from '../upstream.ts'

export interface ViewOptions {
  siteUrl: string
  /** Whether the parent has just returned from the payment page, perhaps before its webhook. */
  returned?: boolean
  /** Whether to fail, instead of omitting the payment, if billing is unavailable. */
  withMoney?: boolean
  signal?: AbortSignal
}

async function refreshedCheckout(
  { billing }: Services,
  registrationId: string,
  { returned = false, withMoney = false, signal }: Omit<ViewOptions, 'siteUrl'>,
): Promise<Checkout | null> {
  try {
    return await refreshCheckout(billing, `/checkouts/${registrationId}`, returned, { answer: checkoutSchema, signal })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // Enrollment's data is useful without billing's.
    if (error.code === 'checkout_not_found' || (error.code === 'upstream_unavailable' && !withMoney)) return null
    throw error
  }
}

/** The family's choice, if the school has cancelled the class of all children who have a seat. */
function choiceOf({ places = [] }: Registration): Pick<RegistrationView, 'choice'> {
  const seated = places.filter(({ status }) => status === 'seated')
  const choice = seated.find(({ classCancelled }) => classCancelled)?.classCancelled
  return choice && seated.every(({ classCancelled }) => classCancelled) ? { choice } : {}
}

/** A registration with what is known of its checkout, as its family sees it. */
export function presentRegistration(
  registration: Registration,
  checkout: Checkout | null,
  siteUrl: string,
): RegistrationView {
  const pageUrl = checkout?.checkoutUrl ?? null
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
    meetings: registration.meetings,
    coachName: registration.coachName,
    ...choiceOf(registration),
    waiverSignedAt: registration.waiver?.signedAt ?? null,
    checkout: checkout && {
      status: checkout.status,
      url: pageUrl && paymentLink(siteUrl, 'registrations', registration.registrationId, pageUrl),
      amount: checkout.amount,
      currency: checkout.currency,
      receiptNumber: checkout.payment?.receiptNumber ?? null,
      paidAt: checkout.payment?.paidAt ?? null,
      lastDecline: checkout.lastDecline,
      unitAmount: checkout.unitAmount,
      paidSeats: checkout.paidSeats,
      refunds: checkout.refunds.map(({ amount, currency, status, reason, refundedAt }) => ({
        amount,
        currency,
        status,
        reason,
        ...(refundedAt === undefined ? {} : { refundedAt }),
      })),
      disputes: checkout.disputes.map(({ amount, currency, status }) => ({ amount, currency, status })),
    },
  }
}

/** A registration as its family sees it, with its checkout refreshed. @throws DomainError `registration_not_found`, `upstream_unavailable` */
export async function refreshRegistration(
  services: Services,
  registrationId: string,
  options: ViewOptions,
): Promise<RegistrationView> {
  const path = `/registrations/${registrationId}`
  const [registration, checkout] = await Promise.all([
    services.enrollment.call('GET', path, { answer: registrationSchema, signal: options.signal }),
    refreshedCheckout(services, registrationId, options),
  ])
  // The payment that confirmed it arrived between the two responses.
  const isOutdated = registration.payment !== null && checkout !== null && checkout.payment === null
  const latest = isOutdated ? await refreshedCheckout(services, registrationId, options) : checkout
  return presentRegistration(registration, latest, options.siteUrl)
}

/** The stream of a registration: its view, as `state`. */
export function registrationStream(services: Services, siteUrl: string): LiveView<RegistrationView> {
  return {
    fetch: (id) => refreshRegistration(services, id, { siteUrl }),
    events: registrationEvents,
    concerns: ({ data }, id) => ((data ?? {}) as { registrationId?: string | null }).registrationId === id,
    partsOf: (state) => ({ state }),
    pollEveryMs: 3_000,
  }
}
