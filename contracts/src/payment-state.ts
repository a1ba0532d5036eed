/**
 * How a payment stands: `refund_under_way` and `refunded` are about all of it, `refund_failed` where the bank has returned
 * what was told to have gone back in full. While it is not `paid` or `won`, nothing that it paid for is shipped or signed.
 */
export const paymentStates = [
  'paid',
  'refund_under_way',
  'refunded',
  'refund_failed',
  'disputed',
  'won',
  'lost',
] as const
export type PaymentState = (typeof paymentStates)[number]
