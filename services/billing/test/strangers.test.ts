import { randomUUID, randomUUIDv7 } from 'node:crypto'
import {
  checkoutSchema,
  membershipAskedAgain,
  membershipCheckoutSchema,
  membershipRefunded,
  subscriptionActivated,
  type Checkout,
  type MembershipCheckout,
} from '@robokids/contracts/billing'
import { registrationExpired } from '@robokids/contracts/enrollment'
import { userConfirmed } from '@robokids/contracts/identity'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import { registrationTerms } from '@robokids/contracts/offers'
import { orderPaid, orderSchema, robotSpider, type Order } from '@robokids/contracts/shop'
import { inbox } from '@robokids/runtime/inbox'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { checkoutAttempts, membershipConsents } from '../src/schema.ts'
import { codeOf, purchase, sessionIdOf, BillingFixture, type Answer } from './fixture.ts'

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

const stranger = () => ({ browserId: randomUUID() })
const newAddress = () => `maren.${randomUUIDv7()}@example.com`
const sessionOf = (checkout: Pick<Checkout, 'checkoutUrl'>) =>
  fixture.stripe.checkout.sessions.retrieve(sessionIdOf(checkout))

function read(answer: Answer): MembershipCheckout {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return membershipCheckoutSchema.parse(answer.body)
}
const ask = (email: string, differences = {}) =>
  fixture.call('POST', '/membership-checkouts', { email, plan: 'monthly', classDate: '2027-01-08', ...differences })
const open = async (email: string, differences = {}) => read(await ask(email, differences))

async function join(email: string, differences = {}): Promise<string> {
  const made = await open(email, differences)
  await fixture.pay(made)
  await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === made.attemptId)
  return made.attemptId
}

/** An account with a verified address. */
async function account(email: string): Promise<string> {
  const userId = randomUUIDv7()
  const named = { poolId: 'us-west-1_RoboKids', username: userId, givenName: 'Maren' }
  const event = newEvent(userConfirmed, userId, {
    ...named,
    userId,
    email,
    emailVerified: true,
    verifiedEmail: email,
    enabled: true,
  })
  await bed.bus.republish(event)
  await eventually(() => fixture.service.context.db.$count(inbox, eq(inbox.eventId, event.id)))
  return userId
}

describe('a stranger who enters the address of a member', () => {
  it('gets a checkout as anybody does, and the member is notified', async () => {
    const email = newAddress()
    const membershipId = await join(email)
    const seen = bed.bus.seen(membershipAskedAgain, ({ attemptId }) => attemptId === membershipId)
    const answers = await Promise.all([ask(email, stranger()), ask(newAddress(), stranger())])
    const shapes = answers.map(({ status, body }) => [status, Object.keys(body as object)])
    expect(shapes[0]).toEqual(shapes[1])
    expect((await seen).data).toMatchObject({ attemptId: membershipId, email, plan: 'monthly' })
    // A second request of the same stranger returns the same page.
    const requester = stranger()
    expect(await open(email, requester)).toEqual(await open(email, requester))
  })

  it('gets a second membership, once paid, ended and refunded once', async () => {
    const email = newAddress()
    await join(email)
    const made = await open(email, stranger())
    const back = bed.bus.seen(membershipRefunded, ({ attemptId }) => attemptId === made.attemptId)
    await fixture.pay(made)
    expect((await back).data).toMatchObject({ reason: 'duplicate', refunded: 700 })
    expect(bed.bus.all(membershipRefunded, ({ attemptId }) => attemptId === made.attemptId)).toHaveLength(1)
  })

  it.each([
    'in the browser where it was bought',
    'with the account that owns it now',
    'with the account that bought it',
  ])('does not include the member %s', async (how) => {
    const email = newAddress()
    const ownerId = how === 'with the account that bought it' ? randomUUIDv7() : undefined
    await join(email, ownerId === undefined ? {} : { ownerId })
    const requester =
      how === 'in the browser where it was bought' ? {} : { ...stranger(), ownerId: ownerId ?? (await account(email)) }
    expect(codeOf(await ask(email, requester))).toBe('already_member')
  })

  it('includes an account that has not verified the address', async () => {
    const email = newAddress()
    await join(email)
    expect((await ask(email, { ...stranger(), ownerId: await account(newAddress()) })).status).toBe(200)
  })
})

