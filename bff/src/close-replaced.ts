import type { AgreementTerms } from '@robokids/contracts/agreement'
import { closedCheckoutSchema } from '@robokids/contracts/billing'
import { registrationCheckSchema, type holdSeatsSchema } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { z } from 'zod'
import { isUnknownRoute, type Services } from './upstream.ts'

const alreadyPaidMessages = {
  paid: 'The registration you’re changing is already paid. The confirmation is in your email.',
  processing: 'The payment for the registration you’re changing is being processed. We’ll email you the confirmation.',
}

/** Returns undefined if the service, of the previous version during a roll-out, has no such route. */
async function callIfSupported<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call
  } catch (error) {
    if (isUnknownRoute(error)) return undefined
    throw error
  }
}

/**
 * Closes the payment page of the registration that a request replaces, as confirmed by the provider, before the new one can be
 * paid. Both services first check whether the change is possible and allowed, so that no payment page is closed in vain. If
 * anything fails, the old registration keeps its seats and can still be paid.
 * @throws DomainError `already_paid` with its reference, `upstream_unavailable`, and the errors of holding the seats or creating a
 * checkout for them
 */
export async function closeReplaced(
  { enrollment, billing }: Services,
  request: z.input<typeof holdSeatsSchema>,
  agreed: AgreementTerms | undefined,
): Promise<void> {
  const { id, replaces, classType, startDate, siblings = [] } = request
  if (replaces === undefined || replaces === id) return
  const check = await callIfSupported(
    enrollment.call('POST', '/registrations/judge', { body: request, answer: registrationCheckSchema }),
  )
  // An identical registration exists and will be returned, or the requester may not replace that one.
  if (check?.replaces !== replaces) return
  const replacedBy = { registrationId: id, classType, startDate, children: 1 + siblings.length, agreed }
  const closed = await callIfSupported(
    billing.call('POST', `/checkouts/${replaces}/close`, { body: { replacedBy }, answer: closedCheckoutSchema }),
  )
  if (closed?.outcome === 'paid' || closed?.outcome === 'processing') {
    throw new DomainError('already_paid', alreadyPaidMessages[closed.outcome], undefined, { reference: replaces })
  }
}
