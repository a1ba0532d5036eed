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
import { familyPurchasesSchema } from '@robokids/contracts/dashboard'
import { userConfirmed, userDeleted, userUpdated, type Account } from '@robokids/contracts/identity'
import { orderSchema, robotSpider, type Order } from '@robokids/contracts/shop'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { resolveOwnership, type AccountState } from '../../src/ownership/rules.ts'
import { accountStates, membershipAttempts, memberships, orders } from '../../src/schema.ts'
import { codeOf, purchase, sessionIdOf, BillingFixture } from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture
beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
})
afterEach(async () => {
  await fixture.sim('DELETE', '/faults')
  await fixture.webhooks({})
})
afterAll(() => fixture.close())

const db = () => fixture.service.context.db
const newAddress = () => `maren.${randomUUIDv7()}@example.com`

interface Family {
  userId: string
  email: string
}
const family = (): Family => ({ userId: randomUUIDv7(), email: newAddress() })

/** The events of identity about an account with this address. */
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

/** Resolves when billing has handled the event. */
async function publishAccountEvents(...events: { id: string }[]): Promise<void> {
  for (const event of events) await bed.bus.republish(event as Parameters<typeof bed.bus.republish>[0])
  await eventually(async () => {
    const { rows } = await db().execute(sql`select from inbox where event_id in ${events.map(({ id }) => id)}`)
    return rows.length === events.length
  })
}

interface MembershipRequest {
  email: string
  plan?: MembershipPlan
  classDate?: string
  ownerId?: string
}
const ask = (request: MembershipRequest) =>
  fixture.call('POST', '/membership-checkouts', { plan: 'monthly', classDate: '2027-01-08', ...request })
async function open(request: MembershipRequest): Promise<MembershipCheckout> {
  const answer = await ask(request)
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return membershipCheckoutSchema.parse(answer.body)
}
async function pay(made: MembershipCheckout): Promise<void> {
  await fixture.pay(made)
  await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === made.attemptId)
}
async function join(request: MembershipRequest): Promise<string> {
  const made = await open(request)
  await pay(made)
  return made.attemptId
}
async function find({ userId, email }: Family) {
  const { body } = await fixture.call('POST', '/memberships/find', { userId, email })
  return foundMembershipSchema.parse(body)
}
async function read(attemptId: string) {
  const [membership] = await db().select().from(memberships).where(eq(memberships.attemptId, attemptId))
  if (!membership) throw new Error('There is no such membership.')
  return membership
}
async function subscriptionOf(attemptId: string) {
  return fixture.stripe.subscriptions.retrieve((await read(attemptId)).stripeSubscriptionId)
}
const willEnd = (attemptId: string) => eventually(async () => (await subscriptionOf(attemptId)).cancel_at !== null)

describe('a membership bought without signing in', () => {
  it('belongs to its account from the payment on, and ends with the account although its profile was never opened', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    const id = await join({ email: ada.email.toUpperCase() })
    expect(await read(id)).toMatchObject({ userId: ada.userId })
    const { data } = await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === id)
    expect(data).toMatchObject({ ownerId: ada.userId })
    await publishAccountEvents(deletion(ada))
    await willEnd(id)
    const { data: published } = await bed.bus.seen(subscriptionCancelled, ({ attemptId }) => attemptId === id)
    expect(published).toMatchObject({ ownerId: null, accountDeleted: true })
    expect(await read(id)).toMatchObject({ userId: null, endRequest: null })
  })

  it('belongs to the account that verifies its address later, and follows that to its next address', async () => {
    const [ada, otherFamily] = [family(), family()]
    const id = await join({ email: ada.email })
    expect(await read(id)).toMatchObject({ userId: null })
    await publishAccountEvents(confirmation(ada))
    expect(await read(id)).toMatchObject({ userId: ada.userId })
    const next = newAddress()
    await publishAccountEvents(move(ada, next))
    // The account that has the abandoned address now gets none of it, and can become a member.
    const successor = { ...otherFamily, email: ada.email }
    await publishAccountEvents(confirmation(successor))
    expect(await find(successor)).toEqual({ membership: null, others: [] })
    expect(await find({ ...ada, email: next })).toMatchObject({ membership: { membershipId: id, status: 'active' } })
    expect(await read(id)).toMatchObject({ userId: ada.userId, email: next })
    expect((await ask({ email: ada.email, ownerId: successor.userId })).status).toBe(200)
    expect(codeOf(await ask({ email: next }))).toBe('already_member')
  })

  it('is unowned once its account is deleted, until another one verifies the address', async () => {
    const [ada, next] = [family(), family()]
    await publishAccountEvents(confirmation(ada))
    const id = await join({ email: ada.email })
    await publishAccountEvents(deletion(ada))
    expect(await read(id)).toMatchObject({ userId: null })
    const successor = { ...next, email: ada.email }
    await publishAccountEvents(confirmation(successor))
    expect(await find(successor)).toMatchObject({ membership: { membershipId: id, status: 'active' } })
    await eventually(async () => (await find(successor)).membership?.endsAt !== null)
  })
})

