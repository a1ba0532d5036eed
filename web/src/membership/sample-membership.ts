import type { Membership } from '@robokids/contracts/billing'

/** For tests: a monthly membership whose last renewal needed a retry. */
export const sampleMembership: Membership = {
  membershipId: '019a0000-0000-7000-8000-0000000000b1',
  status: 'active',
  plan: 'monthly',
  amount: 700,
  currency: 'usd',
  classDate: '2030-01-04',
  activatedAt: '2026-09-28T10:00:00.000Z',
  paidUntil: '2026-12-28T10:00:00.000Z',
  endsAt: null,
  nextCharge: { at: '2026-12-28T10:00:00.000Z', amount: 700, currency: 'usd' },
  nextPlan: null,
  card: { brand: 'visa', last4: '4242', expMonth: 12, expYear: 2034 },
  unpaid: { amount: 700, attempts: 1, nextTryAt: '2026-12-01T10:00:00.000Z' },
  payments: [
    {
      receiptNumber: 'RK-000031',
      paidAt: '2026-10-28T10:00:00.000Z',
      amount: 700,
      plan: 'monthly',
      reason: 'renewal',
      periodEnd: '2026-11-28T10:00:00.000Z',
      refunded: 200,
      disputed: true,
    },
    {
      receiptNumber: 'RK-000017',
      paidAt: '2026-09-28T10:00:00.000Z',
      amount: 700,
      plan: 'monthly',
      reason: 'first',
      periodEnd: '2026-10-28T10:00:00.000Z',
      refunded: 0,
      disputed: false,
    },
  ],
}
