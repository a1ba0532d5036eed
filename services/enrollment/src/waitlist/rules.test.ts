import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seatsLeft, type ClassSessionState } from '../rules.ts'
import { checkWaitingSeats, decideOffers, isOwedSeats, offerEnd, type WaitingFamily } from './rules.ts'

const startsAt = Temporal.Instant.from('2027-06-11T23:00:00Z')
const hoursBefore = (hours: number) => startsAt.subtract({ minutes: Math.round(hours * 60) })
const family = (id: string, seats: number, differences: Partial<WaitingFamily> = {}): WaitingFamily => ({
  id,
  seats,
  passedOver: 0,
  passedOverSince: null,
  ...differences,
})
const session = (differences: Partial<ClassSessionState> = {}): ClassSessionState => ({
  capacity: 10,
  held: 0,
  sold: 10,
  setAside: 0,
  status: 'open',
  startsAt,
  ...differences,
})

describe('an offer to a family of the waitlist', () => {
  it.each([
    [200, 24],
    [48, 24],
    [40, 20],
    [3, 1.5],
    [2, 1],
  ])('made %d hours before the class lasts %d hours', (before, lasts) => {
    const now = hoursBefore(before)
    expect(offerEnd(startsAt, now)?.toString()).toBe(now.add({ minutes: lasts * 60 }).toString())
  })

  it('is not made within two hours of the class, after its start, or once the class is cancelled', () => {
    expect(offerEnd(startsAt, hoursBefore(1.99))).toBeNull()
    expect(offerEnd(startsAt, hoursBefore(-1))).toBeNull()
    const line = [family('ada', 1)]
    const free = { sold: 9 }
    expect(decideOffers(line, session(free), true, hoursBefore(3)).offers).toEqual(['ada'])
    expect(decideOffers(line, session(free), true, hoursBefore(1)).offers).toEqual([])
    expect(decideOffers(line, session({ ...free, status: 'cancelled' }), true, hoursBefore(90)).offers).toEqual([])
  })
})

describe('the line of a full class', () => {
  const now = hoursBefore(24 * 30)

  it('is served in order, and each family gets all of its seats or none', () => {
    const line = [family('ada', 1), family('bo', 1), family('cy', 1)]
    expect(decideOffers(line, session({ sold: 8 }), true, now)).toMatchObject({ offers: ['ada', 'bo'], setAside: 0 })
  })

  it('passes over a family that needs more seats than are free, which keeps its place', () => {
    const line = [family('three', 3), family('one', 1), family('two', 2)]
    const outcome = decideOffers(line, session({ sold: 8 }), true, now)
    expect(outcome).toMatchObject({ offers: ['one'], passedOver: ['three', 'two'], setAside: 0 })
  })

  it('sets free seats aside for a family that was passed over twice, until it fits', () => {
    const line = [family('three', 3, { passedOver: 2, passedOverSince: now }), family('one', 1)]
    expect(decideOffers(line, session({ sold: 8 }), true, now)).toMatchObject({ offers: [], setAside: 2 })
    expect(decideOffers(line, session({ sold: 7 }), true, now)).toMatchObject({ offers: ['three'], setAside: 0 })
    expect(decideOffers(line, session({ sold: 6 }), true, now)).toMatchObject({ offers: ['three', 'one'], setAside: 0 })
  })

  it('sets free seats aside 48 hours after the first time, and no longer from 72 hours before the class on', () => {
    const once = family('two', 2, { passedOver: 1, passedOverSince: now })
    expect(isOwedSeats(once, session(), now.add({ hours: 47 }))).toBe(false)
    expect(isOwedSeats(once, session(), now.add({ hours: 48 }))).toBe(true)
    expect(isOwedSeats(once, session(), hoursBefore(72.1))).toBe(true)
    expect(isOwedSeats(once, session(), hoursBefore(72))).toBe(false)
  })

  it('sets nothing aside for a family that needs more seats than the class has', () => {
    const line = [family('four', 4, { passedOver: 5, passedOverSince: now }), family('one', 1)]
    expect(decideOffers(line, session({ capacity: 3, sold: 2 }), true, now)).toMatchObject({ offers: ['one'] })
  })
})

it('Waiting for more seats than a family or a network may wait for is refused.', () => {
  const limits = { family: 12, network: 16 }
  const own = { seats: 8, ofFamily: true, ofNetwork: true }
  const others = { seats: 4, ofFamily: false, ofNetwork: true }
  expect(() => checkWaitingSeats([own], 4, limits)).not.toThrow()
  expect(() => checkWaitingSeats([own], 5, limits)).toThrow('Your family waits for 8 seats already')
  expect(() => checkWaitingSeats([own, others, others], 1, limits)).toThrow('from your network')
})

/** A class with its line, as the service keeps it, and the rule checked after each step. */
class World {
  session: ClassSessionState
  now = hoursBefore(24 * 14)
  line: WaitingFamily[] = []
  offers: { id: string; seats: number; endsAt: Temporal.Instant }[] = []
  holds: number[] = []
  joined = 0

  constructor(capacity: number) {
    this.session = session({ capacity, sold: capacity })
  }

