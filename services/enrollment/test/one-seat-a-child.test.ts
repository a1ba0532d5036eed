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
import { isoTime } from '../src/read-registrations.ts'
import { stands } from '../src/rules.ts'
import { adminHeaders, codeOf, openSchool, requestFor, type School } from './school.ts'

let school: School
beforeAll(async () => {
  school = await openSchool()
})
afterAll(() => school.bed.stop())

type Session = Awaited<ReturnType<School['session']>>

const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('submit' as const, 'replace' as const), of: fc.nat(9) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('page' as const, 'pay' as const, 'pay' as const, 'expire' as const, 'hold again' as const),
      of: fc.nat(9),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('hear' as const, 'hear again' as const), of: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('another family' as const), of: fc.nat(9) }) },
)
type Command = typeof command extends fc.Arbitrary<infer One> ? One : never

/** One family with one child, which wants a seat of either date by whatever it takes. */
class Family {
  readonly sessions: Session[]
  readonly #email = `${randomUUIDv7()}@example.com`
  readonly ids: string[] = []
  /** What was paid and not heard of yet, and what was. */
  readonly #coming: CloudEvent[] = []
  readonly #heard: CloudEvent[] = []
  readonly paid = new Map<string, number>()

  constructor(sessions: Session[]) {
    this.sessions = sessions
  }

  #sessionOf(index: number): Session {
    const session = this.sessions[index % this.sessions.length]
    if (!session) throw new Error('there is no class')
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
    const answer = await school.register(request)
    if (answer.status === 200) this.ids.push(id)
    else expect(['already_registered', 'already_paid', 'class_full']).toContain(codeOf(answer))
  }

  #pay(registrationId: string): void {
    const paidAt = isoTime(Temporal.Now.instant())
    const money = { amount: 40_000, currency: 'usd' as const, receiptNumber: 'RK-000042', paidAt }
    const ids = { attemptId: randomUUIDv7(), registrationId, paymentId: randomUUIDv7() }
    this.#coming.push(newEvent(paymentCompleted, registrationId, { ...ids, ...money }))
    this.paid.set(registrationId, (this.paid.get(registrationId) ?? 0) + 1)
  }

  async #hear(event: CloudEvent | undefined): Promise<void> {
    if (!event) return
    await school.hearAgain(event)
    this.#heard.push(event)
  }

  async run({ do: what, of }: Command): Promise<void> {
    const id = this.ids.at(of % Math.max(1, this.ids.length))
    if (what === 'submit') return this.#submit(of)
    if (what === 'another family') {
      await school.register(requestFor(this.#sessionOf(of), { email: `${randomUUIDv7()}@example.com` }))
      return
    }
    if (what === 'hear') return this.#hear(this.#coming.splice(of % Math.max(1, this.#coming.length), 1)[0])
    if (what === 'hear again') return this.#hear(this.#heard.at(of % Math.max(1, this.#heard.length)))
    if (id === undefined) return
    if (what === 'replace') return this.#submit(of % 3, id)
    if (what === 'page') await school.checkoutCreated(id)
    // A page pays once, as billing sees to.
    else if (what === 'pay') {
      if (!this.paid.has(id)) this.#pay(id)
    } else if (what === 'expire') await school.call('POST', `/registrations/${id}/expire`, {}, adminHeaders)
    else await school.call('POST', `/registrations/${id}/hold`)
  }

  /** All that was paid is heard of in the end, also what was heard of before. */
  async settle(): Promise<void> {
    await Promise.all([...this.#coming.splice(0), ...this.#heard].map((event) => school.hearAgain(event)))
  }

  all(): Promise<Registration[]> {
    return Promise.all(this.ids.map((id) => school.read(id)))
  }
}

async function expectSeatsInBounds(session: Session): Promise<void> {
  const { held, sold, capacity } = await school.counts(session.id)
  expect(held + sold).toBeLessThanOrEqual(capacity)
  expect(Math.min(held, sold)).toBeGreaterThanOrEqual(0)
}

const isConfirmed = ({ status }: Registration) => status === 'confirmed'

describe('a child, a class and a date', () => {
  it('have one registration that stands, and every other payment is rejected once, whatever is sent, held again, paid and heard of when', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 3, maxLength: 14 }),
        fc.integer({ min: 1, max: 3 }),
        async (commands, capacity) => {
          const sessions = [await school.session({ capacity }), await school.session({ capacity })]
          const family = new Family(sessions)
          await family.run({ do: 'submit', of: 0 })
          for (const one of commands) {
            await family.run(one)
            const all = await family.all()
            for (const session of sessions) {
              await expectSeatsInBounds(session)
              const standing = all.filter((other) => other.classSessionId === session.id && stands(other.status))
              expect(standing.length).toBeLessThanOrEqual(1)
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
              const rejections = await school.told(registrationRejected, registrationId)
              const confirmations = await school.told(registrationConfirmed, registrationId)
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
            const { held, sold } = await school.counts(session.id)
            expect(sold).toBe(kept ? 1 : 0)
            expect(held).toBeGreaterThanOrEqual(here.filter(({ status }) => status === 'held').length)
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  it('keep the first of two that are paid, and say of the other one which that is', async () => {
    const session = await school.session()
    const family = { email: `${randomUUIDv7()}@example.com`, unlessRegistered: true }
    const first = await school.hold(session, family)
    await school.call('POST', `/registrations/${first.registrationId}/expire`, {}, adminHeaders)
    const second = await school.enrol(session, family)
    await school.pay(first.registrationId)
    expect(await school.read(first.registrationId)).toMatchObject({ status: 'rejected' })
    expect(await school.told(registrationRejected, first.registrationId)).toMatchObject([
      { duplicateOf: second.registrationId },
    ])
    expect((await school.read(second.registrationId)).status).toBe('confirmed')
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it('let the hold go that waits for its payment where an earlier page was paid', async () => {
    const session = await school.session({ capacity: 1 })
    const family = { email: `${randomUUIDv7()}@example.com`, unlessRegistered: true }
    const first = await school.hold(session, family)
    await school.call('POST', `/registrations/${first.registrationId}/expire`, {}, adminHeaders)
    const second = await school.hold(session, family)
    await school.pay(first.registrationId)
    expect((await school.read(first.registrationId)).status).toBe('confirmed')
    expect((await school.read(second.registrationId)).status).toBe('expired')
    expect(await school.told(registrationExpired, second.registrationId)).toHaveLength(1)
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it('have one seat for five tabs that hold again, send anew and pay at once', async () => {
    const session = await school.session({ capacity: 5 })
    const family = { email: `${randomUUIDv7()}@example.com`, unlessRegistered: true }
    const old = await school.hold(session, family)
    await school.call('POST', `/registrations/${old.registrationId}/expire`, {}, adminHeaders)
    const requests = Array.from({ length: 3 }, (_, index) => requestFor(session, { ...family, city: `City ${index}` }))
    await Promise.all([
      ...requests.map((request) => school.register(request)),
      school.call('POST', `/registrations/${old.registrationId}/hold`),
      school.pay(old.registrationId),
    ])
    expect((await school.read(old.registrationId)).status).toBe('confirmed')
    expect(await school.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })
})
