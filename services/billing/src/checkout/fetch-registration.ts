import { changeSchema, type Change } from '@robokids/contracts/changes'
import { registrationFactsSchema, type RegistrationFacts } from '@robokids/contracts/enrollment'
import { errorBodySchema } from '@robokids/contracts/errors'
import { DomainError, isConnectionError, unavailable } from '@robokids/runtime/errors'
import { inSpan, traceHeaders } from '@robokids/runtime/trace'
import type { z } from 'zod'
import type { BillingConfig } from '../config.ts'

/** Enrollment has just served the caller, so a slower response is not worth waiting for. */
const timeoutMs = 3_000

/**
 * Fetches a registration's facts from enrollment. The price follows from its class and children, so those sent by the caller
 * are not trusted (docs/adr/0036-what-a-registration-costs.md).
 * @throws DomainError registration_not_found, upstream_unavailable
 */
export function fetchRegistration(config: EnrollmentConfig, registrationId: string): Promise<RegistrationFacts> {
  const schema = registrationFactsSchema.refine((facts) => facts.registrationId === registrationId)
  return fetchRecord(config, ['registrations', registrationId], schema)
}

/** Fetches a move from enrollment, which knows what was agreed. @throws DomainError registration_not_found, upstream_unavailable */
export function fetchChange(config: EnrollmentConfig, changeId: string): Promise<Change> {
  return fetchRecord(
    config,
    ['changes', changeId],
    changeSchema.refine((change) => change.changeId === changeId),
  )
}

type EnrollmentConfig = Pick<BillingConfig, 'ENROLLMENT_URL'>

async function fetchRecord<T>(
  { ENROLLMENT_URL }: EnrollmentConfig,
  [kind, id]: [string, string],
  schema: z.ZodType<T>,
): Promise<T> {
  let response: Response
  let body: unknown
  const signal = AbortSignal.timeout(timeoutMs)
  const ask = () => fetch(new URL(`/${kind}/${id}`, ENROLLMENT_URL), { signal, headers: traceHeaders() })
  try {
    // Again if the connection broke, which may have led to a copy of enrollment that has stopped.
    response = await inSpan({ name: `GET /${kind}/:id`, kind: 'client' }, () =>
      ask().catch((error: unknown) => {
        if (isConnectionError(error)) return ask()
        throw error
      }),
    )
    body = await response.json()
  } catch (error) {
    throw unavailable(error)
  }
  const { data: errorBody } = errorBodySchema.safeParse(body)
  if (errorBody?.code === 'registration_not_found') throw new DomainError(errorBody.code, errorBody.message)
  if (!response.ok) throw unavailable(new Error(`enrollment responded ${response.status}`))
  const read = schema.safeParse(body)
  if (read.success) return read.data
  // Without the response body, which names a family: this error is logged.
  throw unavailable(new Error('enrollment responded with an unexpected body'))
}
