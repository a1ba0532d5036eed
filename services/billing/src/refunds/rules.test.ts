import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decideRefund,
  disputeStage,
  laterRefundStatus,
  owed,
  paymentState,
  refundable,
  refundedTotal,
  refundStatus,
  type RefundStatus,
} from './rules.ts'
import { pauseAfter } from '../try-each.ts'

const at = (text: string) => Temporal.Instant.from(text)

describe('refunds', () => {
  const statuses = fc.constantFrom<RefundStatus[]>('pending', 'succeeded', 'failed')
  const money = (amount: number) => ({ amount, currency: 'usd' as const })

  it('never add up to more than was paid, in whatever order they are asked for and settled', () => {
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

  it('are of all that is left where no amount is said', () => {
    expect(decideRefund(money(40_000), [{ amount: 10_000, status: 'succeeded' }], undefined)).toBe(30_000)
    expect(decideRefund(money(40_000), [{ amount: 40_000, status: 'failed' }], undefined)).toBe(40_000)
  })

  it('say why one is refused', () => {
    expect(() => decideRefund(money(40_000), [], 40_001)).toThrow(
      '$400.01 is more than can be refunded: $400.00 is left of the $400.00 that was paid.',
    )
    expect(() => decideRefund(money(40_000), [{ amount: 40_000, status: 'pending' }], undefined)).toThrow(
      'Nothing is left to refund: all of the $400.00 went back already.',
    )
  })

  it('end the same however often and in what order their states are told', () => {
    fc.assert(
      fc.property(fc.array(statuses, { minLength: 1 }), fc.infiniteStream(fc.nat()), (told, random) => {
        const end = (order: RefundStatus[]) => order.reduce(laterRefundStatus, 'pending')
        const shuffled = told
          .map((status) => ({ status, key: random.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ status }) => status)
        expect(end([...shuffled, ...told])).toBe(end(told))
      }),
    )
  })

  it('know the provider’s words', () => {
    expect(['pending', 'requires_action', null, 'succeeded', 'failed', 'canceled'].map(refundStatus)).toEqual([
      'pending',
      'pending',
      'pending',
      'succeeded',
      'failed',
      'failed',
    ])
  })

  it('are tried again later and later, up to an hour', () => {
    expect([1, 2, 3, 100].map((tries) => pauseAfter(tries).total('seconds'))).toEqual([2, 4, 8, 3600])
  })
})

describe('how a payment stands', () => {
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
        (refunds, disputes, isOver) => {
          const payment = isOver ? over : paid
          const state = paymentState(payment, refunds, disputes)
          expect(paymentState(payment, refunds.toReversed(), disputes.toReversed())).toBe(state)
          if (state === 'paid' || state === 'won') {
            expect(refundable(payment.amount, refunds)).toBeGreaterThan(0)
            expect(isOver).toBe(false)
          }
        },
      ),
    )
  })

  it('is of a dispute as far as that has come, and an inquiry may become one after it was answered or closed', () => {
    const order = ['warning_needs_response', 'warning_under_review', 'warning_closed', 'needs_response', 'under_review']
    for (const [index, status] of order.entries()) expect(disputeStage(status)).toBe(index)
    for (const status of ['won', 'lost', 'prevented']) expect(disputeStage(status)).toBe(order.length)
  })
})

describe('what was told to be back and is not', () => {
  const told = (amount: number, status: 'succeeded' | 'failed', makesGood = 0) => ({
    amount,
    status,
    makesGood,
    announcedAt: at('2026-11-28T00:00:00Z'),
  })
  const untold = (amount: number, status: 'pending' | 'failed') => ({ amount, status, makesGood: 0, announcedAt: null })

  it.each([
    [0, []],
    [300, [told(300, 'failed')]],
    [0, [untold(300, 'failed')]],
    [200, [told(300, 'failed'), told(100, 'succeeded', 100)]],
    [0, [told(300, 'failed'), told(100, 'succeeded', 100), told(300, 'succeeded', 200)]],
    [300, [told(300, 'failed'), told(300, 'failed', 300)]],
    // What is on its way again is not owed twice.
    [100, [told(400, 'failed'), untold(300, 'pending')]],
  ] as const)('is owed: %i cents', (cents, refunds) => {
    expect(owed(400, [...refunds])).toBe(cents)
  })
})
