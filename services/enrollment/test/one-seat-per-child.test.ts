import { randomUUIDv7 } from 'node:crypto'
import { paymentCompleted } from '@robokids/contracts/billing'
import {
  registrationConfirmed,
  registrationExpired,
  registrationRejected,
  type Registration,
} from '@robokids/contracts/enrollment'
import type { CloudEvent } from '@robokids/contracts/event'
import { newEvent } from '@robokids/runtime/outbox'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isoTime } from '../src/iso-time.ts'
import { hasSeats } from '../src/rules.ts'
import { adminHeaders, codeOf, startEnrollment, requestFor, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())

type Session = Awaited<ReturnType<EnrollmentFixture['session']>>

const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('submit' as const, 'replace' as const), of: fc.nat(9) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('page' as const, 'pay' as const, 'pay' as const, 'expire' as const, 'renew' as const),
      of: fc.nat(9),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('deliver' as const, 'redeliver' as const), of: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('another family' as const), of: fc.nat(9) }) },
)
type Command = typeof command extends fc.Arbitrary<infer One> ? One : never

/** A family with one child that tries in every way to get a seat on either date. */
class Family {
  readonly sessions: Session[]
  readonly #email = `${randomUUIDv7()}@example.com`
  readonly ids: string[] = []
  /** Payment events that are not delivered yet, and those that are. */
  readonly #pending: CloudEvent[] = []
  readonly #delivered: CloudEvent[] = []
  readonly paid = new Map<string, number>()

  constructor(sessions: Session[]) {
    this.sessions = sessions
  }

