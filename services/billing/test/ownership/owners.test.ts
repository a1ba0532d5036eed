import { randomUUIDv7 } from 'node:crypto'
import type { MembershipPlan } from '@robokids/contracts/auth'
import {
  foundMembershipSchema,
  membershipCheckoutSchema,
  membershipRefunded,
  subscriptionActivated,
  subscriptionCancelled,
  type MembershipCheckout,
} from '@robokids/contracts/billing'
import { membershipCheckoutExpired } from '@robokids/contracts/billing'
import { userConfirmed, userDeleted, userUpdated, type Account } from '@robokids/contracts/identity'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ownershipOf, type AccountState } from '../../src/ownership/rules.ts'
import { accountStates, membershipAttempts, memberships, orders } from '../../src/schema.ts'
import { codeOf, purchase, sessionIdOf, Till } from '../till.ts'

let bed: TestBed
let till: Till
beforeAll(async () => {
  bed = await testBed()
  till = await Till.open(bed)
})
afterEach(async () => {
  await till.sim('DELETE', '/faults')
  await till.webhooks({})
})
afterAll(() => till.close())

const db = () => till.service.context.db
const newAddress = () => `maren.${randomUUIDv7()}@example.com`

interface Family {
  userId: string
  email: string
}
const family = (): Family => ({ userId: randomUUIDv7(), email: newAddress() })

/** What identity tells of an account that has this address. */
const account = ({ userId, email }: Family, differences: Partial<Account> = {}): Account => ({
  poolId: 'us-west-1_RoboKids',
  userId,
  username: 'user_1',
  email,
  emailVerified: true,
  verifiedEmail: email,
  enabled: true,
  givenName: 'Maren',
  ...differences,
})
const confirmation = (of: Family) => newEvent(userConfirmed, of.userId, account(of))
const move = (of: Family, email: string) =>
  newEvent(userUpdated, of.userId, {
    ...account({ ...of, email }),
    changed: ['email', 'email_verified'],
    previousEmail: of.email,
  })
const deletion = (of: Family) => newEvent(userDeleted, of.userId, account(of))

/** Resolves when billing has taken it in. */
async function tell(...events: { id: string }[]): Promise<void> {
  for (const event of events) await bed.bus.republish(event as Parameters<typeof bed.bus.republish>[0])
  await eventually(async () => {
    const { rows } = await db().execute(sql`select from inbox where event_id in ${events.map(({ id }) => id)}`)
    return rows.length === events.length
  })
}

interface Wish {
  email: string
  plan?: MembershipPlan
  classDate?: string
  ownerId?: string
}
const ask = (wish: Wish) =>
  till.call('POST', '/membership-checkouts', { plan: 'monthly', classDate: '2027-01-08', ...wish })
async function open(wish: Wish): Promise<MembershipCheckout> {
  const answer = await ask(wish)
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return membershipCheckoutSchema.parse(answer.body)
}
async function pay(made: MembershipCheckout): Promise<void> {
  await till.pay(made)
  await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === made.attemptId)
}
async function join(wish: Wish): Promise<string> {
  const made = await open(wish)
  await pay(made)
  return made.attemptId
}
async function find({ userId, email }: Family) {
  const { body } = await till.call('POST', '/memberships/find', { userId, email })
  return foundMembershipSchema.parse(body)
}
async function read(attemptId: string) {
  const [membership] = await db().select().from(memberships).where(eq(memberships.attemptId, attemptId))
  if (!membership) throw new Error('There is no such membership.')
  return membership
}
async function subscriptionOf(attemptId: string) {
  return till.stripe.subscriptions.retrieve((await read(attemptId)).stripeSubscriptionId)
}
const willEnd = (attemptId: string) => eventually(async () => (await subscriptionOf(attemptId)).cancel_at !== null)

