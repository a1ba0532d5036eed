import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decideRefund,
  disputeStage,
  laterRefundStatus,
  paymentState,
  refundable,
  refundDue,
  refundedTotal,
  refundStatus,
  type RefundStatus,
} from './rules.ts'
import { retryDelay } from '../try-each.ts'

const at = (text: string) => Temporal.Instant.from(text)

describe('refunds', () => {
  const statuses = fc.constantFrom<RefundStatus[]>('pending', 'succeeded', 'failed')
  const money = (amount: number) => ({ amount, currency: 'usd' as const })

  it('never exceed the payment, in any order of requests and outcomes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.array(
          fc.record({ asked: fc.option(fc.integer({ min: 1, max: 1_500_000 }), { nil: undefined }), status: statuses }),
          { maxLength: 12 },
        ),
        (paid, requests) => {
          const made: { amount: number; status: RefundStatus }[] = []
          for (const { asked, status } of requests) {
            try {
              made.push({ amount: decideRefund(money(paid), made, asked), status })
            } catch (error) {
              expect(error).toMatchObject({ code: 'refund_not_possible' })
            }
            expect(refundable(paid, made)).toBeGreaterThanOrEqual(0)
            expect(refundedTotal(made)).toBeLessThanOrEqual(paid)
          }
        },
      ),
    )
  })

  it('are of the whole rest if no amount is given', () => {
    expect(decideRefund(money(40_000), [{ amount: 10_000, status: 'succeeded' }], undefined)).toBe(30_000)
    expect(decideRefund(money(40_000), [{ amount: 40_000, status: 'failed' }], undefined)).toBe(40_000)
  })

  it('explain why one is rejected', () => {
    expect(() => decideRefund(money(40_000), [], 40_001)).toThrow(
      '$400.01 is more than can be refunded: $400.00 is left of the $400.00 that was paid.',
    )
    expect(() => decideRefund(money(40_000), [{ amount: 40_000, status: 'pending' }], undefined)).toThrow(
      'Nothing is left to refund: all of the $400.00 has been refunded.',
    )
  })

  it('reach the same status under duplicated and reordered updates', () => {
    fc.assert(
      fc.property(fc.array(statuses, { minLength: 1 }), fc.infiniteStream(fc.nat()), (updates, random) => {
        const end = (order: RefundStatus[]) => order.reduce(laterRefundStatus, 'pending')
        const shuffled = updates
          .map((status) => ({ status, key: random.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ status }) => status)
        expect(end([...shuffled, ...updates])).toBe(end(updates))
      }),
    )
  })

  it('map the statuses of Stripe', () => {
    expect(['pending', 'requires_action', null, 'succeeded', 'failed', 'canceled'].map(refundStatus)).toEqual([
      'pending',
      'pending',
      'pending',
      'succeeded',
      'failed',
      'failed',
    ])
  })

  it('are retried with a backoff of at most an hour', () => {
    expect([1, 2, 3, 100].map((tries) => retryDelay(tries).total('seconds'))).toEqual([2, 4, 8, 3600])
  })
})

