import { randomUUIDv7 } from 'node:crypto'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import {
  membershipCheckoutSchema,
  membershipRefunded,
  paymentCompleted,
  paymentRefunded,
  reconciliationSchema,
  subscriptionActivated,
  subscriptionCancelled,
  subscriptionRenewed,
  switchQuoteSchema,
} from '@robokids/contracts/billing'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cancelMembership, switchMembership } from '../src/change-membership.ts'
import type { BillingContext } from '../src/config.ts'
import { createCheckout } from '../src/create-checkout.ts'
import { createMembershipCheckout } from '../src/create-membership-checkout.ts'
import { handleNotice } from '../src/handle-notice.ts'
import { requestRefund } from '../src/request-refund.ts'
import { adminHeaders, purchase, sessionIdOf, Till } from './till.ts'

/*
 * A use case is killed at its first step towards the database or the payment provider, then at its second, and so on until
 * it gets through: so at every await at which something has happened. Nothing that it does after that gets out, as of a
 * process that is gone. Then the same is asked for again, of another process, and everything must be as if it had been
 * asked for once.
 */

let bed: TestBed
let till: Till
beforeAll(async () => {
  bed = await testBed()
  till = await Till.open(bed)
  await till.webhooks({ dropped: true })
})
afterAll(() => till.close())

class Killed extends Error {}

/** The service as a process sees it that is killed after so many steps. */
class Mortal {
  #left: number
  #isDead = false
  readonly #client: postgres.Sql
  readonly #server = createServer()
  readonly #sockets = new Set<Socket>()
  context!: BillingContext

  private constructor(steps: number) {
    this.#left = steps
    this.#client = postgres(till.service.databaseUrl, { max: 3, onnotice: () => {} })
  }

  static async live(steps: number): Promise<Mortal> {
    const mortal = new Mortal(steps)
    await mortal.#listen()
    const { port } = mortal.#server.address() as AddressInfo
    const db = drizzle({ client: mortal.#watch(mortal.#client) })
    const { context } = till.service
    mortal.context = {
      ...context,
      db,
      config: { ...context.config, STRIPE_API_URL: `http://127.0.0.1:${port}` },
    }
    return mortal
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** @returns whether it lives on. */
  #step(): boolean {
    if (!this.#isDead && this.#left-- > 0) return true
    this.#isDead = true
    return false
  }

  /** A step before each statement, and one between a commit and the news of it. */
  #watch<S extends object>(client: S): S {
    return new Proxy(client, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        if (key === 'unsafe') {
          return (...query: unknown[]) => {
            if (!this.#step()) throw new Killed()
            return value.apply(target, query) as unknown
          }
        }
        if (key === 'begin') {
          return async (work: (transaction: object) => unknown) => {
            const result: unknown = await value.call(target, (transaction: object) => work(this.#watch(transaction)))
            if (!this.#step()) throw new Killed()
            return result
          }
        }
        return value.bind(target) as unknown
      },
    })
  }

  /** The provider's address: a step before each question, and one between its answer and the news of it. */
  async #listen(): Promise<void> {
    this.#server.on('connection', (near) => {
      const far = connect(till.simulator.port, '127.0.0.1')
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          this.#sockets.delete(socket)
          near.destroy()
          far.end()
        })
      }
      near.on('data', (question) => (this.#step() ? far.write(question) : near.resetAndDestroy()))
      far.on('data', (answer) => (this.#step() ? near.write(answer) : near.resetAndDestroy()))
    })
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve))
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    await this.#client.end({ timeout: 1 })
  }
}

/** @returns how many steps there were. */
async function walk<Subject>(flow: {
  prepare(): Promise<Subject>
  /** What is killed. */
  act(context: BillingContext, subject: Subject): Promise<void>
  /** The same once more, of a process that lives. */
  again(subject: Subject): Promise<void>
  look(subject: Subject): Promise<void>
}): Promise<number> {
  for (let steps = 0; ; steps++) {
    const subject = await flow.prepare()
    const mortal = await Mortal.live(steps)
    await flow.act(mortal.context, subject).catch((error: unknown) => {
      if (!mortal.isDead) throw error
    })
    await mortal.end()
    await flow.again(subject)
    await flow.look(subject)
    if (mortal.isDead) continue
    await booksBalance()
    return steps
  }
}

