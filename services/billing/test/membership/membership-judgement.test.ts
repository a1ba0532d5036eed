import { randomUUIDv7 } from 'node:crypto'
import { membershipCheckoutSchema } from '@robokids/contracts/billing'
import { userConfirmed } from '@robokids/contracts/identity'
import { eventually } from '@robokids/test/bed'
import { eq, inArray, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memberships } from '../../src/schema.ts'
import { sessionIdOf, Till } from '../till.ts'

let till: Till
beforeAll(async () => {
  till = await Till.apart()
})
afterAll(() => till.close())

interface Page {
  attemptId: string
  checkoutUrl: string
  /** Whose it is: an account's, or that of an address which no account has. */
  person: string
}

describe('whoever asks to become a member', () => {
  it(
    'has one page that can be paid at a time, and one membership in the end, however it is asked for and paid',
    { timeout: 240_000 },
    async () => {
      const asks = fc.array(
        fc.record({
          account: fc.constantFrom(null, 0, 1),
          address: fc.integer({ min: 0, max: 3 }),
          plan: fc.constantFrom('monthly', 'yearly'),
          classDate: fc.constantFrom('2027-01-08', '2027-01-09'),
          /** Whether the page is paid at once, with its notice or before it. */
          pays: fc.constantFrom(false, false, true),
        }),
        { minLength: 3, maxLength: 7 },
      )
      for (const taken of fc.sample(asks, 20)) {
        const accounts: string[] = [randomUUIDv7(), randomUUIDv7()]
        // The first two addresses are the accounts' own; nobody has proven the others.
        const addresses = [0, 1, 2, 3].map(() => `maren.${randomUUIDv7()}@example.com`)
        for (const [index, userId] of accounts.entries()) {
          await till.bed.bus.publish(userConfirmed, userId, {
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
          const { rows } = await till.service.context.db.execute(
            sql`select from account_states where user_id in ${accounts}`,
          )
          return rows.length === 2
        })
        const pages: Page[] = []
        for (const { account, address, plan, classDate, pays } of taken) {
          const email = addresses[address]!
          const ownerId = account === null ? null : accounts[account]!
          const answer = await till.call('POST', '/membership-checkouts', { email, plan, classDate, ownerId })
          if (answer.status === 200) {
            const { attemptId, checkoutUrl } = membershipCheckoutSchema.parse(answer.body)
            pages.push({ attemptId, checkoutUrl, person: ownerId ?? accounts[address] ?? email })
            if (pays) await till.pay({ checkoutUrl })
          } else expect(answer).toMatchObject({ status: 409, body: { code: 'already_member' } })
          const open = new Map<string, Set<string>>()
          for (const page of pages) {
            const session = await till.stripe.checkout.sessions.retrieve(sessionIdOf(page))
            if (session.status === 'open') open.set(page.person, (open.get(page.person) ?? new Set()).add(session.id))
          }
          for (const sessions of open.values()) expect(sessions.size).toBe(1)
        }
        for (const page of pages) await till.pay(page)
        await till.simulator.deliveriesIdle()
        const ids = pages.map(({ attemptId }) => attemptId)
        const all = await till.service.context.db.select().from(memberships).where(inArray(memberships.attemptId, ids))
        const running = all.filter(({ status }) => status === 'active')
        const personOf = (id: string) => pages.find(({ attemptId }) => attemptId === id)?.person
        const persons = running.map(({ attemptId }) => personOf(attemptId))
        expect(new Set(persons).size).toBe(persons.length)
        // Nothing was paid that had to be given back.
        expect(all.length).toBe(running.length)
        for (const { attemptId, userId } of running) {
          const person = personOf(attemptId)
          expect(userId).toBe(accounts.find((id) => id === person) ?? null)
        }
        expect(await till.service.context.db.$count(memberships, eq(memberships.status, 'duplicate'))).toBe(0)
      }
    },
  )
})
