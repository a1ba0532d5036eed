import { describe, expect, it } from 'vitest'
import { cardStateOf, countdown } from './card-state.ts'
import { sampleChange } from './sample-change.ts'
import { sampleCard } from './sample-dashboard.ts'

const startsAt = '2027-01-23T00:00:00.000Z'
const start = Date.parse(startsAt)
const minutes = (count: number) => count * 60_000
const later = start - minutes(60 * 24 * 30)
const at = (card: ReturnType<typeof sampleCard>, now = later) => {
  const { badge, sentence } = cardStateOf(card, now)
  return sentence === undefined ? badge : `${badge}: ${sentence}`
}

const unpaid = { status: 'held', payment: null, waiver: null, kit: null } as const
const open = { status: 'open', paidAt: null, receiptNumber: null } as const
const samplePlace = (differences: Partial<NonNullable<ReturnType<typeof sampleCard>['places']>[number]>) => ({
  placeId: '019a0000-0000-8000-8000-000000000004',
  childName: 'Ivo',
  childAge: 9,
  status: 'seated' as const,
  paidAmount: 40_000,
  moves: 0,
  cancelledAt: null,
  ...differences,
})
const classCancelled = {
  choiceId: '4f6bd0f5-3f7e-4f6b-9a57-0d6f7a3b5c11',
  chooseUntil: '2027-01-30T01:00:00.000Z',
  back: 40_000,
}
const startsAtMonthBefore = '2026-12-01T00:00:00.000Z'
const refund = (status: 'pending' | 'succeeded' | 'failed') =>
  [{ amount: 40_000, currency: 'usd', status, reason: 'requested' }] as const

