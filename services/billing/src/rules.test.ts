import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decideRefund,
  disputeStage,
  hasEnded,
  isReminderDue,
  isRunning,
  judge,
  judgeMembership,
  laterRefundStatus,
  membershipParameters,
  owed,
  pauseAfter,
  paymentState,
  promotionInForce,
  quote,
  receiptNumber,
  refundable,
  refundedTotal,
  refundStatus,
  seasonPromotion,
  sessionParameters,
  siblingPromotion,
  type ObservedSession,
  type RefundStatus,
} from './rules.ts'

const fall2025 = siblingPromotion('fall', Temporal.PlainDate.from('2025-08-23'), Temporal.PlainDate.from('2025-10-10'))
const at = (text: string) => Temporal.Instant.from(text)

describe('a sibling promotion', () => {
  it('lasts from the first instant of its first day in California to the last one of its last day', () => {
    expect(fall2025).toMatchObject({ startsAt: at('2025-08-23T07:00:00Z'), endsAt: at('2025-10-11T07:00:00Z') })
    const running = (text: string) => isRunning(fall2025, at(text))
    expect([
      running('2025-08-23T06:59:59.999Z'),
      running('2025-08-23T07:00:00Z'),
      running('2025-10-11T06:59:59.999Z'),
      running('2025-10-11T07:00:00Z'),
    ]).toEqual([false, true, true, false])
  })

  it('is right across the change from summer time', () => {
    const season = siblingPromotion('x', Temporal.PlainDate.from('2026-10-20'), Temporal.PlainDate.from('2026-11-10'))
    expect(season).toMatchObject({ startsAt: at('2026-10-20T07:00:00Z'), endsAt: at('2026-11-11T08:00:00Z') })
  })
})

describe('the promotion of an upcoming season', () => {
  it('runs from the day the season opens to four days after its Monday', () => {
    const promotion = seasonPromotion('2026-11-27', '2027-01-08')
    expect(promotion).toMatchObject({
      id: 'sibling-free-2027-01-08',
      classTypes: ['basic', 'intermediate', 'advanced'],
      startsAt: at('2026-11-27T08:00:00Z'),
      // The Monday is January 11, the last day January 15.
      endsAt: at('2027-01-16T08:00:00Z'),
    })
  })

  it('gives way to the next season’s while both run, in what is shown and in what is charged', () => {
    const [old, next] = [seasonPromotion('2026-11-27', '2027-01-08'), seasonPromotion('2027-01-12', '2027-02-26')]
    const custom = { ...next, classTypes: ['custom' as const] }
    for (const [now, inForce, fee] of [
      ['2027-01-12T07:59:59Z', old, 80_000],
      ['2027-01-12T08:00:00Z', custom, 40_000],
      ['2027-01-16T08:00:00Z', custom, 40_000],
    ] as const) {
      expect(promotionInForce([custom, old], at(now))).toBe(inForce)
      expect(quote(40_000, 'custom', 2, [custom, old], at(now)).amount).toBe(fee)
      expect(quote(40_000, 'basic', 2, [custom, old], at(now)).amount).toBe(120_000 - fee)
    }
    expect(promotionInForce([old, next], at('2026-11-27T07:59:59Z'))).toBeUndefined()
  })
})

describe('quote', () => {
  it.each([
    ['basic', '2025-10-11T06:59:59Z', 40_000],
    ['basic', '2025-10-11T07:00:00Z', 80_000],
    ['basic', '2025-08-23T06:59:59Z', 80_000],
    ['basic', '2025-08-23T07:00:00Z', 40_000],
    ['custom', '2025-09-01T12:00:00Z', 80_000],
  ] as const)('of two children in %s at %s is %i', (classType, now, amount) => {
    expect(quote(40_000, classType, 2, [fall2025], at(now)).amount).toBe(amount)
  })

  it('charges whole cents for at least half of the children and at most all of them', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 50, max: 10_000_000 }),
        fc.integer({ min: 1, max: 10 }),
        fc.boolean(),
        (price, children, inside) => {
          const now = at(inside ? '2025-09-01T00:00:00Z' : '2026-09-01T00:00:00Z')
          const { unitAmount, quantity, amount } = quote(price, 'basic', children, [fall2025], now)
          expect(unitAmount).toBe(price)
          expect(amount).toBe(price * quantity)
          expect(quantity).toBe(inside ? Math.ceil(children / 2) : children)
        },
      ),
    )
  })
})

