import { randomUUIDv7 } from 'node:crypto'
import { membershipCheckoutSchema } from '@robokids/contracts/billing'
import { userConfirmed } from '@robokids/contracts/identity'
import { eventually } from '@robokids/test/bed'
import { eq, inArray, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memberships } from '../../src/schema.ts'
import { sessionIdOf, BillingFixture } from '../fixture.ts'

let fixture: BillingFixture
beforeAll(async () => {
  fixture = await BillingFixture.startIsolated()
})
afterAll(() => fixture.close())

interface Page {
  attemptId: string
  checkoutUrl: string
  /** The owner: an account, or an address without an account. */
  person: string
}

describe('a person who requests memberships', () => {
  it(
    'has one open checkout at a time and one membership in the end, in any order of requests and payments',
    { timeout: 240_000 },
    async () => {
      const asks = fc.array(
        fc.record({
          account: fc.constantFrom(null, 0, 1),
          address: fc.integer({ min: 0, max: 3 }),
          plan: fc.constantFrom('monthly', 'yearly'),
          classDate: fc.constantFrom('2027-01-08', '2027-01-09'),
          /** Whether the checkout is paid immediately, with or without its webhook. */
          pays: fc.constantFrom(false, false, true),
        }),
        { minLength: 3, maxLength: 7 },
      )
      for (const taken of fc.sample(asks, 20)) {
        const accounts: string[] = [randomUUIDv7(), randomUUIDv7()]
        // The first two addresses belong to the accounts; the others are unverified.
        const addresses = [0, 1, 2, 3].map(() => `maren.${randomUUIDv7()}@example.com`)
        for (const [index, userId] of accounts.entries()) {
          await fixture.bed.bus.publish(userConfirmed, userId, {
            poolId: 'us-west-1_RoboKids',
            userId,
            username: 'user_1',
            email: addresses[index]!,
            emailVerified: true,
            verifiedEmail: addresses[index]!,
            givenName: 'Maren',
          })
        }
        await eventually(async () => {
          const { rows } = await fixture.service.context.db.execute(
            sql`select from account_states where user_id in ${accounts}`,
          )
          return rows.length === 2
        })
        const pages: Page[] = []
        for (const { account, address, plan, classDate, pays } of taken) {
          const email = addresses[address]!
          const ownerId = account === null ? null : accounts[account]!
          const answer = await fixture.call('POST', '/membership-checkouts', { email, plan, classDate, ownerId })
          if (answer.status === 200) {
            const { attemptId, checkoutUrl } = membershipCheckoutSchema.parse(answer.body)
            pages.push({ attemptId, checkoutUrl, person: ownerId ?? accounts[address] ?? email })
            if (pays) await fixture.pay({ checkoutUrl })
          } else expect(answer).toMatchObject({ status: 409, body: { code: 'already_member' } })
          const open = new Map<string, Set<string>>()
          for (const page of pages) {
            const session = await fixture.stripe.checkout.sessions.retrieve(sessionIdOf(page))
            if (session.status === 'open') open.set(page.person, (open.get(page.person) ?? new Set()).add(session.id))
          }
          for (const sessions of open.values()) expect(sessions.size).toBe(1)
        }
        for (const page of pages) await fixture.pay(page)
        await fixture.simulator.deliveriesIdle()
        const ids = pages.map(({ attemptId }) => attemptId)
        const all = await fixture.service.context.db
          .select()
          .from(memberships)
          .where(inArray(memberships.attemptId, ids))
        const running = all.filter(({ status }) => status === 'active')
        const personOf = (id: string) => pages.find(({ attemptId }) => attemptId === id)?.person
        const persons = running.map(({ attemptId }) => personOf(attemptId))
        expect(new Set(persons).size).toBe(persons.length)
        // No payment had to be refunded.
        expect(all.length).toBe(running.length)
        for (const { attemptId, userId } of running) {
          const person = personOf(attemptId)
          expect(userId).toBe(accounts.find((id) => id === person) ?? null)
        }
        expect(await fixture.service.context.db.$count(memberships, eq(memberships.status, 'duplicate'))).toBe(0)
      }
    },
  )
})
