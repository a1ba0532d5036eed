/**
 * The state of a payment. `refund_under_way` and `refunded` mean the full amount; `refund_failed` means that an announced full
 * refund failed at the bank. Unless the state is `paid` or `won`, nothing that it paid for is shipped or signed.
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