describe('a membership that was bought without signing in', () => {
  it('is its account’s from the payment on, and ends with the account though its profile was never opened', async () => {
    const ada = family()
    await tell(confirmation(ada))
    const id = await join({ email: ada.email.toUpperCase() })
    expect(await read(id)).toMatchObject({ userId: ada.userId })
    const { data } = await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === id)
    expect(data).toMatchObject({ ownerId: ada.userId })
    await tell(deletion(ada))
    await willEnd(id)
    const { data: told } = await bed.bus.seen(subscriptionCancelled, ({ attemptId }) => attemptId === id)
    expect(told).toMatchObject({ ownerId: null, accountDeleted: true })
    expect(await read(id)).toMatchObject({ userId: null, endRequest: null })
  })

  it('is the account’s that proves its address later, and stays with it at its next one', async () => {
    const [ada, neighbour] = [family(), family()]
    const id = await join({ email: ada.email })
    expect(await read(id)).toMatchObject({ userId: null })
    await tell(confirmation(ada))
    expect(await read(id)).toMatchObject({ userId: ada.userId })
    const next = newAddress()
    await tell(move(ada, next))
    // Whoever has the abandoned address now gets none of it, and can become a member there.
    const successor = { ...neighbour, email: ada.email }
    await tell(confirmation(successor))
    expect(await find(successor)).toEqual({ membership: null, others: [] })
    expect(await find({ ...ada, email: next })).toMatchObject({ membership: { membershipId: id, status: 'active' } })
    expect(await read(id)).toMatchObject({ userId: ada.userId, email: next })
    expect((await ask({ email: ada.email, ownerId: successor.userId })).status).toBe(200)
    expect(codeOf(await ask({ email: next }))).toBe('already_member')
  })

  it('is of nobody again once its account is deleted, until another one proves to have the address', async () => {
    const [ada, next] = [family(), family()]
    await tell(confirmation(ada))
    const id = await join({ email: ada.email })
    await tell(deletion(ada))
    expect(await read(id)).toMatchObject({ userId: null })
    const successor = { ...next, email: ada.email }
    await tell(confirmation(successor))
    expect(await find(successor)).toMatchObject({ membership: { membershipId: id, status: 'active' } })
    await eventually(async () => (await find(successor)).membership?.endsAt !== null)
  })
})

describe('a membership that was bought with another address than the account’s', () => {
  it('is the account’s all the same, and is known at that address whatever becomes of the account’s own', async () => {
    const ada = family()
    const typed = newAddress()
    await tell(confirmation(ada))
    const id = await join({ email: typed, ownerId: ada.userId })
    await tell(move(ada, newAddress()))
    expect(await read(id)).toMatchObject({ userId: ada.userId, email: typed })
    expect((await find(ada)).membership).toMatchObject({ membershipId: id })
  })

  it('is the account’s also where a page was open before signing in, which is closed', async () => {
    const ada = family()
    await tell(confirmation(ada))
    const typed = newAddress()
    const before = await open({ email: typed })
    const page = await open({ email: typed, ownerId: ada.userId })
    expect((await till.pay(before)).status).toBe('expired')
    await pay(page)
    expect(await read(page.attemptId)).toMatchObject({ userId: ada.userId, email: typed })
  })

  it('is the only one of its account: a second one is refused, whatever address is typed', async () => {
    const ada = family()
    await tell(confirmation(ada))
    await join({ email: ada.email })
    const answer = await ask({ email: newAddress(), ownerId: ada.userId })
    expect([answer.status, codeOf(answer)]).toEqual([409, 'already_member'])
  })

  it('closes the account’s open page for another address before the next one opens, so that one is paid', async () => {
    const ada = family()
    await tell(confirmation(ada))
    const pages = [
      await open({ email: ada.email }),
      await open({ email: newAddress(), ownerId: ada.userId }),
      await open({ email: newAddress(), ownerId: ada.userId }),
    ]
    const outcomes = []
    for (const page of pages) outcomes.push((await till.pay(page)).status)
    expect(outcomes).toEqual(['expired', 'expired', 'paid'])
    for (const { attemptId } of pages.slice(0, 2)) {
      await bed.bus.seen(membershipCheckoutExpired, (data) => data.attemptId === attemptId)
    }
  })

  it('opens no other page while the provider cannot say that the open one is closed', async () => {
    const ada = family()
    await tell(confirmation(ada))
    const page = await open({ email: ada.email })
    await till.fault({ kind: 'error', method: 'POST', path: '/v1/checkout/sessions/*', status: 500, times: 3 })
    expect((await ask({ email: newAddress(), ownerId: ada.userId })).status).toBe(503)
    await till.sim('DELETE', '/faults')
    expect((await till.pay(page)).status).toBe('paid')
  })

  it('is given back where it was paid beside another one of the account', async () => {
    const ada = family()
    const typed = newAddress()
    const pages = [await open({ email: ada.email }), await open({ email: typed, ownerId: ada.userId })]
    // Only now it is known that both are one account's.
    await tell(confirmation(ada))
    await pay(pages[0]!)
    await till.pay(pages[1]!)
    const { data } = await bed.bus.seen(membershipRefunded, ({ attemptId }) => attemptId === pages[1]?.attemptId)
    expect(data).toMatchObject({ reason: 'duplicate', refunded: 700, ownerId: ada.userId })
  })
})

