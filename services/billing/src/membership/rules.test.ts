import { describe, expect, it } from 'vitest'
import { hasEnded, isReminderDue, classifyMembershipSession } from './rules.ts'
import { membershipParameters } from '../stripe/session-parameters.ts'
import type { ObservedCheckoutSession } from '../stripe/observed.ts'

const at = (text: string) => Temporal.Instant.from(text)

describe('a membership checkout', () => {
  const request = { email: 'Maren.Holt@example.com', plan: 'yearly', classDate: '2027-01-08' } as const
  const attemptId = '01a21f00-0000-7000-8000-000000000031'

  it('is created with the interval of its plan, and with return URLs without personal data', () => {
    const parameters = membershipParameters(
      attemptId,
      request,
      6_000,
      at('2026-11-28T00:31:00Z'),
      'https://site.example',
    )
    expect(parameters).toMatchObject({
      mode: 'subscription',
      line_items: [{ quantity: 1, price_data: { unit_amount: 6_000, recurring: { interval: 'year' } } }],
      metadata: { attemptId },
      subscription_data: { metadata: { attemptId } },
      success_url: `https://site.example/success?reference=${attemptId}`,
      cancel_url: 'https://site.example/membership/register',
    })
    const monthly = membershipParameters(
      attemptId,
      { ...request, plan: 'monthly' },
      700,
      at('2026-11-28T00:31:00Z'),
      '',
    )
    expect(monthly.line_items[0]?.price_data.recurring).toEqual({ interval: 'month' })
  })

  const paid: ObservedCheckoutSession = {
    checkoutSessionId: 'cs_1',
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
  ] as const)('classifies a session with %o as %s', (shown, outcome) => {
    expect(classifyMembershipSession({ ...paid, ...shown }, agreed)).toBe(outcome)
  })

  it('counts as ended only in a status from which a subscription cannot recover', () => {
    const ended = ['active', 'trialing', 'past_due', 'unpaid', 'paused', 'canceled', 'incomplete_expired'].filter(
      hasEnded,
    )
    expect(ended).toEqual(['canceled', 'incomplete_expired'])
  })
})

describe('the reminder of a membership', () => {
  const start = at('2026-11-28T10:00:00Z')
  const day = (count: number) => start.add({ hours: 24 * count })

  /** The days of reminders, with a daily check for three years; the first period is paid on day 0. */
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
    'comes once a year, and 30 days before each yearly renewal, if checked daily at hour %i',
    (hours) => {
      const lookAt = (count: number) => day(count).add({ hours })
      expect(remindedOn('monthly', lookAt)).toEqual([365, 730])
      expect(remindedOn('yearly', lookAt)).toEqual([335, 700, 1065])
    },
  )

  it('is due from the exact instant on, and not a second earlier', () => {
    const yearly = { plan: 'yearly' as const, activatedAt: start, paidUntil: day(365), remindedAt: null }
    expect(isReminderDue(yearly, day(335).subtract({ seconds: 1 }))).toBe(false)
    expect(isReminderDue(yearly, day(335))).toBe(true)
    expect(isReminderDue({ ...yearly, remindedAt: day(335) }, day(364))).toBe(false)
    // Last year's reminder does not count for this year.
    expect(isReminderDue({ ...yearly, paidUntil: day(730), remindedAt: day(335) }, day(700))).toBe(true)
  })
})
