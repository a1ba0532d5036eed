import { createHash } from 'node:crypto'

/**
 * Returns the id of a payment, which follows from Stripe's payment intent: if billing is restored from a backup and finds a
 * payment again, it is the one that the other services know, not another one of the same purchase.
 */
export function paymentIdOf(stripePaymentIntentId: string): string {
  const hash = createHash('sha256').update(`payment:${stripePaymentIntentId}`).digest('hex')
  // A UUID of version 8: of one's own making.
  const variant = ((Number.parseInt(hash.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(18, 20)}-${hash.slice(20, 32)}`
}
