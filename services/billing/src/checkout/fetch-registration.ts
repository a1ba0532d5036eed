import { registrationFactsSchema, type RegistrationFacts } from '@robokids/contracts/enrollment'
import { errorBodySchema } from '@robokids/contracts/errors'
import { DomainError } from '@robokids/runtime/errors'
import { currentRequestId, currentTraceparent } from '@robokids/runtime/telemetry'
import type { BillingConfig } from '../config.ts'

/** Whoever asks has just been answered by enrollment: what takes longer is not worth waiting for. */
const timeoutMs = 3_000

function unavailable(cause: unknown): DomainError {
  const error = new DomainError('upstream_unavailable', 'Please try again in a moment.')
  error.cause = cause
  return error
}

/**
 * What a registration says, from enrollment itself: its class and children make the price, and whoever asks for a checkout could
 * name any (docs/adr/0036-what-a-registration-costs.md).
 * @throws DomainError registration_not_found, upstream_unavailable
 */
export async function fetchRegistration(
  { ENROLLMENT_URL }: Pick<BillingConfig, 'ENROLLMENT_URL'>,
  registrationId: string,
): Promise<RegistrationFacts> {
  const traceparent = currentTraceparent()
  const requestId = currentRequestId()
  let answer: Response
  let body: unknown
  try {
    answer = await fetch(new URL(`/registrations/${registrationId}`, ENROLLMENT_URL), {
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(traceparent === undefined ? {} : { traceparent }),
        ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
      },
    })
    body = await answer.json()
  } catch (error) {
    throw unavailable(error)
  }
  const { data: refusal } = errorBodySchema.safeParse(body)
  if (refusal?.code === 'registration_not_found') throw new DomainError(refusal.code, refusal.message)
  if (!answer.ok) throw unavailable(new Error(`enrollment answered ${answer.status}`))
  const read = registrationFactsSchema.safeParse(body)
  if (read.success && read.data.registrationId === registrationId) return read.data
  // What it says names a family, and stays out of the log.
  throw unavailable(new Error('enrollment answered another shape'))
}
