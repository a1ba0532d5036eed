import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  chooseSignable,
  endHold,
  isAttemptOfHold,
  isHeldLongEnough,
  isNewestAttempt,
  isOffered,
  isTooSmall,
  checkSignature,
  pdfRetryDelay,
  paymentStateOf,
  seatsForRenewal,
  seatsLeft,
  settlePayment,
  endsRegistration,
  type FamilyRegistration,
  type KnownPayment,
  type RegistrationState,
  type SeatChange,
  type ClassSessionState,
  type Signable,
  type Signature,
} from './rules.ts'

const start = Temporal.Instant.from('2027-01-09T00:00:00Z')
const before = start.subtract({ hours: 24 })

function session(differences: Partial<ClassSessionState> = {}): ClassSessionState {
  return { capacity: 10, held: 0, sold: 0, setAside: 0, status: 'open', startsAt: start, ...differences }
}

function registration(differences: Partial<RegistrationState> = {}): RegistrationState {
  return {
    status: 'held',
    children: [{ childName: 'Ivo', childAge: 9 }],
    separate: false,
    seats: 1,
    holds: 1,
    heldSince: before,
    attemptId: null,
    attemptCreatedAt: null,
    paymentId: null,
    rejectionReason: null,
    ...differences,
  }
}

const noPayment: KnownPayment = { completed: false, refunded: false }

/** Applies the rules to one session, as the use cases do. */
class World {
  readonly session: ClassSessionState
  readonly registrations: RegistrationState[] = []
  readonly payments = new Map<string, KnownPayment & { outcomes: string[] }>()
  now = before

  constructor(capacity: number) {
    this.session = session({ capacity })
  }

  move(change: SeatChange): void {
    this.session.held += change.held
    this.session.sold += change.sold
  }

  payment(id: string) {
    const known = this.payments.get(id) ?? { ...noPayment, outcomes: [] }
    this.payments.set(id, known)
    return known
  }

  hold(seats: number): void {
    if (!isOffered(this.session, this.now) || seatsLeft(this.session) < seats) return
    this.move({ held: seats, sold: 0 })
    this.registrations.push(registration({ seats, heldSince: this.now }))
  }

  renew(one: RegistrationState): void {
    try {
      this.move(seatsForRenewal(one, this.session, [], this.now))
      one.status = 'held'
      one.holds += 1
    } catch {
      // Rejected: the invariants show that nothing changed.
    }
  }

  end(one: RegistrationState): void {
    const change = endHold(one)
    if (!change) return
    this.move(change)
    one.status = 'expired'
  }

  pay(one: RegistrationState, paymentId: string): void {
    const known = this.payment(paymentId)
    const outcome = settlePayment(one, this.session, known, [], this.now)
    known.completed = true
    known.outcomes.push(outcome.kind)
    if (outcome.kind === 'nothing') return
    this.move(outcome.seats)
    one.status = ({ confirm: 'confirmed', reject: 'rejected', cancel: 'cancelled' } as const)[outcome.kind]
    one.paymentId = paymentId
  }

  refund(one: RegistrationState, paymentId: string): void {
    const known = this.payment(paymentId)
    const isOver = endsRegistration(one, paymentId, known)
    known.refunded = true
    if (!isOver) return
    this.move({ held: 0, sold: -one.seats })
    one.status = 'cancelled'
  }

  seatsOf(...statuses: RegistrationState['status'][]): number {
    return this.registrations.filter((one) => statuses.includes(one.status)).reduce((sum, one) => sum + one.seats, 0)
  }

  /** Wrong counts, and payments that were settled twice. */
  faults(): string[] {
    const { capacity, held, sold } = this.session
    const faults: string[] = []
    if (held !== this.seatsOf('held')) faults.push(`${held} held, of ${this.seatsOf('held')}`)
    const paid = this.seatsOf('confirmed', 'waiver_signed')
    if (sold !== paid) faults.push(`${sold} sold, of ${paid}`)
    if (held + sold > capacity) faults.push(`${held} held and ${sold} sold of ${capacity}`)
    for (const [id, { outcomes }] of this.payments) {
      if (outcomes.filter((outcome) => outcome !== 'nothing').length > 1) faults.push(`${id}: ${outcomes.join()}`)
    }
    return faults
  }
}