describe('an open checkout of a membership', () => {
  it('is neither closed nor returned to a stranger who enters its address, whatever they agree to', async () => {
    const email = newAddress()
    // Without consent: its page shows the terms and asks for it.
    const own = await open(email)
    const consent = {
      version: renewalTermsVersion,
      text: renewalTerms('monthly', { amount: 700, currency: 'usd' }),
      ipAddress: '198.51.100.7',
      userAgent: 'Mozilla/5.0 (a test)',
    }
    const requester = stranger()
    const others = [
      await open(email, { ...requester, consent }),
      await open(email, { ...stranger(), plan: 'yearly' }),
      await open(email, { ...stranger(), classDate: '2027-01-09', ownerId: randomUUIDv7() }),
    ]
    expect(others.map(({ attemptId }) => attemptId)).not.toContain(own.attemptId)
    expect((await sessionOf(own)).status).toBe('open')
    const { db } = fixture.service.context
    expect(await db.$count(membershipConsents, eq(membershipConsents.attemptId, own.attemptId))).toBe(0)
    expect(await open(email)).toEqual(own)
    expect(await open(email, { ...requester, consent })).toEqual(others[0])
    for (const other of others) expect((await sessionOf(other)).status).toBe('open')
  })

  it('of a stranger is not returned to the owner of the address', async () => {
    const email = newAddress()
    const ownerId = await account(email)
    const theirs = await open(email, stranger())
    const own = await open(email, { ownerId })
    expect(own.attemptId).not.toBe(theirs.attemptId)
    // The member's own one from another browser, signed in, is.
    expect(await open(email, { ...stranger(), ownerId })).toEqual(own)
  })

  it('of a stranger and that of the member may both be paid: the first payment is kept', async () => {
    for (const first of [0, 1]) {
      const email = newAddress()
      const made = [await open(email), await open(email, stranger())]
      const [winner, other] = first === 0 ? made : made.toReversed()
      if (!winner || !other) throw new Error('There are two.')
      await fixture.pay(winner)
      await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === winner.attemptId)
      const back = bed.bus.seen(membershipRefunded, ({ attemptId }) => attemptId === other.attemptId)
      await fixture.pay(other)
      expect((await back).data).toMatchObject({ reason: 'duplicate' })
      expect(bed.bus.all(subscriptionActivated, ({ attemptId }) => attemptId === other.attemptId)).toEqual([])
    }
  })

  it('is opened for its owner while a stranger opens many with the address', async () => {
    const email = newAddress()
    const crowd = Array.from({ length: 8 }, () => ask(email, stranger()))
    const own = await open(email)
    for (const { status } of await Promise.all(crowd)) expect(status).toBe(200)
    expect(await open(email)).toEqual(own)
  })
})

describe('an order that another one replaces', () => {
  const spiders = (quantity = 1) => [{ sku: robotSpider, quantity }]
  const send = (body: object) => fixture.call('POST', '/orders', { orderId: randomUUIDv7(), items: spiders(), ...body })
  async function placed(body: object = {}): Promise<Order> {
    const answer = await send(body)
    if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return orderSchema.parse(answer.body)
  }
  const statusOf = async (order: Order) => (await sessionOf({ checkoutUrl: order.checkout.url })).status

  it.each([
    ['the browser that placed it', {}, () => ({}), true],
    ['another browser', {}, () => stranger(), false],
    ['an account, in another browser', {}, () => ({ ...stranger(), ownerId: randomUUIDv7() }), false],
    [
      'its account, in another browser',
      { ownerId: randomUUIDv7() },
      (own: object) => ({ ...stranger(), ...own }),
      true,
    ],
    ['the browser of an account that is signed out', { ownerId: randomUUIDv7() }, () => ({}), false],
  ] as const)('is closed only for its owner: %s', async (_, made, requester, closes) => {
    const old = await placed(made)
    const changed = await placed({ items: spiders(2), replaces: old.orderId, ...requester(made) })
    expect(await statusOf(old)).toBe(closes ? 'expired' : 'open')
    expect(await statusOf(changed)).toBe('open')
  })

  it('by a stranger is unaffected: both are paid and shipped', async () => {
    const old = await placed()
    const other = await placed({ items: spiders(2), replaces: old.orderId, ...stranger() })
    for (const { orderId, checkout } of [other, old]) {
      const paid = bed.bus.seen(orderPaid, (order) => order.orderId === orderId)
      await fixture.pay({ checkoutUrl: checkout.url })
      await paid
    }
    expect((await fixture.refresh(`/orders/${old.orderId}`)).body).toMatchObject({ status: 'paid', refunds: [] })
    expect(codeOf(await send({ items: spiders(3), replaces: old.orderId }))).toBe('already_paid')
    expect((await send({ items: spiders(3), replaces: old.orderId, ...stranger() })).status).toBe(200)
  })

  it('stays payable when a stranger repeats an earlier order of its cart', async () => {
    const first = await placed()
    const changed = await placed({ items: spiders(2), replaces: first.orderId })
    const again = await placed({ orderId: first.orderId, ...stranger(), replaces: randomUUIDv7() })
    expect(await statusOf(changed)).toBe('open')
    await fixture.pay({ checkoutUrl: changed.checkout.url })
    // Both still belong to one cart.
    await eventually(async () => (await statusOf(again)) === 'expired')
  })
})

