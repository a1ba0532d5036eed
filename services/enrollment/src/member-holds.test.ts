import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { askForSeat, bindSeat, endCheckout, endOverdue, endRequest, seatsOf, takeSeat } from './member-holds.ts'

const now = Temporal.Instant.from('2027-01-01T12:00:00Z')
const later = (minutes: number) => now.add({ minutes })
const ask = (holds: Parameters<typeof askForSeat>[0], classSessionId: string, at = now) =>
  askForSeat(holds, { classSessionId, network: null }, at)
const empty = { hold: null, pending: null }
const bind = (holds: Parameters<typeof bindSeat>[0], classSessionId: string, attemptId: string, at = now) =>
  bindSeat(holds, { classSessionId, attemptId, heldUntil: at.add({ minutes: 36 }), network: null }, at)
const bound = bind(ask(empty, 'friday', now), 'friday', 'first')
const seats = (holds: Parameters<typeof seatsOf>[0]) => [...seatsOf(holds)].toSorted()

describe('what an address holds', () => {
  it('is the seat of its checkout, until that ends or runs out', () => {
    expect(seats(endCheckout(bound, 'another', now))).toEqual(['friday'])
    expect(seats(endCheckout(bound, 'first', now))).toEqual([])
    expect(seats(endOverdue(bound, later(35)))).toEqual(['friday'])
    expect(seats(endOverdue(bound, later(36)))).toEqual([])
  })

  it('stays through the end of a checkout that makes way for another one of the same date', () => {
    const asked = ask(bound, 'friday', now)
    const closed = endCheckout(asked, 'first', now)
    expect(seats(closed)).toEqual(['friday'])
    expect(seats(endCheckout(bind(closed, 'friday', 'second'), 'first', now))).toEqual(['friday'])
    // Nothing came of it.
    expect(seats(endRequest(closed, now))).toEqual([])
    expect(seats(endOverdue(closed, later(5)))).toEqual([])
    expect(seats(endCheckout(endRequest(asked, now), 'first', now))).toEqual([])
    // Whoever asked is gone without a word.
    expect(seats(endCheckout(asked, 'first', later(5)))).toEqual([])
  })

  it('stays for the second of two tabs that close each other’s checkouts', () => {
    const both = ask(ask(bound, 'friday', now), 'friday', now)
    const first = bind(endCheckout(both, 'first', now), 'friday', 'second')
    const second = bind(endCheckout(first, 'second', now), 'friday', 'third')
    expect(seats(second)).toEqual(['friday'])
    expect(seats(endCheckout(second, 'third', now))).toEqual([])
  })

  it('is the seat of another date as well, from when that is asked for until its checkout is there', () => {
    const asked = ask(bound, 'monday', now)
    expect(seats(asked)).toEqual(['friday', 'monday'])
    expect(seats(endRequest(asked, now))).toEqual(['friday'])
    expect(seats(endOverdue(asked, later(5)))).toEqual(['friday'])
    expect(seats(ask(asked, 'friday', now))).toEqual(['friday'])
    expect(seats(takeSeat(asked, 'friday'))).toEqual(['monday'])
    expect(seats(takeSeat(asked, 'monday'))).toEqual(['friday'])
    const closed = endCheckout(asked, 'first', now)
    expect(seats(closed)).toEqual(['monday'])
    expect(seats(bind(closed, 'monday', 'second'))).toEqual(['monday'])
    expect(seats(bind(asked, 'monday', 'second'))).toEqual(['monday'])
    expect(seats(endOverdue(closed, later(5)))).toEqual([])
  })

  it('is over when all has ended, whatever came in which order and how often', () => {
    const dates = fc.constantFrom('friday', 'monday', 'sunday')
    const attempts = fc.constantFrom('first', 'second', 'third')
    const steps = fc.oneof(
      dates.map((date) => (holds: typeof bound) => ask(holds, date, now)),
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
          expect(seatsOf(holds).size).toBeLessThanOrEqual(2)
          if (!holds.hold) expect(holds.pending).toBeNull()
        }
        expect(endOverdue(holds, later(36))).toEqual(empty)
      }),
    )
  })
})