const target = fc.nat({ max: 30 })
const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('hold' as const), seats: fc.integer({ min: 1, max: 10 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('pay' as const, 'refund' as const),
      target,
      payment: fc.nat({ max: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('end' as const, 'renew' as const, 'sign' as const), target }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 30 }) }) },
)

function run(world: World, step: typeof command extends fc.Arbitrary<infer Step> ? Step : never): void {
  if (step.do === 'hold') return world.hold(step.seats)
  if (step.do === 'wait') {
    world.now = world.now.add({ hours: step.hours })
    return
  }
  const index = world.registrations.length === 0 ? -1 : step.target % world.registrations.length
  const one = world.registrations[index]
  if (!one) return
  if (step.do === 'pay') world.pay(one, `${index}:${step.payment}`)
  else if (step.do === 'refund') world.refund(one, `${index}:${step.payment}`)
  else if (step.do === 'end') world.end(one)
  else if (step.do === 'renew') world.renew(one)
  else if (one.status === 'confirmed') one.status = 'waiver_signed'
}

describe('seats', () => {
  it('are counted correctly and never sold twice, in any order of events', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), fc.array(command, { maxLength: 60 }), (capacity, steps) => {
        const world = new World(capacity)
        for (const step of steps) {
          run(world, step)
          expect(world.faults()).toEqual([])
        }
      }),
      { numRuns: 500 },
    )
  })

  it('left are the capacity minus held, sold and set aside, and never negative', () => {
    const count = fc.nat({ max: 1000 })
    fc.assert(
      fc.property(count, count, count, count, (capacity, held, sold, setAside) => {
        const left = seatsLeft({ capacity, held, sold, setAside })
        const taken = held + sold + setAside
        expect(left).toBe(capacity > taken ? capacity - taken : 0)
      }),
    )
  })
})

describe('isOffered', () => {
  it.each([
    ['2027-06-11T22:59:59Z', '2027-06-11', '16:00', true],
    ['2027-06-11T23:00:00Z', '2027-06-11', '16:00', false],
    ['2027-06-11T23:30:00Z', '2027-06-11', '16:00', false],
    ['2027-01-08T01:00:00Z', '2027-01-08', '16:00', true],
    ['2027-01-09T01:00:00Z', '2027-01-08', '16:00', false],
    ['2027-01-01T07:59:59Z', '2027-01-01', '00:00', true],
    ['2027-01-01T08:00:00.500Z', '2027-01-01', '00:00', false],
  ])('at %s a class on %s at %s Pacific: %s', (now, date, time, offered) => {
    const startsAt = Temporal.PlainDate.from(date)
      .toZonedDateTime({ timeZone: 'America/Los_Angeles', plainTime: time })
      .toInstant()
    expect(isOffered({ status: 'open', startsAt }, Temporal.Instant.from(now))).toBe(offered)
  })

  it('is false for a cancelled session', () => {
    expect(isOffered(session({ status: 'cancelled' }), before)).toBe(false)
  })
})

describe('isTooSmall', () => {
  const ofWeek = (differences: Partial<ClassSessionState>) => ({
    ...session({ startsAt: Temporal.Instant.from('2026-11-07T00:00:00Z'), ...differences }),
    timeZone: 'America/Los_Angeles',
  })
  // 4 PM on November 6, and one week earlier, when California was on daylight saving time.
  const weekBefore = Temporal.Instant.from('2026-10-30T23:00:00Z')

  it('applies from a week before the class, by its local time, until it begins', () => {
    const small = ofWeek({ sold: 4 })
    expect(isTooSmall(small, weekBefore.subtract({ seconds: 1 }))).toBe(false)
    expect(isTooSmall(small, weekBefore)).toBe(true)
    expect(isTooSmall(small, small.startsAt.subtract({ seconds: 1 }))).toBe(true)
    expect(isTooSmall(small, small.startsAt)).toBe(false)
  })

  it.each([
    [{ sold: 0 }, true],
    [{ sold: 4, held: 6 }, true],
    [{ sold: 5 }, false],
    [{ sold: 3, capacity: 3 }, false],
    [{ sold: 2, capacity: 3 }, true],
    [{ sold: 0, capacity: 0 }, false],
    [{ sold: 0, status: 'cancelled' }, false],
  ] satisfies [Partial<ClassSessionState>, boolean][])('for %j is %s', (differences, small) => {
    expect(isTooSmall(ofWeek(differences), weekBefore)).toBe(small)
  })
})

