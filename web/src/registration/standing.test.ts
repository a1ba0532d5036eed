import { describe, expect, it } from 'vitest'
import { sampleView } from './sample-view.ts'
import { isSettled, standingOf } from './standing.ts'

const refund = { amount: 40000, currency: 'usd', reason: 'seat_gone' } as const

describe('standingOf', () => {
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
    expect(standingOf(sampleView({ status }, checkout && { status: checkout })).kind).toBe(kind)
  })

  it('says "not charged" only once the card\'s side is closed', () => {
    const charged = (checkout: 'open' | 'expired' | null) =>
      standingOf(sampleView({ status: 'expired' }, checkout && { status: checkout }))
    expect(charged('expired')).toEqual({ kind: 'expired', charged: 'no' })
    expect(charged('open')).toEqual({ kind: 'expired', charged: 'unknown' })
    expect(charged(null)).toEqual({ kind: 'expired', charged: 'unknown' })
  })

  it('tells how far the money of a rejected registration is on its way back', () => {
    const rejected = (refunds: { status: 'pending' | 'succeeded' | 'failed' }[]) =>
      standingOf(
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

describe('isSettled', () => {
  it('goes on watching until nothing more is to come', () => {
    const settled = (...sample: Parameters<typeof sampleView>) => isSettled(standingOf(sampleView(...sample)))
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