  #sessionOf(index: number): Session {
    const session = this.sessions[index % this.sessions.length]
    if (!session) throw new Error('no session')
    return session
  }

  async #submit(of: number, replaces?: string): Promise<void> {
    const id = randomUUIDv7()
    const request = requestFor(this.#sessionOf(of), {
      id,
      email: this.#email,
      city: `City ${this.ids.length}`,
      unlessRegistered: true,
      ...(replaces === undefined ? {} : { replaces }),
    })
    const answer = await fixture.register(request)
    if (answer.status === 200) this.ids.push(id)
    else expect(['already_registered', 'already_paid', 'class_full']).toContain(codeOf(answer))
  }

  #pay(registrationId: string): void {
    const paidAt = isoTime(Temporal.Now.instant())
    const money = { amount: 40_000, currency: 'usd' as const, receiptNumber: 'RK-000042', paidAt }
    const ids = { attemptId: randomUUIDv7(), registrationId, paymentId: randomUUIDv7() }
    this.#pending.push(newEvent(paymentCompleted, registrationId, { ...ids, ...money }))
    this.paid.set(registrationId, (this.paid.get(registrationId) ?? 0) + 1)
  }

  async #deliver(event: CloudEvent | undefined): Promise<void> {
    if (!event) return
    await fixture.redeliver(event)
    this.#delivered.push(event)
  }

  async run({ do: what, of }: Command): Promise<void> {
    const id = this.ids.at(of % Math.max(1, this.ids.length))
    if (what === 'submit') return this.#submit(of)
    if (what === 'another family') {
      await fixture.register(requestFor(this.#sessionOf(of), { email: `${randomUUIDv7()}@example.com` }))
      return
    }
    if (what === 'deliver') return this.#deliver(this.#pending.splice(of % Math.max(1, this.#pending.length), 1)[0])
    if (what === 'redeliver') return this.#deliver(this.#delivered.at(of % Math.max(1, this.#delivered.length)))
    if (id === undefined) return
    if (what === 'replace') return this.#submit(of % 3, id)
    if (what === 'page') await fixture.checkoutCreated(id)
    // Billing lets each page be paid once.
    else if (what === 'pay') {
      if (!this.paid.has(id)) this.#pay(id)
    } else if (what === 'expire') await fixture.call('POST', `/registrations/${id}/expire`, {}, adminHeaders)
    else await fixture.call('POST', `/registrations/${id}/hold`)
  }

  /** Delivers all pending events, and the earlier ones again. */
  async settle(): Promise<void> {
    await Promise.all([...this.#pending.splice(0), ...this.#delivered].map((event) => fixture.redeliver(event)))
  }

  all(): Promise<Registration[]> {
    return Promise.all(this.ids.map((id) => fixture.read(id)))
  }
}

async function expectSeatsInBounds(session: Session): Promise<void> {
  const { held, sold, capacity } = await fixture.counts(session.id)
  expect(held + sold).toBeLessThanOrEqual(capacity)
  expect(Math.min(held, sold)).toBeGreaterThanOrEqual(0)
}

const isConfirmed = ({ status }: Registration) => status === 'confirmed'

describe('a child with several registrations for one class and date', () => {
  it('has one active registration, and every other payment is rejected once, in any order of requests and events', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 3, maxLength: 14 }),
        fc.integer({ min: 1, max: 3 }),
        async (commands, capacity) => {
          const sessions = [await fixture.session({ capacity }), await fixture.session({ capacity })]
          const family = new Family(sessions)
          await family.run({ do: 'submit', of: 0 })
          for (const one of commands) {
            await family.run(one)
            const all = await family.all()
            for (const session of sessions) {
              await expectSeatsInBounds(session)
              const active = all.filter((other) => other.classSessionId === session.id && hasSeats(other.status))
              expect(active.length).toBeLessThanOrEqual(1)
            }
          }
          await family.settle()
          const all = await family.all()
          for (const session of sessions) {
            await expectSeatsInBounds(session)
            const here = all.filter((one) => one.classSessionId === session.id)
            const [kept, ...more] = here.filter(isConfirmed)
            expect(more).toEqual([])
            for (const one of here) {
              const { registrationId, status } = one
              const rejections = await fixture.publishedEvents(registrationRejected, registrationId)
              const confirmations = await fixture.publishedEvents(registrationConfirmed, registrationId)
              if (!family.paid.has(registrationId)) {
                expect([confirmations.length, rejections.length]).toEqual([0, 0])
                expect(kept ? ['expired'] : ['held', 'expired']).toContain(status)
              } else if (one === kept) expect([confirmations.length, rejections.length]).toEqual([1, 0])
              else {
                expect([status, confirmations.length, rejections.length]).toEqual(['rejected', 0, 1])
                const [rejection] = rejections
                if (rejection?.duplicateOf != null) expect(rejection.duplicateOf).toBe(kept?.registrationId)
                else expect(rejection?.reason).toBe('class_full')
              }
            }
            const { held, sold } = await fixture.counts(session.id)
            expect(sold).toBe(kept ? 1 : 0)
            expect(held).toBeGreaterThanOrEqual(here.filter(({ status }) => status === 'held').length)
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  it('keeps the first of two paid ones, and rejects the other one with a reference to it', async () => {
    const session = await fixture.session()
    const family = { email: `${randomUUIDv7()}@example.com`, unlessRegistered: true }
    const first = await fixture.hold(session, family)
    await fixture.call('POST', `/registrations/${first.registrationId}/expire`, {}, adminHeaders)
    const second = await fixture.enroll(session, family)
    await fixture.pay(first.registrationId)
    expect(await fixture.read(first.registrationId)).toMatchObject({ status: 'rejected' })
    expect(await fixture.publishedEvents(registrationRejected, first.registrationId)).toMatchObject([
      { duplicateOf: second.registrationId },
    ])
    expect((await fixture.read(second.registrationId)).status).toBe('confirmed')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it('releases an unpaid hold if an earlier page was paid', async () => {
    const session = await fixture.session({ capacity: 1 })
    const family = { email: `${randomUUIDv7()}@example.com`, unlessRegistered: true }
    const first = await fixture.hold(session, family)
    await fixture.call('POST', `/registrations/${first.registrationId}/expire`, {}, adminHeaders)
    const second = await fixture.hold(session, family)
    await fixture.pay(first.registrationId)
    expect((await fixture.read(first.registrationId)).status).toBe('confirmed')
    expect((await fixture.read(second.registrationId)).status).toBe('expired')
    expect(await fixture.publishedEvents(registrationExpired, second.registrationId)).toHaveLength(1)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it('takes one seat when five tabs renew, register and pay concurrently', async () => {
    const session = await fixture.session({ capacity: 5 })
    const family = { email: `${randomUUIDv7()}@example.com`, unlessRegistered: true }
    const old = await fixture.hold(session, family)
    await fixture.call('POST', `/registrations/${old.registrationId}/expire`, {}, adminHeaders)
    const requests = Array.from({ length: 3 }, (_, index) => requestFor(session, { ...family, city: `City ${index}` }))
    await Promise.all([
      ...requests.map((request) => fixture.register(request)),
      fixture.call('POST', `/registrations/${old.registrationId}/hold`),
      fixture.pay(old.registrationId),
    ])
    expect((await fixture.read(old.registrationId)).status).toBe('confirmed')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })
})
