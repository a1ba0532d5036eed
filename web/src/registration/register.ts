import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { RegisterResponse } from '@robokids/contracts/bff'
import { api, ApiError } from '../api/api.ts'
import { readersTimeZone } from '../browser/readers-time-zone.ts'
import { provenApi } from '../proof-of-work/proven.ts'
import { registerAnswer, registrationView } from './answers.ts'
import {
  forgetSent,
  idToReplace,
  idToSend,
  isKnownToBeHeld,
  recordPaymentStarted,
  recordHold,
  recordRejection,
} from './draft.ts'
import type { RegistrationContent } from './registration-content.ts'

export type Registered = ({ next: 'pay' } & RegisterResponse) | { next: 'confirmation'; registrationId: string }

/** A hanging request times out; the next attempt has the same id. */
const answerWithinMs = 45_000

async function exists(id: string): Promise<boolean> {
  try {
    await api(`/api/registrations/${id}`, { answer: registrationView })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'registration_not_found') return false
    throw error
  }
}

/**
 * The registration that holds seats for this form. One whose response was lost is fetched first: if the server never
 * received it, the previous one is still open.
 */
async function findReplaced(id: string): Promise<string | undefined> {
  for (;;) {
    const replaced = idToReplace(id)
    if (replaced === undefined || isKnownToBeHeld(replaced) || (await exists(replaced))) return replaced
    recordRejection(replaced)
  }
}

async function send(
  id: string,
  content: RegistrationContent,
  agreed: AgreementTerms | undefined,
): Promise<RegisterResponse> {
  const replaces = await findReplaced(id)
  const answer = await provenApi('registration', '/api/registrations', {
    method: 'POST',
    body: { id, ...content, replaces, unlessRegistered: true, familyTimeZone: readersTimeZone(), agreed },
    answer: registerAnswer,
    // Older browsers have no `timeout` and wait until the connection fails.
    signal: AbortSignal.timeout?.(answerWithinMs),
  })
  recordHold(id, answer.registrationId, replaces)
  return answer
}

/** Whether a rejected id belongs to a paid registration, which must not be paid twice. */
async function isPaid(id: string): Promise<boolean> {
  const { status } = await api(`/api/registrations/${id}`, { answer: registrationView })
  return status === 'confirmed' || status === 'waiver_signed'
}

/**
 * Sends the form. The same content always has the same id, so that a retry after a lost response makes no second
 * registration; if that id is used up (for example, its seats were released), it is retried once with a new one.
 * @param agreed the displayed terms; undefined if loading failed
 */
export async function register(content: RegistrationContent, agreed: AgreementTerms | undefined): Promise<Registered> {
  const id = idToSend(content)
  try {
    return { next: 'pay', ...(await send(id, content, agreed)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (['class_full', 'already_registered', 'too_many_unpaid'].includes(error.code)) recordRejection(id)
    // The replaced registration keeps its seats: the next attempt is separate.
    if (error.code === 'already_paid') {
      recordRejection(id)
      if (error.details.reference) recordPaymentStarted(error.details.reference)
    }
    if (error.code !== 'id_reused' && error.code !== 'registration_closed') throw error
    if (error.code === 'registration_closed' && (await isPaid(id))) return { next: 'confirmation', registrationId: id }
    forgetSent(id)
    return { next: 'pay', ...(await send(idToSend(content), content, agreed)) }
  }
}
