import { isSettled, toDisplayStatus } from '@robokids/contracts/display-status'
import { describe, expect, it } from 'vitest'
import { sampleView } from './sample-view.ts'

const refund = { amount: 40000, currency: 'usd', reason: 'seat_gone' } as const

describe('toDisplayStatus', () => {
  it.each([
    ['held', null, 'awaiting'],
    ['held', 'creating', 'awaiting'],
    ['held', 'open', 'awaiting'],
    ['held', 'expired', 'unpaid'],
    ['held', 'failed', 'unpaid'],
    ['held', 'processing', 'processing'],
    ['held', 'paid', 'processing'],
    ['expired', 'paid', 'processing'],
    ['expired', 'processing', 'processing'],
    ['confirmed', null, 'registered'],
    ['confirmed', 'paid', 'registered'],
    ['waiver_signed', 'paid', 'registered'],
    ['cancelled', 'paid', 'cancelled'],
  ] as const)('of a registration %s with a checkout %s is %s', (status, checkout, kind) => {
    expect(toDisplayStatus(sampleView({ status }, checkout && { status: checkout })).kind).toBe(kind)
  })

  it('says "not charged" only once the card\'s side is closed', () => {
    const charged = (checkout: 'open' | 'expired' | null) =>
      toDisplayStatus(sampleView({ status: 'expired' }, checkout && { status: checkout }))
    expect(charged('expired')).toEqual({ kind: 'expired', charged: 'no', refund: null })
    expect(charged('open')).toEqual({ kind: 'expired', charged: 'unknown', refund: null })
    expect(charged(null)).toEqual({ kind: 'expired', charged: 'unknown', refund: null })
  })

  it('tells how far the money of a rejected registration is on its way back', () => {
    const rejected = (refunds: { status: 'pending' | 'succeeded' | 'failed' }[]) =>
      toDisplayStatus(
        sampleView(
          { status: 'rejected', rejectionReason: 'class_full' },
          { status: 'paid', refunds: refunds.map((entry) => ({ ...refund, ...entry })) },
        ),
      )
    const money = { amount: 40000, currency: 'usd' }
    expect(rejected([])).toMatchObject({ refund: { state: 'underway', money } })
    expect(rejected([{ status: 'pending' }])).toMatchObject({
      refund: { state: 'underway', money },
    })
    expect(rejected([{ status: 'succeeded' }])).toMatchObject({ refund: { state: 'done', money } })
    expect(rejected([{ status: 'failed' }])).toMatchObject({ refund: { state: 'failed', money } })
    expect(rejected([{ status: 'failed' }, { status: 'succeeded' }])).toMatchObject({
      refund: { state: 'done', money },
    })
  })
})

describe('money that went back', () => {
  type Refunds = NonNullable<ReturnType<typeof sampleView>['checkout']>['refunds']
  const usd = (amount: number) => ({ amount, currency: 'usd' })
  const of = (status: 'cancelled' | 'confirmed' | 'expired', refunds: Partial<Refunds[number]>[], paid = true) =>
    toDisplayStatus(
      sampleView(
        { status },
        {
          status: paid ? 'paid' : 'failed',
          refunds: refunds.map((entry) => ({ ...refund, reason: 'requested', status: 'succeeded', ...entry })),
        },
      ),
    )

  it('is not counted again by a try that failed', () => {
    const failed = { status: 'failed' } as const
    expect(of('cancelled', [failed, failed])).toEqual({
      kind: 'cancelled',
      refund: { state: 'failed', money: usd(40000) },
    })
    expect(of('cancelled', [failed, failed, {}])).toMatchObject({ refund: { state: 'done', money: usd(40000) } })
    expect(of('cancelled', [failed, { status: 'pending' }])).toMatchObject({ refund: { state: 'underway' } })
  })

  it('is still missing where a part of it failed', () => {
    const refunds = [{ amount: 30000 }, { amount: 10000, status: 'failed' }] as const
    expect(of('cancelled', [...refunds])).toMatchObject({ refund: { state: 'failed', money: usd(10000) } })
  })

  it('of a second payment takes nothing from the seat that is kept', () => {
    const second = { reason: 'duplicate', status: 'pending' } as const
    expect(of('confirmed', [second])).toEqual({
      kind: 'registered',
      refunded: null,
      returned: { state: 'underway', money: usd(40000) },
      disputed: false,
    })
    expect(of('confirmed', [second, { amount: 5000 }])).toMatchObject({
      refunded: { state: 'done', money: usd(5000) },
      returned: { money: usd(40000) },
    })
    expect(of('cancelled', [{ ...second, status: 'succeeded' }, {}])).toMatchObject({
      refund: { state: 'done', money: usd(40000) },
    })
  })

  it('is told where a payment of another amount came too', () => {
    const refunds = [{ reason: 'amount_mismatch', amount: 39000 }] as const
    expect(of('expired', [...refunds], false)).toEqual({
      kind: 'expired',
      charged: 'returned',
      refund: { state: 'done', money: usd(39000) },
    })
  })
})