describe('an id', () => {
  type Kind = 'registration' | 'order' | 'membership'
  const kinds: Kind[] = ['registration', 'order', 'membership']
  const items = [{ sku: robotSpider, quantity: 1 }]

  /** Creates a purchase with a checkout and optionally a payment. @returns its id */
  async function make(kind: Kind, paid: boolean): Promise<string> {
    if (kind === 'membership') {
      const email = newAddress()
      return paid ? join(email) : (await open(email)).attemptId
    }
    const id = randomUUIDv7()
    if (kind === 'registration') {
      const facts = purchase({ registrationId: id })
      await (paid ? fixture.sell(facts) : fixture.checkout(facts))
      return id
    }
    const { body } = await fixture.call('POST', '/orders', { orderId: id, items })
    if (paid) {
      const seen = bed.bus.seen(orderPaid, ({ orderId }) => orderId === id)
      await fixture.pay({ checkoutUrl: orderSchema.parse(body).checkout.url })
      await seen
    }
    return id
  }
  // Clients choose the ids of registrations and orders; billing generates those of memberships.
  const claim = (kind: Kind, id: string) =>
    kind === 'order'
      ? fixture.call('POST', '/orders', { orderId: id, items })
      : fixture.call('POST', '/checkouts', { purchase: purchase({ registrationId: id }) })
  const pathOf = { registration: 'checkouts', order: 'orders', membership: 'membership-checkouts' } as const

  const pairs = kinds.flatMap((of) =>
    kinds
      .filter((as) => as !== of)
      .flatMap((as) => [false, true].map((paid) => [of, paid ? 'paid' : 'open', as] as const)),
  )
  it.each(pairs)('of a %s that is %s is never read, opened, closed or paid as that of a %s', async (of, state, as) => {
    const id = await make(of, state === 'paid')
    const before = await fixture.call('GET', `/${pathOf[of]}/${id}`)
    expect(before.status).toBe(200)
    expect((await fixture.call('GET', `/${pathOf[as]}/${id}`)).status).toBe(404)
    expect((await fixture.refresh(`/${pathOf[as]}/${id}`)).status).toBe(404)
    if (as === 'registration') {
      expect((await fixture.call('GET', `/checkouts?registrationIds=${id}`)).body).toEqual({ checkouts: [] })
      expect((await fixture.call('POST', `/checkouts/${id}/close`)).body).toEqual({ outcome: 'none' })
      const gone = newEvent(registrationExpired, id, purchase({ registrationId: id }))
      await bed.bus.republish(gone)
      await eventually(() => fixture.service.context.db.$count(inbox, eq(inbox.eventId, gone.id)))
    }
    if (as !== 'membership') {
      expect(codeOf(await claim(as, id))).toBe('id_reused')
      if (as === 'order') {
        const named = await fixture.call('POST', '/orders', { orderId: randomUUIDv7(), items, replaces: id })
        expect(named.status).toBe(200)
      }
    }
    const attempts = await fixture.service.context.db
      .select({ closeRequestedAt: checkoutAttempts.closeRequestedAt })
      .from(checkoutAttempts)
      .where(eq(checkoutAttempts.purchaseId, id))
    expect(attempts.filter(({ closeRequestedAt }) => closeRequestedAt !== null)).toEqual([])
    expect((await fixture.call('GET', `/${pathOf[of]}/${id}`)).body).toEqual(before.body)
  })
})

describe('POST /checkouts/:registrationId/close', () => {
  const successor = (differences = {}) => ({
    replacedBy: {
      registrationId: randomUUIDv7(),
      classType: 'basic',
      startDate: '2027-01-08',
      children: 1,
      ...differences,
    },
  })

  it('closes nothing for a registration that would be rejected, and answers why', async () => {
    const facts = purchase()
    const made = await fixture.checkout(facts)
    const { body: order } = await fixture.call('POST', '/orders', {
      orderId: randomUUIDv7(),
      items: [{ sku: robotSpider, quantity: 1 }],
    })
    const agreed = registrationTerms({
      classType: 'basic',
      startDate: '2027-01-08',
      children: 1,
      siblingJoinsFree: false,
      unitAmount: 1,
    })
    for (const [differences, code] of [
      [{ registrationId: orderSchema.parse(order).orderId }, 'id_reused'],
      [{ agreed }, 'price_changed'],
      [{ classType: 'membership' }, 'class_not_offered'],
    ] as const) {
      const answer = await fixture.call('POST', `/checkouts/${facts.registrationId}/close`, successor(differences))
      expect(codeOf(answer)).toBe(code)
      expect((await sessionOf(made)).status).toBe('open')
    }
    const answer = await fixture.call('POST', `/checkouts/${facts.registrationId}/close`, successor())
    expect(answer.body).toEqual({ outcome: 'closed' })
    const { body } = await fixture.call('GET', `/checkouts/${facts.registrationId}`)
    expect(checkoutSchema.parse(body).status).toBe('expired')
  })
})