describe('a second membership that comes to an account with an address', () => {
  it('is shown beside the first one and can be ended, and both stay with the account at its next address', async () => {
    const ada = family()
    await tell(confirmation(ada))
    const first = await join({ email: ada.email })
    const other = newAddress()
    const second = await join({ email: other })
    await tell(move(ada, other))
    const now = { ...ada, email: other }
    expect(await find(now)).toMatchObject({ membership: { membershipId: first }, others: [{ membershipId: second }] })
    expect((await till.call('POST', `/memberships/${second}/cancel`)).status).toBe(200)
    const last = newAddress()
    await tell(move(now, last))
    const found = await find({ ...ada, email: last })
    expect(found).toMatchObject({ membership: { endsAt: null }, others: [{ membershipId: second }] })
    expect(found.others?.[0]?.endsAt).not.toBeNull()
    expect([(await read(first)).email, (await read(second)).email]).toEqual([last, last])
    const { rows } = await db().execute(sql`select from dead_letters`)
    expect(rows).toEqual([])
  })
})

describe('an account of which nothing was heard before', () => {
  it.each([
    ['deleted', (ada: Family) => deletion(ada)],
    [
      'disabled',
      (ada: Family) =>
        newEvent(userUpdated, ada.userId, {
          ...account(ada, { enabled: false }),
          changed: ['enabled'],
          previousEmail: null,
        }),
    ],
  ])('takes its membership along when it is %s', async (_, event) => {
    const ada = family()
    const id = await join({ email: ada.email })
    await tell(event(ada))
    expect(await willEnd(id)).toBe(true)
  })

  it('takes its membership along to another address', async () => {
    const ada = family()
    const id = await join({ email: ada.email })
    const next = newAddress()
    await tell(move(ada, next))
    expect(await read(id)).toMatchObject({ userId: ada.userId, email: next })
  })
})

describe('an account that is deleted', () => {
  it.each([
    ['with that account signed in', (ada: Family) => ({ email: newAddress(), ownerId: ada.userId })],
    ['at its address', (ada: Family) => ({ email: ada.email })],
  ])('has the page closed that is open %s', async (_, wish) => {
    const ada = family()
    await tell(confirmation(ada))
    const page = await open(wish(ada))
    await tell(deletion(ada))
    await bed.bus.seen(membershipCheckoutExpired, ({ attemptId }) => attemptId === page.attemptId)
    expect((await till.pay(page)).status).toBe('expired')
  })

  it('is not renewed what is paid afterwards on a page that was open', async () => {
    const ada = family()
    await tell(confirmation(ada))
    const page = await open({ email: ada.email })
    await till.fault({
      kind: 'error',
      method: 'POST',
      path: `/v1/checkout/sessions/${sessionIdOf(page)}/expire`,
      times: 50,
      status: 500,
    })
    await tell(deletion(ada))
    await pay(page)
    await till.sim('DELETE', '/faults')
    await willEnd(page.attemptId)
    expect(await read(page.attemptId)).toMatchObject({ userId: null, status: 'active' })
  })

  it('has the page closed where a registration of it could be paid', async () => {
    const ada = family()
    await tell(confirmation(ada))
    const facts = purchase({ email: newAddress(), ownerId: ada.userId })
    const page = await till.checkout(facts)
    const others = await till.checkout(purchase({ email: newAddress(), ownerId: randomUUIDv7() }))
    await tell(deletion(ada))
    await eventually(async () => (await till.read(facts.registrationId)).status === 'expired')
    expect((await till.pay(page)).status).toBe('expired')
    expect((await till.pay(others)).status).toBe('paid')
  })

  it('opens no page any more, for a browser that has not noticed', async () => {
    const ada = family()
    await tell(confirmation(ada), deletion(ada))
    const answer = await ask({ email: newAddress(), ownerId: ada.userId })
    expect([answer.status, codeOf(answer)]).toEqual([401, 'sign_in_required'])
  })
})

