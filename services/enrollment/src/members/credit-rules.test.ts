import { maxCredits } from '@robokids/contracts/member-classes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyCredit,
  countUnused,
  keepsCredit,
  lapsing,
  nextCredit,
  withoutClass,
  type Credit,
  type CreditChange,
} from './credit-rules.ts'

const membershipId = 'membership'

/** A membership as its history goes on: the credits, and the classes that are booked. */
class History {
  credits: Credit[] = []
  booked = new Set<string>()
  over = new Set<string>()
  hasEnded = false
  #bookings = 0

  get state() {
    const isAhead = (id: string) => this.booked.has(id) && !this.over.has(id)
    return { membershipId, hasEnded: this.hasEnded, isAhead }
  }

  join(): void {
    this.booked.add(membershipId)
  }

  receive(change: CreditChange, hasSeat = true): void {
    const applied = applyCredit(this.credits, change, this.state)
    if (!applied) return
    const { credit, effect } = applied
    const { bookingId } = credit
    if (effect === 'give_up') this.booked.delete(bookingId ?? '')
    if (effect === 'restore' && hasSeat) this.booked.add(bookingId ?? '')
    this.#save(effect === 'restore' && !hasSeat ? withoutClass(this.credits, credit, this.hasEnded) : credit)
  }

  book(): boolean {
    const credit = this.hasEnded ? undefined : nextCredit(this.credits)
    if (!credit) return false
    const bookingId = `booking ${(this.#bookings += 1)}`
    this.booked.add(bookingId)
    this.#save({ ...credit, status: 'booked', bookingId })
    return true
  }

  /** @returns whether its credit can be used again; undefined if it stays booked. */
  cancel(bookingId: string): boolean | undefined {
    const credit = this.credits.find((one) => one.bookingId === bookingId)
    if (!credit || !this.state.isAhead(bookingId)) return undefined
    const keeps = keepsCredit(this.credits, this.hasEnded)
    if (keeps === undefined) return undefined
    this.booked.delete(bookingId)
    this.#save(withoutClass(this.credits, credit, this.hasEnded))
    return keeps
  }

  end(): void {
    this.hasEnded = true
    const lapsed = lapsing(this.credits)
    this.credits = this.credits.map((credit) => lapsed.find(({ id }) => id === credit.id) ?? credit)
  }

  #save(credit: Credit): void {
    this.credits = [...this.credits.filter(({ id }) => id !== credit.id), credit]
  }
}

const given = (month: number, version = 1): CreditChange => ({
  id: `credit ${month}`,
  month: `2027-${String(month).padStart(2, '0')}-20`,
  isFirst: month === 1,
  version,
  withdrawn: null,
})
const withdrawn = (month: number, version = 2): CreditChange => ({ ...given(month, version), withdrawn: 'disputed' })

function joined(months = 1): History {
  const history = new History()
  history.join()
  for (let month = 1; month <= months; month += 1) history.receive(given(month))
  return history
}