  serve(freed: boolean) {
    const before = this.line
    const free = this.session.capacity - this.session.held - this.session.sold
    const { offers, offerEndsAt, passedOver, setAside } = decideOffers(before, this.session, freed, this.now)
    const offered = before.filter(({ id }) => offers.includes(id))
    let left = free
    for (const one of before) {
      if (offers.includes(one.id)) left -= one.seats
      // Nobody is served before a family that fits, or before one that is owed seats.
      else if (offers.some((id) => this.indexOf(id) > this.indexOf(one.id))) {
        expect(one.seats).toBeGreaterThan(left)
        expect(isOwedSeats(one, this.session, this.now)).toBe(false)
      }
    }
    expect(left).toBeGreaterThanOrEqual(setAside)
    this.session.setAside = setAside
    for (const { id, seats } of offered) {
      this.session.held += seats
      if (offerEndsAt) this.offers.push({ id, seats, endsAt: offerEndsAt })
    }
    this.line = before
      .filter(({ id }) => !offers.includes(id))
      .map((one) =>
        passedOver.includes(one.id)
          ? { ...one, passedOver: one.passedOver + 1, passedOverSince: one.passedOverSince ?? this.now }
          : one,
      )
  }

  indexOf(id: string): number {
    return this.line.findIndex((one) => one.id === id)
  }

  join(seats: number) {
    if (offerEnd(startsAt, this.now) === null || seatsLeft(this.session) >= seats) return
    this.line.push(family(`${++this.joined}`, seats))
  }

  leave(index: number) {
    const hadSetAside = this.session.setAside > 0
    if (this.line.splice(index, 1).length > 0) this.serve(hadSetAside)
  }

  /** Anybody who comes by. */
  buy(seats: number) {
    if (Temporal.Instant.compare(this.now, startsAt) >= 0 || seatsLeft(this.session) < seats) return
    const owed = this.line.find((one) => isOwedSeats(one, this.session, this.now))
    expect(owed).toBeUndefined()
    this.session.held += seats
    this.holds.push(seats)
  }

  free(seats: number) {
    const freed = Math.min(seats, this.session.sold)
    this.session.sold -= freed
    if (freed > 0) this.serve(true)
  }

  endHold(index: number, paid: boolean) {
    const [seats = 0] = this.holds.splice(index, 1)
    this.session.held -= seats
    if (paid) this.session.sold += seats
    else if (seats > 0) this.serve(true)
  }

  endOffer(index: number, accepted: boolean) {
    const [offer] = this.offers.splice(index, 1)
    if (!offer) return
    if (accepted) this.holds.push(offer.seats)
    else {
      this.session.held -= offer.seats
      this.serve(true)
    }
  }

  setCapacity(capacity: number) {
    if (this.session.held + this.session.sold > capacity) return
    this.session.capacity = capacity
    this.serve(true)
  }

  /** Time goes on, and the job does what is due. */
  wait(hours: number) {
    this.now = this.now.add({ hours })
    for (const offer of this.offers.filter(({ endsAt }) => Temporal.Instant.compare(endsAt, this.now) <= 0)) {
      this.endOffer(this.offers.indexOf(offer), false)
    }
    this.serve(false)
    if (Temporal.Instant.compare(this.now, startsAt) >= 0) {
      expect(this.offers).toEqual([])
      this.line = []
    }
  }

  check() {
    const { held, sold, capacity, setAside } = this.session
    expect(held + sold + setAside).toBeLessThanOrEqual(capacity)
    expect(held).toBe([...this.holds, ...this.offers.map(({ seats }) => seats)].reduce((sum, seats) => sum + seats, 0))
    if (offerEnd(startsAt, this.now) === null) {
      expect(setAside).toBe(0)
      return
    }
    const isOwed = (one: WaitingFamily) => isOwedSeats(one, this.session, this.now)
    for (const one of this.line) expect(one.seats).toBeGreaterThan(seatsLeft(this.session))
    if (this.line.some(isOwed)) expect(seatsLeft(this.session)).toBe(0)
    else expect(setAside).toBe(0)
  }
}

describe('in any history of a class with a waitlist', () => {
  const seats = fc.integer({ min: 1, max: 4 })
  const index = fc.nat({ max: 3 })
  const step = fc.oneof(
    seats.map((count) => (world: World) => world.join(count)),
    seats.map((count) => (world: World) => world.join(count)),
    seats.map((count) => (world: World) => world.free(count)),
    seats.map((count) => (world: World) => world.buy(count)),
    index.map((at) => (world: World) => world.leave(at)),
    fc.tuple(index, fc.boolean()).map(
      ([at, paid]) =>
        (world: World) =>
          world.endHold(at, paid),
    ),
    fc.tuple(index, fc.boolean()).map(
      ([at, accepted]) =>
        (world: World) =>
          world.endOffer(at, accepted),
    ),
    fc.integer({ min: 0, max: 12 }).map((capacity) => (world: World) => world.setCapacity(capacity)),
    fc.integer({ min: 1, max: 60 }).map((hours) => (world: World) => world.wait(hours)),
  )

  it('nothing is oversold, nobody waits behind a free seat, order is kept, and no family is passed over for ever', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.array(step, { maxLength: 30 }), (capacity, steps) => {
        const world = new World(capacity)
        for (const one of steps) {
          one(world)
          world.check()
        }
        world.wait(24 * 30)
        expect(world.offers).toEqual([])
      }),
      { numRuns: 10_000 },
    )
  })
})
