import type { Dashboard, DashboardCard } from '@robokids/contracts/dashboard'
import { sampleView } from '../registration/sample-view.ts'

/** For tests: a paid and signed registration, three days before its class. */
export function sampleCard(
  changes: Partial<Omit<DashboardCard, 'checkout'>> = {},
  checkout: Parameters<typeof sampleView>[1] = {},
): DashboardCard {
  const paidAt = '2027-01-02T17:05:00.000Z'
  const view = sampleView()
  return {
    cardId: changes.registrationId ?? view.registrationId,
    ...sampleView(
      { status: 'waiver_signed', heldUntil: null, startDate: '2027-01-22', waiverSignedAt: paidAt },
      checkout && { status: 'paid', url: null, receiptNumber: 'RK-000012', paidAt, ...checkout },
    ),
    startsAt: '2027-01-23T00:00:00.000Z',
    durationMinutes: 75,
    updatedAt: paidAt,
    waiver: { waiverId: '019a0000-0000-7000-8000-0000000000c1', signedAt: '2027-01-03T05:00:00.000Z' },
    kit: {
      status: 'shipped',
      carrier: 'UPS',
      trackingNumber: '1Z999AA10123456784',
      shippedAt: '2027-01-05T18:00:00.000Z',
    },
    payment: { receiptNumber: 'RK-000012', amount: 40_000, currency: 'usd', paidAt, state: 'paid' },
    ...changes,
  }
}

/** For tests: the home of a family on January 19, 2027. */
export function sampleDashboard(changes: Partial<Dashboard> = {}): Dashboard {
  return {
    now: '2027-01-19T18:00:00.000Z',
    account: {
      userId: '019a0000-0000-7000-8000-0000000000a1',
      email: 'maren.holt@example.com',
      isConfirmed: true,
    },
    unavailable: [],
    classes: { cards: [sampleCard()], memberClasses: [], past: 0, lastFinished: null },
    waitlist: [],
    membership: { membership: null, others: [] },
    orders: { open: [], past: 0 },
    ...changes,
  }
}
