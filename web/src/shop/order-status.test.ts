import type { Order } from '@robokids/contracts/shop'
import { describe, expect, it } from 'vitest'
import { toOrderDisplayStatus } from './order-status.ts'
import { sampleOrder } from './sample-order.ts'

type Refund = Order['refunds'][number]

const whole = sampleOrder.amount
const shipped = { status: 'shipped', shippedAt: '2025-09-25T17:00:00.000Z' } as const
const refund = (status: Refund['status'], amount = whole, reason: Refund['reason'] = 'requested'): Refund => ({
  amount,
  currency: 'usd',
  status,
  reason,
})
const dispute = (status: string) => ({ amount: whole, currency: 'usd' as const, status })
const of = (changes: Partial<Order>) => toOrderDisplayStatus({ ...sampleOrder, ...changes })

describe('order display status', () => {
  it.each<[Partial<Order>, ReturnType<typeof of>['kind']]>([
    [{}, 'paid'],
    [{ status: 'unpaid' }, 'unpaid'],
    [shipped, 'shipped'],
    [{ refunds: [refund('pending')] }, 'returning'],
    [{ refunds: [refund('succeeded', 20_000), refund('pending', 40_000)] }, 'returning'],
    [{ refunds: [refund('succeeded', 20_000)] }, 'paid'],
    [{ refunds: [refund('failed')] }, 'paid'],
    [{ refunds: [refund('succeeded', whole, 'duplicate')] }, 'paid'],
    [{ status: 'refunded', refunds: [refund('succeeded')] }, 'returned'],
    [{ status: 'refunded', refunds: [refund('failed')] }, 'owed'],
    [{ status: 'refunded', refunds: [refund('failed'), refund('pending')] }, 'returning'],
    [{ status: 'refunded', refunds: [refund('failed'), refund('succeeded')] }, 'returned'],
    [{ ...shipped, refunds: [refund('pending')] }, 'returning'],
    [{ ...shipped, refunds: [refund('succeeded')] }, 'returned'],
    [{ disputes: [dispute('needs_response')] }, 'disputed'],
    [{ disputes: [dispute('won')] }, 'paid'],
    [{ disputes: [dispute('lost')] }, 'lost'],
    [{ ...shipped, disputes: [dispute('needs_response')] }, 'shipped'],
    [{ ...shipped, disputes: [dispute('lost')] }, 'lost'],
  ])('with %j is %s', (changes, kind) => {
    expect(of(changes)).toMatchObject({ kind, wasShipped: 'shippedAt' in changes })
  })

  it('is the one that the server says, where it does', () => {
    const failed = { refunds: [refund('failed')] }
    expect(of({ ...failed, paymentState: 'paid', owed: 0 })).toMatchObject({ kind: 'paid', back: { owed: 0 } })
    expect(of({ ...failed, paymentState: 'refund_failed', owed: 100 })).toMatchObject({
      kind: 'owed',
      back: { owed: 100 },
    })
    expect(of({ ...shipped, paymentState: 'disputed' })).toMatchObject({ kind: 'shipped' })
    expect(of({ ...shipped, paymentState: 'refunded' })).toMatchObject({ kind: 'returned', wasShipped: true })
    expect(of({ paymentState: 'won' })).toMatchObject({ kind: 'paid' })
  })

  it('owes what failed at the bank until it was made good for, in parts as well', () => {
    const owed = (...refunds: Refund[]) => of({ status: 'refunded', refunds }).back.owed
    expect(owed(refund('failed'))).toBe(whole)
    expect(owed(refund('failed'), refund('failed'))).toBe(whole)
    expect(owed(refund('failed'), refund('succeeded', 10_000))).toBe(whole - 10_000)
    expect(owed(refund('failed'), refund('succeeded', 10_000), refund('pending', 50_000))).toBe(0)
  })
})