describe('the credits of a membership', () => {
  it('are none after joining, as the first month pays for the class chosen at sign-up, and one a month from then on', () => {
    const history = joined()
    expect(countUnused(history.credits)).toBe(0)
    history.receive(given(2))
    history.receive(given(2))
    expect(countUnused(history.credits)).toBe(1)
    expect([history.book(), history.book()]).toEqual([true, false])
    expect(countUnused(history.credits)).toBe(0)
  })

  it('are three at most: a month adds none until one is booked', () => {
    const history = joined(5)
    expect(countUnused(history.credits)).toBe(3)
    history.book()
    expect(countUnused(history.credits)).toBe(2)
    history.receive(given(6))
    expect(countUnused(history.credits)).toBe(3)
  })

  it('are used the oldest first', () => {
    const history = joined(3)
    expect(nextCredit(history.credits)?.month).toBe('2027-02-20')
  })

  it('come back from a canceled class, unless there are three or the membership has ended', () => {
    const history = joined(2)
    history.book()
    expect(history.cancel('booking 1')).toBe(true)
    expect(history.cancel('booking 1')).toBeUndefined()
    expect(countUnused(history.credits)).toBe(1)
    for (const month of [3, 4]) history.receive(given(month))
    expect(history.cancel(membershipId)).toBeUndefined()
    history.end()
    expect(history.cancel(membershipId)).toBe(false)
    expect(countUnused(history.credits)).toBe(0)
  })

  it('end with the membership, and what is booked stays', () => {
    const history = joined(3)
    history.book()
    history.end()
    expect([countUnused(history.credits), history.booked.size, history.book()]).toEqual([0, 2, false])
    history.receive(given(4))
    expect(countUnused(history.credits)).toBe(0)
  })

  it('go with their payment: unused ones are gone, and a class ahead is given up until the payment is won back', () => {
    const history = joined(2)
    history.receive(withdrawn(2))
    history.receive(withdrawn(1))
    expect([countUnused(history.credits), history.booked.size]).toEqual([0, 0])
    history.receive(given(1, 3))
    history.receive(given(2, 3))
    expect([countUnused(history.credits), history.booked.has(membershipId)]).toEqual([1, true])
  })

  it('come back without their class if its seat is taken, and can be used for another one', () => {
    const history = joined()
    history.receive(withdrawn(1))
    history.receive(given(1, 3), false)
    expect([countUnused(history.credits), history.booked.size]).toEqual([1, 0])
  })

  it('do not change for a class that is over', () => {
    const history = joined()
    history.over.add(membershipId)
    history.receive(withdrawn(1))
    expect([history.booked.size, countUnused(history.credits)]).toEqual([1, 0])
    history.receive(given(1, 3))
    expect([history.booked.size, countUnused(history.credits)]).toEqual([1, 0])
  })

  it('are never negative, never more than three, and pay for each booked class exactly once, in any history', () => {
    const month = fc.integer({ min: 1, max: 6 })
    const steps = fc.oneof(
      month.map((one) => (history: History) => history.receive(given(one))),
      fc.tuple(month, fc.integer({ min: 2, max: 9 }), fc.boolean(), fc.boolean()).map(
        ([one, version, isBack, hasSeat]) =>
          (history: History) =>
            history.receive(isBack ? given(one, version) : withdrawn(one, version), hasSeat),
      ),
      fc.constant((history: History) => void history.book()),
      fc.nat(8).map((one) => (history: History) => void history.cancel(one === 0 ? membershipId : `booking ${one}`)),
      fc.nat(8).map((one) => (history: History) => void history.over.add(`booking ${one}`)),
    )
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 40 }), fc.boolean(), (history, ends) => {
        const member = joined()
        for (const [index, step] of history.entries()) {
          if (ends && index === 30) member.end()
          step(member)
          const unused = countUnused(member.credits)
          expect(unused).toBeGreaterThanOrEqual(0)
          expect(unused).toBeLessThanOrEqual(maxCredits)
          if (member.hasEnded) expect(unused).toBe(0)
          const paying = member.credits.filter(({ status }) => status === 'booked').map(({ bookingId }) => bookingId)
          expect(new Set(paying)).toEqual(member.booked)
          expect(paying.length).toBe(member.booked.size)
          expect(unused + paying.length).toBeLessThanOrEqual(member.credits.length)
          for (const { status, bookingId } of member.credits)
            expect(bookingId !== null).toBe(status === 'booked' || status === 'given_up')
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('are the same whatever the order and the repetition of a credit’s events', () => {
    const events = [given(2), withdrawn(2), given(2, 3), { ...withdrawn(2, 4), withdrawn: 'refunded' as const }]
    fc.assert(
      fc.property(
        fc.shuffledSubarray([0, 1, 2, 3, 0, 1, 2, 3], { minLength: 8 }),
        fc.boolean(),
        (order, isBackLast) => {
          const last = isBackLast ? given(2, 5) : undefined
          const member = joined()
          for (const index of order) member.receive(events[index] ?? given(2))
          if (last) member.receive(last)
          expect(countUnused(member.credits)).toBe(last ? 1 : 0)
        },
      ),
    )
  })
})