describe('a payment', () => {
  it('has the same outcome whether it or its full refund arrives first, and however often each arrives', () => {
    const events = fc
      .array(fc.constantFrom('pay' as const, 'refund' as const), { minLength: 2, maxLength: 8 })
      .filter((list) => list.includes('pay') && list.includes('refund'))
    fc.assert(
      fc.property(events, fc.constantFrom('held' as const, 'expired' as const), (list, from) => {
        const world = new World(10)
        world.hold(2)
        const [one] = world.registrations
        if (!one) throw new Error('nothing was held')
        if (from === 'expired') world.end(one)
        for (const event of list) world[event](one, 'p')
        expect(world.faults()).toEqual([])
        expect(one.status).toBe('cancelled')
        expect(seatsLeft(world.session)).toBe(10)
      }),
    )
  })

  it('confirms a hold that was made in time, even if the class has begun', () => {
    const outcome = settlePayment(registration(), session({ held: 1 }), noPayment, [], start.add({ minutes: 5 }))
    expect(outcome).toEqual({ kind: 'confirm', seats: { held: -1, sold: 1 }, endedIds: [] })
  })

  it('takes free seats again if the hold has expired', () => {
    const outcome = settlePayment(
      registration({ status: 'expired', seats: 3 }),
      session({ sold: 7 }),
      noPayment,
      [],
      before,
    )
    expect(outcome).toEqual({ kind: 'confirm', seats: { held: 0, sold: 3 }, endedIds: [] })
  })

  it.each([
    ['class_full', registration({ status: 'expired', seats: 4 }), session({ sold: 7 }), before],
    ['class_started', registration({ status: 'expired' }), session(), start],
    ['registration_cancelled', registration({ status: 'cancelled' }), session(), before],
    ['registration_cancelled', registration({ status: 'expired' }), session({ status: 'cancelled' }), before],
    ['class_full', registration({ status: 'rejected', rejectionReason: 'class_full' }), session(), before],
  ] as const)('is rejected: %s', (reason, one, classSession, now) => {
    expect(settlePayment(one, classSession, noPayment, [], now)).toEqual({
      kind: 'reject',
      reason,
      seats: { held: 0, sold: 0 },
      duplicateOf: null,
    })
  })

  it('releases the held seats if the class was cancelled', () => {
    expect(settlePayment(registration({ seats: 2 }), session({ status: 'cancelled' }), noPayment, [], before)).toEqual({
      kind: 'reject',
      reason: 'registration_cancelled',
      seats: { held: -2, sold: 0 },
      duplicateOf: null,
    })
  })

  it.each(['confirmed', 'waiver_signed'] as const)('does nothing to a registration that is %s', (status) => {
    expect(
      settlePayment(registration({ status, paymentId: 'a' }), session({ sold: 1 }), noPayment, [], before),
    ).toEqual({
      kind: 'nothing',
    })
  })
})