describe('a membership bought with another address than the account’s', () => {
  it('belongs to the account, and keeps that address when the account’s own changes', async () => {
    const ada = family()
    const typed = newAddress()
    await publishAccountEvents(confirmation(ada))
    const id = await join({ email: typed, ownerId: ada.userId })
    await publishAccountEvents(move(ada, newAddress()))
    expect(await read(id)).toMatchObject({ userId: ada.userId, email: typed })
    expect((await find(ada)).membership).toMatchObject({ membershipId: id })
  })

  it('belongs to the account even if a checkout was opened before signing in, which is closed', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    const typed = newAddress()
    const before = await open({ email: typed })
    const page = await open({ email: typed, ownerId: ada.userId })
    expect((await fixture.pay(before)).status).toBe('expired')
    await pay(page)
    expect(await read(page.attemptId)).toMatchObject({ userId: ada.userId, email: typed })
  })

  it('is the only one of its account: a second one is rejected, whatever address is entered', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    await join({ email: ada.email })
    const answer = await ask({ email: newAddress(), ownerId: ada.userId })
    expect([answer.status, codeOf(answer)]).toEqual([409, 'already_member'])
  })

  it('closes the account’s open checkout for another address before the next one opens', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    const pages = [
      await open({ email: ada.email }),
      await open({ email: newAddress(), ownerId: ada.userId }),
      await open({ email: newAddress(), ownerId: ada.userId }),
    ]
    const outcomes = []
    for (const page of pages) outcomes.push((await fixture.pay(page)).status)
    expect(outcomes).toEqual(['expired', 'expired', 'paid'])
    for (const { attemptId } of pages.slice(0, 2)) {
      await bed.bus.seen(membershipCheckoutExpired, (data) => data.attemptId === attemptId)
    }
  })

  it('opens no other checkout while Stripe cannot confirm that the open one is closed', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    const page = await open({ email: ada.email })
    await fixture.fault({ kind: 'error', method: 'POST', path: '/v1/checkout/sessions/*', status: 500, times: 3 })
    expect((await ask({ email: newAddress(), ownerId: ada.userId })).status).toBe(503)
    await fixture.sim('DELETE', '/faults')
    expect((await fixture.pay(page)).status).toBe('paid')
  })

  it('is refunded if it was paid beside another one of the account', async () => {
    const ada = family()
    const typed = newAddress()
    const pages = [await open({ email: ada.email }), await open({ email: typed, ownerId: ada.userId })]
    // Only now do both turn out to belong to one account.
    await publishAccountEvents(confirmation(ada))
    await pay(pages[0]!)
    await fixture.pay(pages[1]!)
    const { data } = await bed.bus.seen(membershipRefunded, ({ attemptId }) => attemptId === pages[1]?.attemptId)
    expect(data).toMatchObject({ reason: 'duplicate', refunded: 700, ownerId: ada.userId })
  })
})