describe('a card says of', () => {
  it.each([
    ['a class a month ahead', sampleCard(), 'Ready'],
    [
      'a payment at the bank',
      sampleCard(unpaid, { ...open, status: 'processing' }),
      'Payment on its way: Your bank is still checking. This page changes by itself.',
    ],
    [
      'a hold that ended unpaid',
      sampleCard({ ...unpaid, status: 'expired' }, { ...open, status: 'expired' }),
      'Hold ended: Nothing was charged. The seat is free again.',
    ],
    [
      'a seat that went while it was paid',
      sampleCard({ ...unpaid, status: 'rejected', rejectionReason: 'class_full' }, { refunds: [] }),
      'No seat: The last seat went while you paid. $400.00 goes back by itself.',
    ],
    [
      'a waiver that is missing',
      sampleCard({ status: 'confirmed', waiver: null, kit: null }),
      'Waiver missing: Sign it and we send the kit and show the class link. It takes two minutes.',
    ],
    [
      'a refund under way',
      sampleCard({ status: 'cancelled' }, { refunds: [...refund('pending')] }),
      'Refund on its way: $400.00 goes back to your card. Banks take 5 to 10 days.',
    ],
    [
      'a refund that is done',
      sampleCard({ status: 'cancelled' }, { refunds: [...refund('succeeded')] }),
      'Refunded: $400.00 went back to your card.',
    ],
    [
      'a refund that is done, with its date',
      sampleCard(
        { status: 'cancelled' },
        { refunds: [{ ...refund('succeeded')[0], refundedAt: '2027-01-12T20:00:00.000Z' }] },
      ),
      'Refunded: $400.00 went back on January 12.',
    ],
    [
      'a class that the school has canceled, while the family can choose',
      sampleCard({ places: [samplePlace({ classCancelled })] }),
      'Canceled by us: We had to cancel this class, and we are sorry. Choose by Friday, January 29, 5:00 PM Pacific. If we hear nothing, all $400.00 goes back.',
    ],
    [
      'a class that the school has canceled, for a sibling who joined free',
      sampleCard({ places: [samplePlace({ classCancelled, paidAmount: 0 })] }),
      'Canceled by us: We had to cancel this class, and we are sorry. Choose by Friday, January 29, 5:00 PM Pacific. If we hear nothing, nothing is refunded, as nothing was paid.',
    ],
    [
      'a class that the school has canceled, after the deadline',
      sampleCard({
        places: [samplePlace({ classCancelled: { ...classCancelled, chooseUntil: startsAtMonthBefore } })],
      }),
      'Canceled by us: We had to cancel this class, and we are sorry. All $400.00 goes back by itself.',
    ],
    [
      'a class that the school had canceled when it sent the money back',
      sampleCard(
        {
          status: 'cancelled',
          places: [
            samplePlace({
              status: 'cancelled',
              cancelledAt: '2027-01-30T01:00:05.000Z',
              paidAmount: 0,
              cancelledBySchool: 'deadline',
            }),
          ],
        },
        { refunds: [...refund('pending')] },
      ),
      'Refund on its way: We canceled this class, and had not heard from you. $400.00 goes back to your card. Banks take 5 to 10 days.',
    ],
    [
      'a move that is not paid yet',
      sampleCard({ pendingMove: { ...sampleChange, heldUntil: '2026-12-25T16:31:00.000Z' } }),
      'Move not finished: Noa’s new seat is held until 4:31 PM. Nothing changes until you pay $100.00.',
    ],
    [
      'a refund that failed',
      sampleCard({ status: 'cancelled' }, { refunds: [...refund('failed')] }),
      'Refund needs us: Your bank did not take the refund. We are on it and will write to you.',
    ],
    [
      'a refund that billing cannot tell of',
      sampleCard({ payment: { ...sampleCard().payment!, state: 'refund_under_way' } }, null),
      'Refund on its way: $400.00 goes back to your card. Banks take 5 to 10 days.',
    ],
    ['a kept payment that billing cannot tell of', sampleCard({}, null), 'Ready'],
    ['a registration that was given up', sampleCard({ status: 'cancelled', payment: null }, null), 'Canceled'],
    [
      'seats that the family gave up',
      sampleCard(
        {
          status: 'cancelled',
          places: [
            {
              placeId: '019a0000-0000-7000-8000-0000000000d1',
              childName: 'Ivo',
              childAge: 9,
              status: 'cancelled',
              paidAmount: 40_000,
              moves: 0,
              cancelledAt: '2027-01-03T05:00:00.000Z',
            },
          ],
        },
        null,
      ),
      'Canceled: You canceled on January 2. By our terms $0.00 went back.',
    ],
    [
      'a dispute',
      sampleCard({}, { disputes: [{ amount: 40_000, currency: 'usd', status: 'needs_response' }] }),
      'Payment disputed: Nothing can be signed or shipped until your bank decides. We’re keeping your seat until then.',
    ],
  ])('%s', (_what, card, told) => {
    expect(at(card)).toBe(told)
  })

  it('the time until its class', () => {
    expect([-14, -2].map((days) => at(sampleCard(), start + minutes(days * 1440)))).toEqual([
      'Ready: In 14 days',
      'Ready: In 2 days',
    ])
    expect(at(sampleCard(), start - minutes(1440))).toBe('Ready: Tomorrow')
    expect([-30, -10, -9.5, 0, 1, 89].map((time) => at(sampleCard(), start + minutes(time)))).toEqual([
      'Starts soon: Starts in 30 minutes.',
      'Starts soon: Starts in 10 minutes.',
      'Starts soon: Starts in 9:30.',
      'Live now: It starts now. Come right in.',
      'Live now: Started 1 minute ago. Come right in.',
      'Live now: Started 89 minutes ago. Come right in.',
    ])
    expect(at(sampleCard(), start + minutes(90))).toBe('Finished: Ended January 22.')
    expect(at(sampleCard({ status: 'confirmed', waiver: null }), start)).toBe(
      'Waiver missing: The class is starting. Sign the waiver and the link appears here.',
    )
  })

  it('its program, which is over after the last meeting', () => {
    const meetings = [0, 7].map((days, index) => ({
      number: index + 1,
      date: '2027-01-22',
      startTime: '16:00',
      durationMinutes: 75,
      startsAt: new Date(start + minutes(days * 1440)).toISOString(),
    }))
    const program = sampleCard({ meetings })
    expect(cardStateOf(program, start + minutes(89)).meeting?.number).toBe(1)
    expect(cardStateOf(program, start + minutes(90)).meeting?.number).toBe(2)
    expect(at(program, start + minutes(7 * 1440 + 90))).toBe('Finished: 2 of 2 meetings. Ended January 29.')
  })

  it('a held seat, until its time is over', () => {
    const heldUntil = new Date(later + minutes(20)).toISOString()
    const card = sampleCard({ ...unpaid, heldUntil }, { ...open, lastDecline: 'Your card was declined.' })
    expect(at(card)).toMatch(
      /^Not paid yet: Your card was declined\. You weren’t charged\. Your seat is held until \d{1,2}:\d{2} [AP]M\.$/,
    )
    expect(at(card, later + minutes(20))).toBe('Hold ended: The seat is free again.')
  })
})

it('a countdown tells its minutes, and its seconds in the last ten minutes', () => {
  expect([minutes(24), minutes(10), 599_000, 61_000, 900].map(countdown)).toEqual([
    '24 minutes',
    '10 minutes',
    '9:59',
    '1:01',
    '0:01',
  ])
})