describe('a child that has two registrations for one class and date', () => {
  function other(differences: Partial<FamilyRegistration> = {}): FamilyRegistration {
    return {
      registrationId: 'other',
      status: 'held',
      heldUntil: before.add({ minutes: 36 }),
      guardianName: 'Maren Holt',
      email: 'maren.holt@example.com',
      children: [{ childName: ' IVO ', childAge: 10 }],
      address: { addressLine1: '14 Alder Way', addressLine2: '', city: 'San Mateo', state: 'CA', zipCode: '94401' },
      seats: 1,
      separate: false,
      ...differences,
    }
  }
  const settle = (status: RegistrationState['status'], classSession: ClassSessionState, one: FamilyRegistration) =>
    settlePayment(registration({ status }), classSession, noPayment, [one], before)

  it.each(['held', 'expired'] as const)('keeps the paid one if another one that is %s is paid as well', (status) => {
    for (const paid of ['confirmed', 'waiver_signed'] as const) {
      expect(settle(status, session({ sold: 1 }), other({ status: paid }))).toMatchObject({
        kind: 'reject',
        duplicateOf: 'other',
        seats: { held: status === 'held' ? -1 : 0, sold: 0 },
      })
    }
  })

  it('gives the seat of the held one to the paid one, even if it is the last seat', () => {
    const full = session({ capacity: 1, held: 1 })
    expect(settle('expired', full, other())).toEqual({
      kind: 'confirm',
      seats: { held: 0, sold: 1 },
      endedIds: ['other'],
    })
    expect(settle('expired', session({ capacity: 1, sold: 1 }), other({ status: 'held', seats: 0 }))).toMatchObject({
      kind: 'reject',
      reason: 'class_full',
      duplicateOf: null,
    })
  })

  it('keeps both if each was requested separately, or if they are for different children', () => {
    const separate = registration({ separate: true, status: 'expired' })
    for (const one of [
      other({ status: 'confirmed', separate: true }),
      other({ status: 'confirmed', children: [{ childName: 'Noa', childAge: 7 }] }),
    ]) {
      expect(settlePayment(separate, session({ sold: 1 }), noPayment, [one], before).kind).toBe('confirm')
    }
    expect(
      settlePayment(separate, session({ sold: 1 }), noPayment, [other({ status: 'confirmed' })], before).kind,
    ).toBe('reject')
  })

  it('cannot renew the expired one while the other one is active', () => {
    for (const one of [other(), other({ status: 'confirmed' }), other({ separate: true })]) {
      expect(() =>
        seatsForRenewal(registration({ status: 'expired', separate: true }), session({ held: 1 }), [one], before),
      ).toThrow(expect.objectContaining({ code: 'already_registered' }))
    }
  })

  it('may still pay the held one, unless the other one is paid', () => {
    expect(seatsForRenewal(registration(), session({ held: 2 }), [other()], before)).toEqual({ held: 0, sold: 0 })
    expect(() =>
      seatsForRenewal(registration(), session({ held: 1 }), [other({ status: 'confirmed' })], before),
    ).toThrow(expect.objectContaining({ code: 'already_registered' }))
  })
})

describe('the state of a payment', () => {
  const paid = { status: 'waiver_signed', paidAmount: 40_000 } as const
  const changeId = 'a change'
  const refund = (
    amount: number,
    how: { refunded?: boolean; failed?: boolean; changeId?: string; underWayTotal?: number } = {},
  ) => ({
    amount,
    refunded: false,
    failed: false,
    ...how,
  })
  it.each([
    ['paid', [], []],
    ['paid', [refund(39_999, { refunded: true })], []],
    ['refund_under_way', [refund(40_000)], []],
    ['refund_under_way', [refund(30_000, { refunded: true }), refund(10_000)], []],
    ['refunded', [refund(30_000, { refunded: true }), refund(10_000, { refunded: true })], []],
    ['paid', [refund(40_000, { failed: true })], []],
    ['paid', [refund(40_000, { changeId })], []],
    // The family cancels one child after a gift, and the other one stays.
    ['paid', [refund(20_000, { underWayTotal: 20_000 }), refund(20_000, { changeId })], []],
    // An operator gives back what a cancellation has left.
    ['refund_under_way', [refund(20_000, { changeId }), refund(20_000, { underWayTotal: 40_000 })], []],
    // An operator makes good what the bank returned of a cancellation.
    [
      'paid',
      [
        refund(20_000, { underWayTotal: 20_000 }),
        refund(20_000, { changeId, failed: true }),
        refund(20_000, { underWayTotal: 40_000 }),
      ],
      [],
    ],
    ['disputed', [], ['won', 'open']],
    ['lost', [], ['lost']],
    ['won', [], ['won']],
  ] as const)('is %s with the refunds %j and disputes %j', (state, refunds, disputes) => {
    expect(paymentStateOf(paid, { refunds: [...refunds], disputes: disputes.map((status) => ({ status })) })).toBe(
      state,
    )
  })

  it('is a failed refund if the registration is already cancelled', () => {
    const returned = { refunds: [refund(40_000, { refunded: true, failed: true })], disputes: [] }
    expect(paymentStateOf({ ...paid, status: 'cancelled' }, returned)).toBe('refund_failed')
  })
})