describe('the parameters of a session', () => {
  const purchase: RegistrationFacts = {
    registrationId: '01934c00-0000-7000-8000-000000000001',
    guardianName: 'Ada Lind',
    email: 'ada.lind@example.com',
    children: [
      { childName: 'Ivo', childAge: 8 },
      { childName: 'Noa', childAge: 10 },
    ],
    address: { addressLine1: '1 Main St', addressLine2: '', city: 'Fresno', state: 'CA', zipCode: '93650' },
    classSessionId: '01934c00-0000-7000-8000-000000000002',
    classType: 'basic',
    levelTitle: 'Level 1 Foundations',
    startDate: '2027-01-08',
    startTime: '16:00',
    durationMinutes: 75,
    timeZone: 'America/Los_Angeles',
  }
  const parameters = (facts = purchase, quantity = 1) =>
    sessionParameters('attempt', facts, { unitAmount: 40_000, quantity }, at('2026-11-28T00:31:00Z'), 'https://x')

  it('tell the day of the class, whatever the machine’s time zone', () => {
    expect(parameters().line_items[0]?.price_data.product_data).toEqual({
      name: 'Level 1 Foundations: Friday, January 8, 2027',
      description: 'For 2 children, 1 of them free',
    })
  })

  it('carry no child’s name to the provider', () => {
    expect(JSON.stringify(parameters())).not.toMatch(/Ivo|Noa|Fresno/)
  })

  it('survive being stored word for word', () => {
    const once = JSON.stringify(parameters())
    expect(JSON.stringify(JSON.parse(once))).toBe(once)
  })

  it('refuse what is no date', () => {
    expect(() => parameters({ ...purchase, startDate: '2027-02-30' })).toThrow(DomainError)
  })
})

describe('judge', () => {
  const paid: ObservedSession = {
    sessionId: 'cs_1',
    attemptId: null,
    status: 'complete',
    paymentStatus: 'paid',
    mode: 'payment',
    amount: 40_000,
    currency: 'usd',
    url: null,
    payment: { intentId: 'pi_1', status: 'succeeded', amount: 40_000, currency: 'usd', paidAt: null, decline: null },
    buyer: { email: null, shipTo: null },
    termsAccepted: false,
    subscription: null,
  }
  const agreed = { amount: 40_000, currency: 'usd' as const }

  it('takes for paid only exactly what was agreed', () => {
    expect(judge(paid, agreed)).toBe('paid')
    for (const other of [
      { amount: 39_999 },
      { amount: 40_001 },
      { amount: null },
      { currency: 'eur' },
      { mode: 'subscription' },
    ]) {
      expect(judge({ ...paid, ...other }, agreed)).toBe('amount_mismatch')
    }
    expect(judge({ ...paid, paymentStatus: 'no_payment_required', payment: null }, agreed)).toBe('amount_mismatch')
  })

  it('does not take complete for paid', () => {
    const unpaid = (status: string): ObservedSession => ({
      ...paid,
      paymentStatus: 'unpaid',
      payment: { ...paid.payment!, status },
    })
    expect(judge(unpaid('processing'), agreed)).toBe('processing')
    expect(judge(unpaid('requires_payment_method'), agreed)).toBe('failed')
    expect(judge(unpaid('canceled'), agreed)).toBe('failed')
    expect(judge({ ...paid, status: 'open', paymentStatus: 'unpaid' }, agreed)).toBe('open')
    expect(judge({ ...paid, status: 'expired', paymentStatus: 'unpaid' }, agreed)).toBe('expired')
  })
})