describe('a second membership that an account gains with an address', () => {
  it('is listed beside the first one and can be cancelled, and both follow the account to its next address', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    const first = await join({ email: ada.email })
    const other = newAddress()
    const second = await join({ email: other })
    await publishAccountEvents(move(ada, other))
    const now = { ...ada, email: other }
    expect(await find(now)).toMatchObject({ membership: { membershipId: first }, others: [{ membershipId: second }] })
    expect((await fixture.call('POST', `/memberships/${second}/cancel`)).status).toBe(200)
    const last = newAddress()
    await publishAccountEvents(move(now, last))
    const found = await find({ ...ada, email: last })
    expect(found).toMatchObject({ membership: { endsAt: null }, others: [{ membershipId: second }] })
    expect(found.others?.[0]?.endsAt).not.toBeNull()
    expect([(await read(first)).email, (await read(second)).email]).toEqual([last, last])
    const { rows } = await db().execute(sql`select from dead_letters`)
    expect(rows).toEqual([])
  })
})

describe('an account without earlier events', () => {
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
  ])('owns its membership when it is %s', async (_, event) => {
    const ada = family()
    const id = await join({ email: ada.email })
    await publishAccountEvents(event(ada))
    expect(await willEnd(id)).toBe(true)
  })

  it('keeps its membership at another address', async () => {
    const ada = family()
    const id = await join({ email: ada.email })
    const next = newAddress()
    await publishAccountEvents(move(ada, next))
    expect(await read(id)).toMatchObject({ userId: ada.userId, email: next })
  })
})

describe('a deleted account', () => {
  it.each([
    ['with that account signed in', (ada: Family) => ({ email: newAddress(), ownerId: ada.userId })],
    ['at its address', (ada: Family) => ({ email: ada.email })],
  ])('has its open checkout closed, %s', async (_, request) => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    const page = await open(request(ada))
    await publishAccountEvents(deletion(ada))
    await bed.bus.seen(membershipCheckoutExpired, ({ attemptId }) => attemptId === page.attemptId)
    expect((await fixture.pay(page)).status).toBe('expired')
  })

  it('does not renew a membership that was paid afterwards in an open checkout', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    const page = await open({ email: ada.email })
    await fixture.fault({
      kind: 'error',
      method: 'POST',
      path: `/v1/checkout/sessions/${sessionIdOf(page)}/expire`,
      times: 50,
      status: 500,
    })
    await publishAccountEvents(deletion(ada))
    await pay(page)
    await fixture.sim('DELETE', '/faults')
    await willEnd(page.attemptId)
    expect(await read(page.attemptId)).toMatchObject({ userId: null, status: 'active' })
  })

  it('has the open checkout of its registration closed', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    const facts = purchase({ email: newAddress(), ownerId: ada.userId })
    const page = await fixture.checkout(facts)
    const others = await fixture.checkout(purchase({ email: newAddress(), ownerId: randomUUIDv7() }))
    await publishAccountEvents(deletion(ada))
    await eventually(async () => (await fixture.read(facts.registrationId)).status === 'expired')
    expect((await fixture.pay(page)).status).toBe('expired')
    expect((await fixture.pay(others)).status).toBe('paid')
  })

  it('cannot open a checkout in a browser that is still signed in', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada), deletion(ada))
    const answer = await ask({ email: newAddress(), ownerId: ada.userId })
    expect([answer.status, codeOf(answer)]).toEqual([401, 'sign_in_required'])
  })
})

describe('a disabled account', () => {
  it('keeps its membership without renewal, also when it is enabled again, until it resumes it', async () => {
    const ada = family()
    await publishAccountEvents(confirmation(ada))
    const id = await join({ email: ada.email })
    const enabled = (is: boolean) =>
      newEvent(userUpdated, ada.userId, {
        ...account(ada, { enabled: is }),
        changed: ['enabled'],
        previousEmail: null,
      })
    await publishAccountEvents(enabled(false))
    await willEnd(id)
    await publishAccountEvents(enabled(true))
    expect((await fixture.call('POST', `/memberships/${id}/resume`)).body).toMatchObject({ endsAt: null })
    // Later events of the account do not end it again.
    await publishAccountEvents(move(ada, newAddress()))
    expect(await read(id)).toMatchObject({ userId: ada.userId, endRequest: null, cancelAt: null })
  })
})

