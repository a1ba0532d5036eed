import type { Agreement } from '@robokids/contracts/agreement'
import { answer } from '../api/answer.ts'
import agreementShape from '../api/answers/agreement.json'
import { ApiError } from '../api/api.ts'

export const agreementAnswer = answer<Agreement>(agreementShape)

/** How to proceed after a rejected request. */
export type WayOn =
  /** The agreed terms are no longer offered; these are. */
  | { kind: 'agree'; agreement: Agreement }
  /** It is paid already, or being paid. */
  | { kind: 'paid before'; reference: string; message: string }
  /** The cardholder's bank requires a confirmation on the payment provider's page. */
  | { kind: 'confirm'; url: string; message: string }

/** Undefined if the error offers none that is understood: then only its message can be shown. */
export function wayOnFrom(error: unknown): WayOn | undefined {
  if (!(error instanceof ApiError)) return undefined
  const { code, message, details } = error
  const { agreement, reference, url } = details
  switch (code) {
    case 'price_changed':
    case 'terms_changed':
    case 'quote_outdated': {
      const read = agreementAnswer.safeParse(agreement)
      return read.success ? { kind: 'agree', agreement: read.data } : undefined
    }
    case 'already_paid':
    case 'already_registered':
      return typeof reference === 'string' ? { kind: 'paid before', reference, message } : undefined
    case 'payment_confirmation_required':
      return typeof url === 'string' ? { kind: 'confirm', url, message } : undefined
    default:
      return undefined
  }
}