describe('an account that is disabled', () => {
  it('keeps its membership, which is not renewed, also where it is let in again, until it resumes it', async () => {
    const ada = family()
    await tell(confirmation(ada))
    const id = await join({ email: ada.email })
    const enabled = (is: boolean) =>
      newEvent(userUpdated, ada.userId, {
        ...account(ada, { enabled: is }),
        changed: ['enabled'],
        previousEmail: null,
      })
    await tell(enabled(false))
    await willEnd(id)
    await tell(enabled(true))
    expect((await till.call('POST', `/memberships/${id}/resume`)).body).toMatchObject({ endsAt: null })
    // What else becomes of the account ends nothing again.
    await tell(move(ada, newAddress()))
    expect(await read(id)).toMatchObject({ userId: ada.userId, endRequest: null, cancelAt: null })
  })
})

describe('an order', () => {
  it('is the account’s that has its address, and goes with it to the next one', async () => {
    const ada = family()
    const id = randomUUIDv7()
    await db().insert(orders).values({ id, items: [], email: ada.email, createdAt: Temporal.Now.instant() })
    const order = async () => (await db().select().from(orders).where(eq(orders.id, id)))[0]
    await tell(confirmation(ada))
    expect(await order()).toMatchObject({ ownerId: ada.userId, email: ada.email })
    const next = newAddress()
    await tell(move(ada, next))
    expect(await order()).toMatchObject({ ownerId: ada.userId, email: next })
    await tell(deletion({ ...ada, email: next }))
    expect(await order()).toMatchObject({ ownerId: null, email: next })
  })
})

describe('whose a membership is', () => {
  it(
    'comes out the same in whatever order and however often identity’s events come, as the rule says',
    { timeout: 120_000 },
    async () => {
      const steps = fc.array(
        fc.record({
          user: fc.integer({ min: 0, max: 2 }),
          address: fc.integer({ min: 0, max: 2 }),
          kind: fc.constantFrom('confirmed', 'moved', 'moved', 'disabled', 'deleted'),
        }),
        { minLength: 2, maxLength: 7 },
      )
      const runs = fc.sample(
        fc.record({
          steps,
          keys: fc.infiniteStream(fc.nat()),
          copies: fc.integer({ min: 1, max: 2 }),
          bought: fc.nat(6),
          signedIn: fc.option(fc.integer({ min: 0, max: 2 })),
        }),
        12,
      )
      for (const { steps: taken, keys, copies, bought, signedIn } of runs) {
        const users = [0, 1, 2].map(() => randomUUIDv7())
        const addresses = [0, 1, 2].map(newAddress)
        const wish = { email: addresses[0]!, ...(signedIn === null ? {} : { ownerId: users[signedIn]! }) }
        const made = await open(wish)
        const [attempt] = await db().select().from(membershipAttempts).where(eq(membershipAttempts.id, made.attemptId))
        const origin = {
          email: wish.email,
          emailKey: wish.email,
          ownerId: wish.ownerId ?? null,
          at: attempt!.createdAt,
        }
        await pay(made)
        const events = taken.map(({ user, address, kind }, index) => {
          const of = { userId: users[user]!, email: addresses[address]! }
          const event =
            kind === 'confirmed'
              ? confirmation(of)
              : kind === 'deleted'
                ? deletion(of)
                : newEvent(userUpdated, of.userId, {
                    ...account(of, { enabled: kind !== 'disabled' }),
                    changed: ['email'],
                    previousEmail: null,
                  })
          // Some of them before it was bought.
          return { ...event, time: origin.at.add({ seconds: index - bought }).toString({ fractionalSecondDigits: 3 }) }
        })
        const arrivals = Array.from({ length: copies }, () => events)
          .flat()
          .map((event) => ({ event, key: keys.next().value as number }))
          .toSorted((a, b) => a.key - b.key)
        await Promise.all(arrivals.map(({ event }) => bed.bus.republish(event)))
        await tell(...events)
        const states: AccountState[] = await db()
          .select()
          .from(accountStates)
          .where(sql`user_id in ${users}`)
        expect(states.length).toBeGreaterThanOrEqual(events.length)
        const { ownerId, email, accountEndedAt } = ownershipOf(origin, states)
        const membership = await read(made.attemptId)
        expect(membership).toMatchObject({ userId: ownerId, email })
        if (accountEndedAt !== null) await willEnd(made.attemptId)
      }
    },
  )
})