describe('an order', () => {
  it('belongs to the account that has its address, and follows that to its next address', async () => {
    const ada = family()
    const id = randomUUIDv7()
    await db().insert(orders).values({ id, items: [], email: ada.email, createdAt: Temporal.Now.instant() })
    const order = async () => (await db().select().from(orders).where(eq(orders.id, id)))[0]
    await publishAccountEvents(confirmation(ada))
    expect(await order()).toMatchObject({ ownerId: ada.userId, email: ada.email })
    const next = newAddress()
    await publishAccountEvents(move(ada, next))
    expect(await order()).toMatchObject({ ownerId: ada.userId, email: next })
    await publishAccountEvents(deletion({ ...ada, email: next }))
    expect(await order()).toMatchObject({ ownerId: null, email: next })
  })
})

describe('the purchases of an account', () => {
  const findPurchases = async (of: Family) =>
    familyPurchasesSchema.parse((await fixture.call('POST', '/purchases/find', of)).body)
  const newSpider = async (ownerId: string): Promise<Order> => {
    const body = { orderId: randomUUIDv7(), items: [{ sku: robotSpider, quantity: 1 }], ownerId }
    return orderSchema.parse((await fixture.call('POST', '/orders', body)).body)
  }

  it('are its memberships, its paid orders, and the checkouts made with any of its addresses or while it was signed in', async () => {
    const ada = family()
    const formerly = { ...ada, email: newAddress() }
    await publishAccountEvents(confirmation(formerly), move(formerly, ada.email))
    const attemptId = await join({ email: newAddress(), ownerId: ada.userId })
    const bought = [
      purchase({ email: ada.email.toUpperCase() }),
      purchase({ email: formerly.email }),
      purchase({ ownerId: ada.userId }),
    ]
    for (const facts of bought) await fixture.checkout(facts)
    const order = await newSpider(ada.userId)
    await fixture.pay({ checkoutUrl: order.checkout.url })
    await newSpider(ada.userId)
    await eventually(async () => (await findPurchases(ada)).orders.length === 1)

    const found = await findPurchases(ada)
    expect(found.membership?.membershipId).toBe(attemptId)
    expect(found.orders).toMatchObject([{ orderId: order.orderId, status: 'paid' }])
    expect(new Set(found.checkouts.map(({ registrationId }) => registrationId))).toEqual(
      new Set(bought.map(({ registrationId }) => registrationId)),
    )
    expect(await findPurchases(family())).toEqual({ membership: null, others: [], checkouts: [], orders: [] })
  })
})

describe('the owner of a membership', () => {
  it(
    'is resolved as the rule says under duplicated and reordered events of identity',
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
        const request = { email: addresses[0]!, ...(signedIn === null ? {} : { ownerId: users[signedIn]! }) }
        const made = await open(request)
        const [attempt] = await db().select().from(membershipAttempts).where(eq(membershipAttempts.id, made.attemptId))
        const origin = {
          email: request.email,
          emailKey: request.email,
          ownerId: request.ownerId ?? null,
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
          // Some of them before the purchase.
          return { ...event, time: origin.at.add({ seconds: index - bought }).toString({ fractionalSecondDigits: 3 }) }
        })
        const deliveryOrders = Array.from({ length: copies }, () => events)
          .flat()
          .map((event) => ({ event, key: keys.next().value as number }))
          .toSorted((a, b) => a.key - b.key)
        await Promise.all(deliveryOrders.map(({ event }) => bed.bus.republish(event)))
        await publishAccountEvents(...events)
        const states: AccountState[] = await db()
          .select()
          .from(accountStates)
          .where(sql`user_id in ${users}`)
        expect(states.length).toBeGreaterThanOrEqual(events.length)
        const { ownerId, email, accountEndedAt } = resolveOwnership(origin, states)
        const membership = await read(made.attemptId)
        expect(membership).toMatchObject({ userId: ownerId, email })
        if (accountEndedAt !== null) await willEnd(made.attemptId)
      }
    },
  )
})
