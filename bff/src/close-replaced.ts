import type { AgreementTerms } from '@robokids/contracts/agreement'
import { closedCheckoutSchema } from '@robokids/contracts/billing'
import { registrationCheckSchema, type holdSeatsSchema } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { z } from 'zod'
import { isUnknownRoute, type Services } from './upstream.ts'

const whyNotClosed = {
  paid: 'The registration that you change is paid already. Its confirmation is in your email.',
  processing: 'The registration that you change is being paid at this moment. Its confirmation comes by email.',
}

/** A service of the version before, which may still be running in a roll-out, has no such route. */
async function askIfKnown<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call
  } catch (error) {
    if (isUnknownRoute(error)) return undefined
    throw error
  }
}

/**
 * Sees to it that the registration that a request replaces cannot be paid any more, before another one can be: by the
 * provider's own answer. Both services judge first whether the change can be made at all, and by whoever asks, so that no
 * payment page is closed for nothing.
 * Whatever fails, the old registration keeps its seats and can be gone on with.
 * @throws DomainError `already_paid` with its reference, `upstream_unavailable`, and what holding the seats, or a checkout for
 * them, would refuse
 */
export async function closeReplaced(
  { enrollment, billing }: Services,
  request: z.input<typeof holdSeatsSchema>,
  agreed: AgreementTerms | undefined,
): Promise<void> {
  const { id, replaces, classType, startDate, siblings = [] } = request
  if (replaces === undefined || replaces === id) return
  const judged = await askIfKnown(
    enrollment.call('POST', '/registrations/judge', { body: request, answer: registrationCheckSchema }),
  )
  // Another one says the very same and is answered, or whoever asks may not take that one back: nothing is replaced.
  if (judged?.replaces !== replaces) return
  const replacedBy = { registrationId: id, classType, startDate, children: 1 + siblings.length, agreed }
  const closed = await askIfKnown(
    billing.call('POST', `/checkouts/${replaces}/close`, { body: { replacedBy }, answer: closedCheckoutSchema }),
  )
  if (closed?.outcome === 'paid' || closed?.outcome === 'processing') {
    throw new DomainError('already_paid', whyNotClosed[closed.outcome], undefined, { reference: replaces })
  }
}
