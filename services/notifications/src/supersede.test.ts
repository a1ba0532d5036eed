import type { MailKind } from '@robokids/contracts/notifications'
import { describe, expect, it } from 'vitest'
import type { MailData } from './schema.ts'
import { supersedable, superseding, supersededReason, type MailFact } from './supersede.ts'

const day = Temporal.Instant.from('2027-01-08T12:00:00Z')

function mailFact<Kind extends MailKind>(kind: Kind, hours: number, data: Partial<MailData[Kind]> = {}): MailFact {
  return { kind, recipient: 'maren@example.com', happenedAt: day.add({ hours }), data: data as MailData[Kind] }
}

const refund = {
  paymentId: 'p1',
  reason: 'requested',
  amount: 40_000,
  refundedTotal: 40_000,
  paidAmount: 40_000,
} as const

describe('whySuperseded', () => {
  it('compares the times of the events, not the order of arrival', () => {
    const [cancelled, resumed] = [mailFact('membership_cancelled', 1), mailFact('membership_resumed', 2)]
    expect(supersededReason(cancelled, [resumed, cancelled])).toBe(
      'The membership was resumed before this could be sent.',
    )
    expect(supersededReason(resumed, [cancelled, resumed])).toBeUndefined()
  })

  it('supersedes no mail about an event of the same time', () => {
    const facts = [mailFact('membership_cancelled', 1), mailFact('membership_resumed', 1)]
    for (const fact of facts) expect(supersededReason(fact, facts)).toBeUndefined()
  })

  it('supersedes by final events regardless of their time', () => {
    const confirmation = mailFact('registration_confirmed', 3, {
      payment: { paymentId: 'p1', receiptNumber: 'RK-000001', amount: 40_000, currency: 'usd' },
    })
    expect(supersededReason(confirmation, [mailFact('payment_refunded', 2, refund)])).toContain('canceled')
    expect(supersededReason(mailFact('waiver_signed', 3), [mailFact('payment_refunded', 2, refund)])).toContain(
      'canceled',
    )
    expect(supersededReason(mailFact('membership_resumed', 3), [mailFact('membership_ended', 2)])).toContain('ended')
  })

  it.each([
    ['of another payment', { ...refund, paymentId: 'p2' }],
    ['of a part of it', { ...refund, refundedTotal: 10_000 }],
    ['of a part of it, according to `whole`', { ...refund, whole: false }],
  ])('keeps a confirmation despite a refund %s', (_, data) => {
    const confirmation = mailFact('registration_confirmed', 1, {
      payment: { paymentId: 'p1', receiptNumber: 'RK-000001', amount: 40_000, currency: 'usd' },
    })
    expect(supersededReason(confirmation, [mailFact('payment_refunded', 2, data)])).toBeUndefined()
  })

  it('supersedes a failed refund only by a later refund of the full amount', () => {
    const failed = mailFact('refund_failed', 2, { paymentId: 'p1' })
    expect(supersededReason(failed, [mailFact('payment_refunded', 1, refund)])).toBeUndefined()
    expect(
      supersededReason(failed, [mailFact('payment_refunded', 3, { ...refund, again: true, whole: false })]),
    ).toBeUndefined()
    expect(
      supersededReason(failed, [mailFact('payment_refunded', 3, { ...refund, again: true, whole: true })]),
    ).toBeDefined()
    // If the refund was never announced, the later refund is not announced as a repeated one.
    const untold = mailFact('refund_failed', 2, { paymentId: 'p1', untold: true })
    expect(supersededReason(untold, [mailFact('payment_refunded', 3, { ...refund, whole: false })])).toBeUndefined()
    expect(supersededReason(untold, [mailFact('payment_refunded', 3, { ...refund, whole: true })])).toBeDefined()
    expect(supersededReason(failed, [mailFact('payment_refunded', 3, { ...refund, whole: true })])).toBeUndefined()
    const owed = mailFact('refund_owed', 2, { paymentId: 'p1' })
    expect(supersededReason(owed, [mailFact('payment_refunded', 1, refund)])).toBeUndefined()
    expect(supersededReason(owed, [mailFact('payment_refunded', 3, { ...refund, whole: true })])).toBeDefined()
  })

  it('keeps a plan switch that took effect before the cancellation', () => {
    const cancelled = mailFact('membership_cancelled', 2)
    const at = (hours: number) => mailFact('membership_switched', 1, { from: day.add({ hours }).toString() })
    expect(supersededReason(at(1), [cancelled])).toBeUndefined()
    expect(supersededReason(at(3), [cancelled])).toBeDefined()
  })

  it('supersedes no mail about payments, refunds, parcels, disputes or codes', () => {
    const kept: MailKind[] = [
      'membership_renewed',
      'payment_refunded',
      'order_refunded',
      'membership_refunded',
      'order_shipped',
      'kit_shipped',
      'payment_disputed',
      'user_deleted',
      'code_issued',
    ]
    expect(supersedable.filter((kind) => kept.includes(kind))).toEqual([])
    expect(superseding).not.toContain('code_issued')
  })
})