describe('the money of a registration that has its seat', () => {
  const usd = (amount: number) => ({ amount, currency: 'usd' }) as const
  type Checkout = NonNullable<ReturnType<typeof sampleView>['checkout']>
  const of = (status: 'confirmed' | 'waiver_signed', checkout: Partial<Checkout>) =>
    toDisplayStatus(sampleView({ status }, { status: 'paid', ...checkout }))
  const back = (status: 'pending' | 'succeeded', amount = 40_000) => ({
    ...usd(amount),
    reason: 'requested' as const,
    status,
  })
  const dispute = (status: string) => ({ disputes: [{ ...usd(40_000), status }] })

  it.each(['confirmed', 'waiver_signed'] as const)('ends it once all of it is on its way back: %s', (status) => {
    const returning = (state: string) => ({
      kind: 'returning',
      refund: { state, money: usd(40_000) },
      byBank: false,
    })
    expect(of(status, { refunds: [back('pending')] })).toEqual(returning('underway'))
    expect(of(status, { refunds: [back('succeeded', 10_000), back('pending', 30_000)] })).toEqual(returning('underway'))
    expect(of(status, { refunds: [back('succeeded')] })).toEqual(returning('done'))
    expect(of(status, { refunds: [back('pending', 10_000)] })).toMatchObject({ kind: 'registered' })
  })

  it('ends it where the bank gave it back, and has it wait while the bank looks into it', () => {
    expect(of('confirmed', dispute('lost'))).toEqual({
      kind: 'returning',
      refund: { state: 'done', money: usd(40_000) },
      byBank: true,
    })
    expect(of('confirmed', dispute('needs_response'))).toMatchObject({ kind: 'registered', disputed: true })
    expect(of('confirmed', dispute('won'))).toMatchObject({ kind: 'registered', disputed: false })
  })
})

describe('isSettled', () => {
  it('goes on watching until nothing more is to come', () => {
    const settled = (...sample: Parameters<typeof sampleView>) => isSettled(toDisplayStatus(sampleView(...sample)))
    expect(settled({ status: 'held' })).toBe(false)
    expect(settled({ status: 'held' }, { status: 'paid' })).toBe(false)
    expect(settled({ status: 'expired' }, { status: 'open' })).toBe(false)
    expect(settled({ status: 'rejected' }, { status: 'paid' })).toBe(false)
    expect(settled({ status: 'rejected' }, { status: 'paid', refunds: [{ ...refund, status: 'succeeded' }] })).toBe(
      true,
    )
    expect(settled({ status: 'expired' }, { status: 'expired' })).toBe(true)
    expect(settled({ status: 'confirmed' })).toBe(true)
    expect(settled({ status: 'cancelled' })).toBe(true)
  })
})
