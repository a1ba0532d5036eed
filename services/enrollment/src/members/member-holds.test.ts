import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requestSeat, bindSeat, endCheckout, endExpired, endRequest, sessionIdsOf, takeSeat } from './member-holds.ts'

const now = Temporal.Instant.from('2027-01-01T12:00:00Z')
const later = (minutes: number) => now.add({ minutes })
const request = (holds: Parameters<typeof requestSeat>[0], classSessionId: string, at = now) =>
  requestSeat(holds, { classSessionId, network: null }, at)
const empty = { hold: null, pending: null }
const bind = (holds: Parameters<typeof bindSeat>[0], classSessionId: string, attemptId: string, at = now) =>
  bindSeat(holds, { classSessionId, attemptId, heldUntil: at.add({ minutes: 36 }), network: null }, at)
const bound = bind(request(empty, 'friday', now), 'friday', 'first')
const seats = (holds: Parameters<typeof sessionIdsOf>[0]) => [...sessionIdsOf(holds)].toSorted()

describe('the seats of a member holder', () => {
  it('are the seat of its checkout, until the checkout ends or the hold expires', () => {
    expect(seats(endCheckout(bound, 'another', now))).toEqual(['friday'])
    expect(seats(endCheckout(bound, 'first', now))).toEqual([])
    expect(seats(endExpired(bound, later(35)))).toEqual(['friday'])
    expect(seats(endExpired(bound, later(36)))).toEqual([])
  })

  it('stay held when a checkout is replaced by another one for the same date', () => {
    const requested = request(bound, 'friday', now)
    const closed = endCheckout(requested, 'first', now)
    expect(seats(closed)).toEqual(['friday'])
    expect(seats(endCheckout(bind(closed, 'friday', 'second'), 'first', now))).toEqual(['friday'])
    // The request created no checkout.
    expect(seats(endRequest(closed, now))).toEqual([])
    expect(seats(endExpired(closed, later(5)))).toEqual([])
    expect(seats(endCheckout(endRequest(requested, now), 'first', now))).toEqual([])
    // The request was never finished.
    expect(seats(endCheckout(requested, 'first', later(5)))).toEqual([])
  })

  it('stay held for the second of two tabs that close each other’s checkouts', () => {
    const both = request(request(bound, 'friday', now), 'friday', now)
    const first = bind(endCheckout(both, 'first', now), 'friday', 'second')
    const second = bind(endCheckout(first, 'second', now), 'friday', 'third')
    expect(seats(second)).toEqual(['friday'])
    expect(seats(endCheckout(second, 'third', now))).toEqual([])
  })

  it('include a seat on another date, from its request until its checkout exists', () => {
    const requested = request(bound, 'monday', now)
    expect(seats(requested)).toEqual(['friday', 'monday'])
    expect(seats(endRequest(requested, now))).toEqual(['friday'])
    expect(seats(endExpired(requested, later(5)))).toEqual(['friday'])
    expect(seats(request(requested, 'friday', now))).toEqual(['friday'])
    expect(seats(takeSeat(requested, 'friday'))).toEqual(['monday'])
    expect(seats(takeSeat(requested, 'monday'))).toEqual(['friday'])
    const closed = endCheckout(requested, 'first', now)
    expect(seats(closed)).toEqual(['monday'])
    expect(seats(bind(closed, 'monday', 'second'))).toEqual(['monday'])
    expect(seats(bind(requested, 'monday', 'second'))).toEqual(['monday'])
    expect(seats(endExpired(closed, later(5)))).toEqual([])
  })

  it('are all released once everything has ended, in any order and with any repetition of events', () => {
    const dates = fc.constantFrom('friday', 'monday', 'sunday')
    const attempts = fc.constantFrom('first', 'second', 'third')
    const steps = fc.oneof(
      dates.map((date) => (holds: typeof bound) => request(holds, date, now)),
      fc.tuple(dates, attempts).map(
        ([date, attempt]) =>
          (holds: typeof bound) =>
            bind(holds, date, attempt),
      ),
      attempts.map((attempt) => (holds: typeof bound) => endCheckout(holds, attempt, now)),
      dates.map((date) => (holds: typeof bound) => takeSeat(holds, date)),
      fc.constant((holds: typeof bound) => endRequest(holds, now)),
    )
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 20 }), (history) => {
        let holds: typeof bound = empty
        for (const step of history) {
          holds = step(holds)
          expect(sessionIdsOf(holds).size).toBeLessThanOrEqual(2)
          if (!holds.hold) expect(holds.pending).toBeNull()
        }
        expect(endExpired(holds, later(36))).toEqual(empty)
      }),
    )
  })
})
