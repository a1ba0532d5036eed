import type { MailKind } from '@robokids/contracts/notifications'
import { describe, expect, it } from 'vitest'
import type { MailData } from './schema.ts'
import { supersedable, superseding, whySuperseded, type Told } from './supersede.ts'

const day = Temporal.Instant.from('2027-01-08T12:00:00Z')

function told<Kind extends MailKind>(kind: Kind, hours: number, data: Partial<MailData[Kind]> = {}): Told {
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
  it('goes by the time of what happened, not by who came first', () => {
    const [cancelled, resumed] = [told('membership_cancelled', 1), told('membership_resumed', 2)]
    expect(whySuperseded(cancelled, [resumed, cancelled])).toBe('The membership was resumed before this could be sent.')
    expect(whySuperseded(resumed, [cancelled, resumed])).toBeUndefined()
  })

  it('leaves alone what happened at the same time', () => {
    const facts = [told('membership_cancelled', 1), told('membership_resumed', 1)]
    for (const fact of facts) expect(whySuperseded(fact, facts)).toBeUndefined()
  })

  it('takes what is final into account whenever it happened', () => {
    const confirmation = told('registration_confirmed', 3, {
      payment: { paymentId: 'p1', receiptNumber: 'RK-000001', amount: 40_000, currency: 'usd' },
    })
    expect(whySuperseded(confirmation, [told('payment_refunded', 2, refund)])).toContain('cancelled')
    expect(whySuperseded(told('waiver_signed', 3), [told('payment_refunded', 2, refund)])).toContain('cancelled')
    expect(whySuperseded(told('membership_resumed', 3), [told('membership_ended', 2)])).toContain('ended')
  })

  it.each([
    ['of another payment', { ...refund, paymentId: 'p2' }],
    ['of a part', { ...refund, refundedTotal: 10_000 }],
    ['of a part, whatever its sums', { ...refund, whole: false }],
  ])('keeps a confirmation beside a refund %s', (_, data) => {
    const confirmation = told('registration_confirmed', 1, {
      payment: { paymentId: 'p1', receiptNumber: 'RK-000001', amount: 40_000, currency: 'usd' },
    })
    expect(whySuperseded(confirmation, [told('payment_refunded', 2, data)])).toBeUndefined()
  })

  it('keeps the failure of a refund until all is made good, and drops neither for an earlier refund', () => {
    const failed = told('refund_failed', 2, { paymentId: 'p1' })
    expect(whySuperseded(failed, [told('payment_refunded', 1, refund)])).toBeUndefined()
    expect(
      whySuperseded(failed, [told('payment_refunded', 3, { ...refund, again: true, whole: false })]),
    ).toBeUndefined()
    expect(whySuperseded(failed, [told('payment_refunded', 3, { ...refund, again: true, whole: true })])).toBeDefined()
    // Whoever was never told that it was back is not told that it is back again.
    const untold = told('refund_failed', 2, { paymentId: 'p1', untold: true })
    expect(whySuperseded(untold, [told('payment_refunded', 3, { ...refund, whole: false })])).toBeUndefined()
    expect(whySuperseded(untold, [told('payment_refunded', 3, { ...refund, whole: true })])).toBeDefined()
    expect(whySuperseded(failed, [told('payment_refunded', 3, { ...refund, whole: true })])).toBeUndefined()
    const owed = told('refund_owed', 2, { paymentId: 'p1' })
    expect(whySuperseded(owed, [told('payment_refunded', 1, refund)])).toBeUndefined()
    expect(whySuperseded(owed, [told('payment_refunded', 3, { ...refund, whole: true })])).toBeDefined()
  })

  it('keeps a switch that took effect before the membership was cancelled', () => {
    const cancelled = told('membership_cancelled', 2)
    const at = (hours: number) => told('membership_switched', 1, { from: day.add({ hours }).toString() })
    expect(whySuperseded(at(1), [cancelled])).toBeUndefined()
    expect(whySuperseded(at(3), [cancelled])).toBeDefined()
  })

  it('never concerns money that was paid or went back, a parcel, a dispute, or a code', () => {
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
