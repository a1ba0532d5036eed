import type { Agreement } from '@robokids/contracts/agreement'
import { answer } from '../api/answer.ts'
import agreementShape from '../api/answers/agreement.json'
import { ApiError } from '../api/api.ts'

export const agreementAnswer = answer<Agreement>(agreementShape)

/** What a refused request can go on with. */
export type WayOn =
  /** What it agreed to is no longer offered; this is. */
  | { kind: 'agree'; agreement: Agreement }
  /** What it asks for is paid, or being paid, already. */
  | { kind: 'paid before'; reference: string; message: string }
  /** The cardholder's bank asks to confirm, on a page of the payment provider's. */
  | { kind: 'confirm'; url: string; message: string }

/** Undefined where the refusal has none that can be understood, and all there is to do is to say it. */
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
