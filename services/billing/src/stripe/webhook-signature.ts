import { DomainError } from '@robokids/runtime/errors'
import { Stripe } from 'stripe'
import type { BillingContext } from '../config.ts'
import { getProvider } from './client.ts'

/**
 * Verifies a webhook's signature with each configured secret. Its timestamp is checked against the real clock.
 * @throws DomainError signature_invalid
 */
export function verifySignature({ config }: BillingContext, body: Buffer, header: string | undefined): void {
  const { webhooks } = getProvider(config).stripe
  for (const secret of config.STRIPE_WEBHOOK_SECRETS) {
    try {
      if (webhooks.signature?.verifyHeader(body, header ?? '', secret)) return
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error
    }
  }
  throw new DomainError('signature_invalid', 'The signature does not fit the body, or is too old.')
}