describe('a full refund', () => {
  it.each(['held', 'expired', 'rejected', 'cancelled'] as const)(
    'changes nothing for a registration that is %s',
    (status) => {
      expect(
        endsRegistration(registration({ status, paymentId: 'a' }), 'a', { completed: true, refunded: false }),
      ).toBe(false)
    },
  )

  it('of another payment changes nothing', () => {
    expect(endsRegistration(registration({ status: 'confirmed', paymentId: 'a' }), 'b', noPayment)).toBe(false)
  })
})

describe('renewHold', () => {
  it.each(['confirmed', 'waiver_signed', 'rejected', 'cancelled'] as const)(
    'rejects a registration that is %s',
    (status) => {
      expect(() => seatsForRenewal(registration({ status }), session(), [], before)).toThrow(
        expect.objectContaining({ code: 'registration_closed' }),
      )
    },
  )

  it('rejects a renewal after the class has begun, even of an active hold', () => {
    for (const status of ['held', 'expired'] as const) {
      expect(() => seatsForRenewal(registration({ status }), session(), [], start)).toThrow(
        expect.objectContaining({ code: 'class_not_offered' }),
      )
    }
  })

  it('takes all seats or none', () => {
    expect(seatsForRenewal(registration({ status: 'expired', seats: 2 }), session({ sold: 8 }), [], before)).toEqual({
      held: 2,
      sold: 0,
    })
    expect(() =>
      seatsForRenewal(registration({ status: 'expired', seats: 2 }), session({ sold: 9 }), [], before),
    ).toThrow(
      expect.objectContaining({ code: 'class_full', message: 'This class is full. Please choose another date.' }),
    )
  })
})

describe('the end of a checkout attempt', () => {
  const renewed = registration({ holds: 2, heldSince: before })

  it('ends the first hold, whether or not the attempt is known', () => {
    expect(isAttemptOfHold(registration(), 'a1')).toBe(true)
    expect(isAttemptOfHold(registration({ attemptId: 'a1' }), 'a1')).toBe(true)
  })

  it('never ends a hold with a newer attempt, nor a renewed one without a known attempt', () => {
    expect(isAttemptOfHold(registration({ attemptId: 'a2' }), 'a1')).toBe(false)
    expect(isAttemptOfHold(renewed, 'a1')).toBe(false)
  })

  it('does not end a renewed hold if the attempt is older and its creation arrives late', () => {
    expect(isNewestAttempt(renewed, before.subtract({ minutes: 1 }))).toBe(false)
    expect(isNewestAttempt(renewed, before.add({ seconds: 1 }))).toBe(true)
  })

  it('ends a renewed hold if its page was opened for it, whenever the attempt was created', () => {
    expect(isNewestAttempt(renewed, before.subtract({ minutes: 1 }), true)).toBe(true)
    const bound = { ...renewed, attemptId: 'a2', attemptCreatedAt: before }
    expect(isNewestAttempt(bound, before.subtract({ minutes: 1 }), true)).toBe(false)
  })

  it('depends on the newest attempt, in whichever order they arrive', () => {
    const known = registration({ attemptId: 'a2', attemptCreatedAt: before.add({ minutes: 2 }) })
    expect(isNewestAttempt(known, before.add({ minutes: 1 }))).toBe(false)
    expect(isNewestAttempt(known, before.add({ minutes: 3 }))).toBe(true)
  })
})

describe('isHeldLongEnough', () => {
  it.each([
    ['held', 5, false, true],
    ['held', 4, false, false],
    // An opened page may have expired, and a new one lives for 31 minutes.
    ['held', 31, true, true],
    ['held', 30, true, false],
    ['expired', null, false, false],
    ['confirmed', null, true, false],
  ] as const)('for seats that are %s for %s minutes, opened: %s, is %s', (status, minutes, opened, expected) => {
    const heldUntil = minutes === null ? null : before.add({ minutes })
    expect(isHeldLongEnough({ status, heldUntil, openedAt: opened ? before : null }, before)).toBe(expected)
  })
})