async function insist(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await till.call(method, path, body, adminHeaders)
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

async function settled(): Promise<void> {
  await eventually(async () => {
    const [row] = await till.service.context.db.execute<{ waiting: string }>(sql`
      select (select count(*) from outbox where published_at is null)
        + (select count(*) from refunds where status = 'pending') as waiting`)
    return Number(row?.waiting) === 0
  }, 15_000)
}

/** Every cent is one record, and receipts have neither gap nor double. */
async function booksBalance(): Promise<void> {
  const books = reconciliationSchema.parse(await insist('POST', '/admin/reconcile'))
  expect(books).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
  const rows = await till.service.context.db.execute<{ number: string }>(sql`
    select receipt_number as number from payments where receipt_number is not null order by receipt_number`)
  expect(rows.map(({ number }) => Number(number.slice(3)))).toEqual(rows.map((_, index) => index + 1))
}

const completed = (checkoutUrl: string) => {
  const objectId = sessionIdOf({ checkoutUrl })
  return { eventId: `evt_${randomUUIDv7()}`, type: 'checkout.session.completed', objectId }
}

async function paymentsOf(id: string) {
  return till.service.context.db.execute<{ amount: number }>(sql`
    select amount from payments where registration_id = ${id} order by receipt_number`)
}

const newWish = () => ({
  email: `${randomUUIDv7()}@example.com`,
  plan: 'monthly' as const,
  classDate: '2027-01-08',
})

async function newMember() {
  const wish = newWish()
  const { attemptId, checkoutUrl } = membershipCheckoutSchema.parse(await insist('POST', '/membership-checkouts', wish))
  await till.pay({ checkoutUrl })
  await insist('POST', `/membership-checkouts/${attemptId}/sync`)
  return { ...wish, id: attemptId }
}

describe('killed at each step in turn', { timeout: 240_000 }, () => {
  it('a membership is one, of one payment', async () => {
    const steps = await walk({
      prepare: async () => newWish(),
      async act(context, wish) {
        const { checkoutUrl } = await createMembershipCheckout(context, wish)
        await till.pay({ checkoutUrl })
        await handleNotice(context, completed(checkoutUrl))
      },
      async again(wish) {
        const answer = await till.call('POST', '/membership-checkouts', wish)
        if (answer.status === 409) return
        const { checkoutUrl, attemptId } = membershipCheckoutSchema.parse(answer.body)
        await till.pay({ checkoutUrl })
        await insist('POST', `/membership-checkouts/${attemptId}/sync`)
      },
      async look(wish) {
        const of = ({ email }: { email: string }) => email === wish.email
        const { data } = await bed.bus.seen(subscriptionActivated, of)
        await settled()
        expect(bed.bus.all(subscriptionActivated, of)).toHaveLength(1)
        expect(await paymentsOf(data.attemptId)).toEqual([{ amount: 700 }])
      },
    })
    expect(steps).toBeGreaterThan(30)
  })

  it('a change of plan is made once, for what was quoted', async () => {
    const steps = await walk({
      async prepare() {
        const member = await newMember()
        const quote = await insist('POST', `/memberships/${member.id}/quote`, { plan: 'yearly' })
        const { plan, dueNow, reckonedAt } = switchQuoteSchema.parse(quote)
        return { ...member, change: { plan, dueNow, reckonedAt } }
      },
      async act(context, { id, change }) {
        await switchMembership(context, id, change)
      },
      async again({ id, change }) {
        await insist('POST', `/memberships/${id}/switch`, change)
      },
      async look({ id, change }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        await bed.bus.seen(subscriptionRenewed, of)
        await settled()
        expect(bed.bus.all(subscriptionRenewed, of)).toHaveLength(1)
        expect(await paymentsOf(id)).toEqual([{ amount: 700 }, { amount: change.dueNow }])
      },
    })
    expect(steps).toBeGreaterThan(20)
  })

  it('a cancellation is one', async () => {
    await walk({
      prepare: newMember,
      async act(context, { id }) {
        await cancelMembership(context, id)
      },
      async again({ id }) {
        expect(await insist('POST', `/memberships/${id}/cancel`)).toMatchObject({ nextCharge: null })
      },
      async look({ id }) {
        const of = ({ attemptId }: { attemptId: string }) => attemptId === id
        await bed.bus.seen(subscriptionCancelled, of)
        await settled()
        expect(bed.bus.all(subscriptionCancelled, of)).toHaveLength(1)
      },
    })
  })

  it('a class is sold once', async () => {
    await walk({
      prepare: async () => purchase(),
      async act(context, facts) {
        const { checkoutUrl } = await createCheckout(context, facts)
        await till.pay({ checkoutUrl })
        await handleNotice(context, completed(checkoutUrl ?? ''))
      },
      async again(facts) {
        const { checkoutUrl } = await till.checkout(facts)
        if (checkoutUrl !== null) await till.pay({ checkoutUrl })
        await till.sync(facts.registrationId)
      },
      async look({ registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await bed.bus.seen(paymentCompleted, of)
        await settled()
        expect(bed.bus.all(paymentCompleted, of)).toHaveLength(1)
        expect(await paymentsOf(registrationId)).toEqual([{ amount: 40_000 }])
      },
    })
  })

  it('a refund is made once', async () => {
    await walk({
      async prepare() {
        const facts = purchase()
        await till.sell(facts)
        return { registrationId: facts.registrationId, refundId: randomUUIDv7() }
      },
      async act(context, request) {
        await requestRefund(context, request)
      },
      async again(request) {
        await insist('POST', '/refunds', request)
      },
      async look({ registrationId }) {
        const of = (data: { registrationId: string }) => data.registrationId === registrationId
        await bed.bus.seen(paymentRefunded, of, 20_000)
        await settled()
        expect(bed.bus.all(paymentRefunded, of)).toHaveLength(1)
        expect(bed.bus.all(membershipRefunded)).toEqual([])
      },
    })
  })
})