describe('the state of a payment', () => {
  const paid = { amount: 400, returnedAt: null }
  const over = { amount: 400, returnedAt: at('2026-11-28T00:00:00Z') }
  const back = (amount: number, status: 'pending' | 'succeeded' | 'failed' = 'succeeded') => ({ amount, status })
  const dispute = (status: string) => ({ status })

  it.each([
    ['paid', paid, [], []],
    ['paid', paid, [back(399), back(400, 'failed')], []],
    ['paid', paid, [], [dispute('warning_closed')]],
    ['paid', paid, [], [dispute('prevented')]],
    ['refund_under_way', paid, [back(300), back(100, 'pending')], []],
    ['refund_under_way', over, [back(400, 'failed'), back(400, 'pending')], []],
    ['refunded', over, [back(300), back(100)], []],
    ['refunded', over, [back(400)], [dispute('lost')]],
    ['refund_failed', over, [back(400, 'failed')], []],
    ['refund_failed', over, [back(400, 'failed'), back(300)], [dispute('won')]],
    ['disputed', paid, [], [dispute('needs_response')]],
    ['disputed', paid, [back(100)], [dispute('won'), dispute('warning_needs_response')]],
    ['disputed', over, [back(400, 'failed')], [dispute('under_review')]],
    ['won', paid, [back(399)], [dispute('won')]],
    ['lost', paid, [], [dispute('won'), dispute('lost')]],
    ['lost', over, [back(400, 'failed')], [dispute('lost')]],
  ] as const)('is %s', (state, payment, refunds, disputes) => {
    expect(paymentState(payment, [...refunds], [...disputes])).toBe(state)
  })

  it('is paid while the last of what went back was for a change, and refunded once an operator gives back all that is left', () => {
    const ofChange = (amount: number, createdAt: Temporal.Instant, status: 'succeeded' | 'failed' = 'succeeded') => ({
      ...back(amount, status),
      changeId: 'a change',
      createdAt,
    })
    const byOperator = (amount: number, createdAt: Temporal.Instant) => ({ ...back(amount), createdAt })
    const [first, second, third] = [at('2026-11-28T00:00:00Z'), at('2026-11-29T00:00:00Z'), at('2026-11-30T00:00:00Z')]
    const gift = byOperator(200, first)
    expect(paymentState(paid, [gift, ofChange(200, second)], [])).toBe('paid')
    expect(paymentState(paid, [ofChange(200, first), byOperator(200, second)], [])).toBe('refunded')
    // What an operator gives back in place of a refund that the bank returned is for the same child.
    expect(paymentState(paid, [gift, ofChange(200, second, 'failed'), byOperator(200, third)], [])).toBe('paid')
    expect(paymentState(paid, [ofChange(400, first)], [])).toBe('paid')
  })

  it('does not depend on the order in which its refunds and disputes came', () => {
    const refund = fc.record({
      amount: fc.integer({ min: 1, max: 400 }),
      status: fc.constantFrom('pending', 'succeeded', 'failed'),
    })
    const words = fc.constantFrom('needs_response', 'under_review', 'won', 'lost', 'warning_closed', 'prevented')
    fc.assert(
      fc.property(
        fc.array(refund),
        fc.array(fc.record({ status: words })),
        fc.boolean(),
        (refunds, disputes, isReturned) => {
          const payment = isReturned ? over : paid
          const state = paymentState(payment, refunds, disputes)
          expect(paymentState(payment, refunds.toReversed(), disputes.toReversed())).toBe(state)
          if (state === 'paid' || state === 'won') {
            expect(refundable(payment.amount, refunds)).toBeGreaterThan(0)
            expect(isReturned).toBe(false)
          }
        },
      ),
    )
  })

  it('ranks the stages of a dispute, which may follow an answered or closed inquiry', () => {
    const order = ['warning_needs_response', 'warning_under_review', 'warning_closed', 'needs_response', 'under_review']
    for (const [index, status] of order.entries()) expect(disputeStage(status)).toBe(index)
    for (const status of ['won', 'lost', 'prevented']) expect(disputeStage(status)).toBe(order.length)
  })
})

describe('the refund due', () => {
  const announced = (amount: number, status: 'succeeded' | 'failed', makesGood = 0) => ({
    amount,
    status,
    makesGood,
    announcedAt: at('2026-11-28T00:00:00Z'),
  })
  const unannounced = (amount: number, status: 'pending' | 'failed') => ({
    amount,
    status,
    makesGood: 0,
    announcedAt: null,
  })

  it.each([
    [0, []],
    [300, [announced(300, 'failed')]],
    [0, [unannounced(300, 'failed')]],
    [200, [announced(300, 'failed'), announced(100, 'succeeded', 100)]],
    [0, [announced(300, 'failed'), announced(100, 'succeeded', 100), announced(300, 'succeeded', 200)]],
    [300, [announced(300, 'failed'), announced(300, 'failed', 300)]],
    // A pending refund is not due a second time.
    [100, [announced(400, 'failed'), unannounced(300, 'pending')]],
  ] as const)('is %i cents for announced refunds that failed', (cents, refunds) => {
    expect(refundDue(400, [...refunds])).toBe(cents)
  })
})