describe('a waiver', () => {
  const paid: Signable = {
    registrationId: 'r1',
    status: 'confirmed',
    paymentState: 'paid',
    guardianName: 'Maren Holt',
    email: 'Maren.Holt@example.com',
    children: [{ childName: 'Ivo' }, { childName: 'Noa' }],
    classType: 'basic',
    startDate: '2027-01-08',
    waiver: null,
  }
  const signature: Signature = {
    guardianName: 'Maren Holt',
    childName: 'Ivo',
    email: 'maren.holt@EXAMPLE.com',
    classType: 'basic',
    startDate: '2027-01-08',
    documentSha256: null,
  }
  const signed = {
    ...paid,
    registrationId: 'r0',
    status: 'waiver_signed' as const,
    waiver: { guardianName: 'Maren Holt', documentSha256: 'd1' },
  }

  it('is matched with the oldest paid registration that is unsigned', () => {
    const held = { ...paid, registrationId: 'held', status: 'held' as const }
    const second = { ...paid, registrationId: 'r2' }
    expect(chooseSignable([held, signed, paid, second], signature).registrationId).toBe('r1')
    expect(chooseSignable([held, signed], signature).registrationId).toBe('r0')
    expect(chooseSignable([paid], { ...signature, startDate: '' }).registrationId).toBe('r1')
  })

  it('matches a name in another Unicode form', () => {
    const zoe = { ...paid, guardianName: 'Zo\u00eb Holt' }
    expect(checkSignature(zoe, { ...signature, guardianName: 'Zoe\u0308 Holt' }, ['d1'])).toBe('sign')
  })

  it.each([
    ['another child', { childName: 'Someone' }],
    ['another address', { email: 'other@example.com' }],
    ['another class', { classType: 'advanced' }],
    ['another date', { startDate: '2027-01-09' }],
  ])('for %s matches no registration', (_, difference) => {
    expect(() => chooseSignable([paid, signed], { ...signature, ...difference })).toThrow(
      expect.objectContaining({ code: 'registration_not_found' }),
    )
  })

  it.each(['held', 'expired', 'rejected', 'cancelled'] as const)(
    'is rejected for a registration that is %s',
    (status) => {
      const one = chooseSignable([{ ...paid, status }], signature)
      expect(() => checkSignature(one, signature, ['d1'])).toThrow(
        expect.objectContaining({ code: 'registration_not_paid' }),
      )
    },
  )

  it('with the same content is a repetition, even after the document was replaced', () => {
    expect(checkSignature(signed, signature, ['d1'])).toBe('repeat')
    expect(checkSignature(signed, { ...signature, documentSha256: 'd1' }, ['d2'])).toBe('repeat')
  })

  it('with different content is rejected', () => {
    const other = { ...signature, guardianName: 'Someone Else' }
    expect(() => checkSignature(signed, other, ['d1'])).toThrow(
      expect.objectContaining({ code: 'waiver_already_signed' }),
    )
    expect(() => checkSignature(signed, { ...signature, documentSha256: 'd2' }, ['d1'])).toThrow(
      expect.objectContaining({ code: 'waiver_already_signed' }),
    )
    expect(() => checkSignature(paid, other, ['d1'])).toThrow(
      expect.objectContaining({ code: 'registration_not_found' }),
    )
  })

  it('for an old document is rejected', () => {
    expect(() => checkSignature(paid, { ...signature, documentSha256: 'd0' }, ['d1'])).toThrow(
      expect.objectContaining({
        code: 'waiver_document_changed',
        message: 'The waiver was updated. Please read it again.',
      }),
    )
  })
})

describe('a signed PDF that cannot be made', () => {
  it('is retried without end, at growing intervals of up to an hour', () => {
    const minutes = [1, 2, 3, 4, 5, 6, 7, 1_000].map((attempts) => pdfRetryDelay(attempts).total('minutes'))
    expect(minutes).toEqual([5 / 60, 0.5, 2, 10, 30, 60, 60, 60])
  })
})