describe('a membership', () => {
  const wish = { email: 'Maren.Holt@example.com', plan: 'yearly', classDate: '2027-01-08' } as const
  const attemptId = '01a21f00-0000-7000-8000-000000000031'

  it('is asked for with its interval, and a way back that says nothing of the person', () => {
    const parameters = membershipParameters(attemptId, wish, 6_000, at('2026-11-28T00:31:00Z'), 'https://site.example')
    expect(parameters).toMatchObject({
      mode: 'subscription',
      line_items: [{ quantity: 1, price_data: { unit_amount: 6_000, recurring: { interval: 'year' } } }],
      metadata: { attemptId },
      subscription_data: { metadata: { attemptId } },
      success_url: `https://site.example/success?reference=${attemptId}`,
      cancel_url: 'https://site.example/membership/register',
    })
    const monthly = membershipParameters(attemptId, { ...wish, plan: 'monthly' }, 700, at('2026-11-28T00:31:00Z'), '')
    expect(monthly.line_items[0]?.price_data.recurring).toEqual({ interval: 'month' })
  })

  const paid: ObservedSession = {
    sessionId: 'cs_1',
    attemptId,
    status: 'complete',
    paymentStatus: 'paid',
    mode: 'subscription',
    amount: 700,
    currency: 'usd',
    url: null,
    payment: null,
    buyer: { email: null, shipTo: null },
    termsAccepted: false,
    subscription: { subscriptionId: 'sub_1', customerId: 'cus_1', status: 'active', startedAt: null },
  }
  const agreed = { amount: 700, currency: 'usd' as const }

  it.each([
    [{}, 'paid'],
    [{ amount: 699 }, 'amount_mismatch'],
    [{ currency: 'eur' }, 'amount_mismatch'],
    [{ mode: 'payment' }, 'amount_mismatch'],
    [{ subscription: null }, 'amount_mismatch'],
    [{ paymentStatus: 'no_payment_required' }, 'amount_mismatch'],
    [{ paymentStatus: 'unpaid' }, 'processing'],
    [{ paymentStatus: 'unpaid', subscription: { ...paid.subscription!, status: 'incomplete_expired' } }, 'failed'],
    [{ status: 'open', paymentStatus: 'unpaid', subscription: null }, 'open'],
    [{ status: 'expired', paymentStatus: 'unpaid', subscription: null }, 'expired'],
  ] as const)('whose session shows %o is judged %s', (shown, verdict) => {
    expect(judgeMembership({ ...paid, ...shown }, agreed)).toBe(verdict)
  })

  it('is over only when it cannot come back', () => {
    const over = ['active', 'trialing', 'past_due', 'unpaid', 'paused', 'canceled', 'incomplete_expired'].filter(
      hasEnded,
    )
    expect(over).toEqual(['canceled', 'incomplete_expired'])
  })
})

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

describe('the reminder of a membership', () => {
  const start = at('2026-11-28T10:00:00Z')
  const day = (count: number) => start.add({ hours: 24 * count })

  /** The days on which it is due, where somebody looks each day for three years; the first plan is paid on day 0. */
  function remindedOn(plan: 'monthly' | 'yearly', lookAt: (count: number) => Temporal.Instant): number[] {
    const period = plan === 'monthly' ? 30 : 365
    const days: number[] = []
    let remindedAt: Temporal.Instant | null = null
    for (let count = 0; count < 3 * 365; count++) {
      const paidUntil = day(period * (Math.floor(count / period) + 1))
      if (!isReminderDue({ plan, activatedAt: start, paidUntil, remindedAt }, lookAt(count))) continue
      remindedAt = lookAt(count)
      days.push(count)
    }
    return days
  }

  it.each([0, 13])(
    'comes once a year, and before each yearly renewal 30 days ahead, if looked for at hour %i',
    (hours) => {
      const lookAt = (count: number) => day(count).add({ hours })
      expect(remindedOn('monthly', lookAt)).toEqual([365, 730])
      expect(remindedOn('yearly', lookAt)).toEqual([335, 700, 1065])
    },
  )

  it('is due from the very instant on, and not a second before it', () => {
    const yearly = { plan: 'yearly' as const, activatedAt: start, paidUntil: day(365), remindedAt: null }
    expect(isReminderDue(yearly, day(335).subtract({ seconds: 1 }))).toBe(false)
    expect(isReminderDue(yearly, day(335))).toBe(true)
    expect(isReminderDue({ ...yearly, remindedAt: day(335) }, day(364))).toBe(false)
    // A reminder of the year before does not count for this one.
    expect(isReminderDue({ ...yearly, paidUntil: day(730), remindedAt: day(335) }, day(700))).toBe(true)
  })
})

describe('receipt numbers', () => {
  it('have six digits, and more when those are used up', () => {
    expect([1, 999_999, 1_000_000].map(receiptNumber)).toEqual(['RK-000001', 'RK-999999', 'RK-1000000'])
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
