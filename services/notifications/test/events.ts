import { randomUUIDv7 } from 'node:crypto'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Account, codeIssued } from '@robokids/contracts/identity'
import type { EventOf } from '@robokids/contracts/event'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import type { MailData } from '../src/schema.ts'

/** Returns a registration of a new family, so that no two tests share an address. */
export function registration(changes: Partial<RegistrationFacts> = {}): RegistrationFacts {
  const registrationId = randomUUIDv7()
  return {
    registrationId,
    guardianName: 'Maren Holt',
    email: `maren.${registrationId}@example.com`,
    children: [{ childName: 'Ivo', childAge: 8 }],
    address: { addressLine1: '12 Harbor Way', addressLine2: 'Apt 4', city: 'Cambridge', state: 'MA', zipCode: '02139' },
    classSessionId: randomUUIDv7(),
    classType: 'basic',
    levelTitle: 'Level 1 Foundations',
    startDate: '2027-01-08',
    startTime: '16:00',
    durationMinutes: 60,
    timeZone: 'America/Los_Angeles',
    ...changes,
  }
}

export function confirmed(facts: RegistrationFacts): MailData['registration_confirmed'] {
  const payment = { paymentId: randomUUIDv7(), receiptNumber: '2026-000123', amount: 40_000, currency: 'usd' } as const
  return { ...facts, payment }
}

export function signed(facts: RegistrationFacts): MailData['waiver_signed'] {
  const waiverId = randomUUIDv7()
  return {
    ...facts,
    waiverId,
    signedAt: '2026-11-28T03:15:30.123Z',
    documentSha256: 'a'.repeat(64),
    signedPdfPath: `/waivers/${waiverId}.pdf`,
  }
}

export function refunded(
  facts: RegistrationFacts,
  changes: Partial<MailData['payment_refunded']> = {},
): MailData['payment_refunded'] {
  return {
    refundId: randomUUIDv7(),
    paymentId: randomUUIDv7(),
    registrationId: facts.registrationId,
    amount: 40_000,
    currency: 'usd',
    reason: 'seat_gone',
    refundedTotal: 40_000,
    paidAmount: 40_000,
    purchase: facts,
    ...changes,
  }
}

export function failedRefund(refund: MailData['payment_refunded']): MailData['refund_failed'] {
  const { refundId, paymentId, registrationId, amount, currency, reason, purchase } = refund
  return { refundId, paymentId, registrationId, amount, currency, reason, purchase }
}

/** Returns an account of a new person. */
export function account(changes: Partial<Account> = {}): Account {
  const userId = randomUUIDv7()
  return {
    poolId: 'local_robokids',
    userId,
    username: `user_${userId}`,
    email: `maren.${userId}@example.com`,
    emailVerified: true,
    givenName: 'Maren',
    ...changes,
  }
}

type Issued = EventOf<typeof codeIssued>['data']

/** Returns a code for a new person, sealed as identity seals it, valid for an hour from `now`. */
export function issued(now: Temporal.Instant, code: string, changes: Partial<Issued> = {}): Issued {
  const codeId = changes.codeId ?? randomUUIDv7()
  const { userId, username, email, givenName } = account()
  return {
    codeId,
    purpose: 'sign_up',
    userId,
    username,
    givenName,
    medium: 'EMAIL',
    destination: email ?? '',
    sealedCode: sealingKeysSchema.parse(localSealingKeys).seal(code, `code:${codeId}`),
    expiresAt: now.add({ hours: 1 }).toString({ fractionalSecondDigits: 3 }),
    ...changes,
  }
}
