import type { RegistrationView } from '@robokids/contracts/bff'

type Checkout = NonNullable<RegistrationView['checkout']>

/** For tests: a registration from the server. */
export function sampleView(
  changes: Partial<Omit<RegistrationView, 'checkout'>> = {},
  checkout: Partial<Checkout> | null = {},
): RegistrationView {
  return {
    registrationId: '019a0c3e-7b1d-7a2c-9f52-3f1c2d4e5a6b',
    status: 'held',
    guardianName: 'Maren Holt',
    email: 'maren.holt@example.com',
    children: [{ childName: 'Ivo', childAge: 9 }],
    address: {
      addressLine1: '14 Alder Way',
      addressLine2: '',
      city: 'San Mateo',
      state: 'CA',
      zipCode: '02139',
    },
    classType: 'basic',
    levelTitle: 'Level 1 Foundations',
    startDate: '2025-10-03',
    startTime: '16:00',
    timeZone: 'America/Los_Angeles',
    heldUntil: '2025-09-20T17:36:00.000Z',
    rejectionReason: null,
    waiverSignedAt: null,
    ...changes,
    checkout: checkout && {
      status: 'open',
      url: 'https://pay.example.test/c/1',
      amount: 40000,
      currency: 'usd',
      receiptNumber: null,
      paidAt: null,
      lastDecline: null,
      unitAmount: 40000,
      paidSeats: 1,
      refunds: [],
      disputes: [],
      ...checkout,
    },
  }
}
