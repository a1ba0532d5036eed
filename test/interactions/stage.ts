import { randomUUIDv7 } from 'node:crypto'
import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { MembershipPlan } from '@robokids/contracts/auth'
import { registrationViewSchema, type RegisterBody, type RegistrationView } from '@robokids/contracts/bff'
import {
  foundMembershipSchema,
  membershipOutcomeSchema,
  pricesSchema,
  switchQuoteSchema,
  type Membership,
  type MembershipOutcome,
} from '@robokids/contracts/billing'
import { registrationTerms } from '@robokids/contracts/offers'
import { orderSchema, type Order } from '@robokids/contracts/shop'
import { administer } from '@robokids/local/reset-mfa'
import { handlerName } from '@robokids/runtime/inbox'
import type { Charge, Subscription } from '../../deploy/stripe-simulator/src/protocol/types.ts'
import { eventually } from '../src/bed.ts'
import { sampleFamily, sampleMember } from '../src/samples.ts'
import { Browser as AnyBrowser, browserCookie, type Answer } from '../src/browser.ts'
import { applications, consumingServices, owningServices, type OwningService } from '@robokids/local/services'
import { startParts, ControlledSystem } from '../src/controlled-system.ts'
import type { Mail } from '../src/system.ts'

export const { password } = sampleMember('')
export const cards = {
  good: '4242424242424242',
  /** Its refunds stay pending until they are settled. */
  slowRefund: '4000000000007726',
} as const
export const day = 24 * 3600

/** Handlers by event type. */
const handlersOf = new Map<string, { by: OwningService; handler: string; from: 'now' | 'beginning' }[]>()
/** The handlers of secret events, which leave no row in an outbox once they are published. */
const secretHandlers: { by: OwningService; handler: string; stream: string }[] = []
for (const by of consumingServices) {
  const { consumers = [] } = await applications[by].load()
  for (const { definition, from } of consumers) {
    const handlers = handlersOf.get(definition.type) ?? []
    const handler = handlerName(by, definition)
    handlersOf.set(definition.type, [...handlers, { by, handler, from }])
    if (definition.secret) secretHandlers.push({ by, handler, stream: definition.stream })
  }
}

/** Work that a service has stored and not completed. */
const unfinished = {
  billing: `
    select 'a refund to be made' as what from refunds where status = 'pending' and stripe_refund_id is null
    union all select 'a checkout to be closed' from checkout_attempts
      where close_requested_at is not null and status in ('creating', 'open')
    union all select 'a membership to be ended' from memberships where end_request is not null`,
  notifications: `select 'a mail to be sent: ' || kind as what from mails where status = 'pending'`,
} as const

export const idOf = (shown: string | { id: string } | null | undefined): string =>
  typeof shown === 'string' ? shown : (shown?.id ?? '')

/** A browser that can sign in. */
export class Browser extends AnyBrowser {
  copy = () => this.copyTo(new Browser(this.siteUrl))

  async signIn(email: string, secret = password): Promise<void> {
    const { body } = await this.post('/api/auth/sign-in', { email, password: secret })
    if (body['step'] !== 'DONE') throw new Error(`The sign-in leads to ${JSON.stringify(body)}`)
    await this.recordAccount()
  }

  /** Reads the session, as a page does first. */
  async recordAccount(): Promise<void> {
    const { body } = await this.get('/api/auth/session')
    this.userId = (body['user'] as { userId: string } | null)?.userId
  }

  async found(): Promise<{ membership: Membership | null; others: Membership[] }> {
    const { status, body } = await this.get('/api/membership')
    if (status !== 200) throw new Error(`/api/membership answered ${status}: ${JSON.stringify(body)}`)
    const { membership, others = [] } = foundMembershipSchema.parse(body)
    return { membership, others }
  }

  /** The membership that its profile page shows. */
  async membership(): Promise<Membership> {
    const { membership } = await this.found()
    if (!membership) throw new Error('The profile shows no membership.')
    return membership
  }
}

export interface Account {
  browser: Browser
  email: string
  userId: string
}

export interface Page {
  /** The id of the registration, order or membership. */
  id: string
  url: string
}

export interface Registered extends Page {
  body: RegisterBody
}

/** The real system with its surroundings, and the actions of tests on it. */
export class Stage extends ControlledSystem {
  #dates = 0
  #begun = new Date()
  /** Old events published by the test itself. */
  readonly #foreign: { id: string; type: string }[] = []

  static async start(): Promise<Stage> {
    const stage = new Stage(await startParts('meetings', { CONSUMER_RETRY_DELAYS: '20,50,100,200,400,800' }))
    await stage.disableAutomaticBankEvents()
    return stage
  }

  begin(): void {
    this.#begun = new Date()
    this.#foreign.length = 0
  }

  /** Ends all outages and faults. */
  override async restore(): Promise<void> {
    await super.restore()
    if (this.#clockIsMoved) await this.resetClock()
  }

  /** Dead letters since the test began. */
  async deadLetters(): Promise<string[]> {
    const rows = await Promise.all(
      owningServices.map(
        (owner) => this.system.sql(owner)<{ handler: string; error: string }[]>`
          select handler, error from dead_letters where replayed_at is null and failed_at >= ${this.#begun}`,
      ),
    )
    return rows.flat().map(({ handler, error }) => `${handler}: ${error}`)
  }

  /** Waits until all published events are handled and all stored work is completed. */
  async quiet(): Promise<void> {
    await this.system.simulator.deliveriesIdle()
    let quietPasses = 0
    // Handlers may publish more events, so the wait ends after two empty passes.
    await eventually(async () => {
      const waiting = await this.#waiting()
      quietPasses = waiting.length === 0 ? quietPasses + 1 : 0
      if (quietPasses === 2) return true
      throw new Error(`Still waiting: ${waiting.join(', ')}`)
    })
  }

  async #waiting(): Promise<string[]> {
    const waiting: string[] = []
    const missing = new Map<OwningService, Map<string, string>>()
    const expectAt = (id: string, type: string, isOld = false) => {
      for (const { by, handler, from } of handlersOf.get(type) ?? []) {
        if (isOld && from === 'now') continue
        const ofService = missing.get(by) ?? new Map<string, string>()
        missing.set(by, ofService.set(`${handler} ${id}`, id))
      }
    }
    for (const owner of owningServices) {
      const rows = await this.system.sql(owner)<{ id: string; type: string; published: boolean }[]>`
        select id, type, published_at is not null or set_aside_at is not null as published
        from outbox where (envelope ->> 'time')::timestamptz >= ${this.#begun}`
      for (const { id, type, published } of rows) {
        if (!published) waiting.push(`${owner} has to publish ${type}`)
        expectAt(id, type)
      }
    }
    for (const { id, type } of this.#foreign) expectAt(id, type, true)
    for (const [by, ofService] of missing) {
      const handled = await this.system.sql(by)<{ handler: string; id: string }[]>`
        select handler, event_id as id from inbox where event_id = any(${[...ofService.values()]}::uuid[])
        union all select handler, (payload::json ->> 'id')::uuid from dead_letters where replayed_at is null`
      for (const { handler, id } of handled) ofService.delete(`${handler} ${id}`)
      for (const key of ofService.keys()) waiting.push(`${by} has to handle ${key}`)
    }
    for (const { by, handler, stream } of secretHandlers) {
      const count = await this.bus.pending(handler, stream)
      if (count > 0) waiting.push(`${by} has to handle ${count} of ${stream}`)
    }
    for (const [owner, query] of Object.entries(unfinished)) {
      const found = await this.system.sql(owner as keyof typeof unfinished).unsafe<{ what: string }[]>(query)
      waiting.push(...found.map(({ what }) => what))
    }
    return waiting
  }

  /** Waits for completion, and checks that there are no dead letters. */
  async settled(): Promise<void> {
    await this.quiet()
    const letters = await this.deadLetters()
    if (letters.length > 0) throw new Error(`Dead letters: ${letters.join('; ')}`)
  }

  // The provider

  pauseWebhooks = () => this.control('webhooks/config', { paused: true })
  async releaseWebhooks(): Promise<void> {
    await this.control('webhooks/release')
    await this.system.simulator.deliveriesIdle()
  }

  fault(path: string, fault: object): Promise<unknown> {
    return this.control('faults', { path, ...fault })
  }

  async pay({ url }: Pick<Page, 'url'>, card: string = cards.good, email?: string): Promise<string> {
    const session = sessionOf(url)
    const { body } = await this.control(`checkout/${session}/pay`, email === undefined ? { card } : { card, email })
    return String(body['status'])
  }

  subscription(membershipId: string): Subscription {
    for (const subscription of this.system.provider.subscriptions.values())
      if (subscription.metadata['attemptId'] === membershipId) return subscription
    throw new Error(`The provider has no subscription ${membershipId}.`)
  }

  /** Changes the card of a membership. */
  async useCard(membershipId: string, token: string): Promise<void> {
    const { id, customer } = this.subscription(membershipId)
    const attached = await this.atProvider('POST', `/v1/payment_methods/${token}/attach`, { customer: idOf(customer) })
    const changed = { default_payment_method: String(attached.body['id']) }
    await this.atProvider('POST', `/v1/subscriptions/${id}`, changed)
    await this.system.simulator.deliveriesIdle()
  }

  /** Whether the provider will renew it. */
  renews(membershipId: string): boolean {
    const { status, cancel_at, cancel_at_period_end } = this.subscription(membershipId)
    return status !== 'canceled' && cancel_at === null && !cancel_at_period_end
  }

  /** Charges for a registration, order or membership, oldest first. */
  charges(id: string): Charge[] {
    const { provider } = this.system
    const customers = [...provider.subscriptions.values()]
      .filter(({ metadata }) => metadata['attemptId'] === id)
      .map(({ customer }) => idOf(customer))
    return [...provider.charges.values()].filter((charge) => {
      if (charge.status !== 'succeeded') return false
      const { metadata = {} } = provider.paymentIntents.get(idOf(charge.payment_intent)) ?? {}
      return (
        metadata['registrationId'] === id || metadata['orderId'] === id || customers.includes(idOf(charge.customer))
      )
    })
  }

  /** Captured minus refunded cents. */
  kept(...ids: string[]): number {
    return ids
      .flatMap((id) => this.charges(id))
      .reduce((sum, { amount_captured, amount_refunded }) => sum + amount_captured - amount_refunded, 0)
  }

  /** Its refunds, in any state. */
  refunds(id: string) {
    const charges = this.charges(id).map((charge) => charge.id)
    return [...this.system.provider.refunds.values()]
      .map(({ object }) => object)
      .filter(({ charge }) => charges.includes(idOf(charge)))
  }

  /** The number of its open checkout sessions. */
  openPages(...ids: string[]): number {
    return [...this.system.provider.sessions.values()].filter(
      ({ object }) => object.status === 'open' && ids.includes(object.client_reference_id ?? ''),
    ).length
  }

  #clockIsMoved = false
  /** Moves the provider's clock. */
  async moveClock(seconds: number): Promise<void> {
    this.#clockIsMoved = true
    this.system.simulator.advanceClock(seconds)
  }
  async resetClock(): Promise<void> {
    await this.control('clock', { reset: true })
    this.#clockIsMoved = false
  }

  /** Advances the provider's clock until a membership has renewed or ended. */
  async passPeriod(membershipId: string): Promise<void> {
    const end = this.subscription(membershipId).items.data[0]?.current_period_end ?? 0
    // The invoice is a draft for an hour; one minute as margin.
    await this.moveClock(end - this.system.simulator.now() + 3600 + 60)
    await this.system.simulator.deliveriesIdle()
    await this.resetClock()
  }

  // Operators

  refund(registrationId: string, amount?: number, refundId = randomUUIDv7()): Promise<Answer> {
    const of = { registrationId, refundId }
    return this.operate('billing', 'POST', '/refunds', amount === undefined ? of : { ...of, amount })
  }

  ship(id: string): Promise<Answer> {
    const parcel = { carrier: 'UPS', trackingNumber: '1Z 999' }
    return this.operate('enrollment', 'POST', `/kits/${id}/ship`, parcel)
  }

  async setPrice(sku: string, amount: number): Promise<void> {
    const { status } = await this.operate('billing', 'POST', '/admin/prices', { sku, amount })
    if (status !== 200) throw new Error(`The price of ${sku} was not set.`)
  }

  /** Calls an administrator operation of identity. */
  administerAccount(operation: string, email: string): Promise<unknown> {
    const identityTarget = { url: this.system.processes.identity.url, pool: 'us-west-1_RoboKids' }
    return administer({ ...identityTarget, accessKeyId: 'local', secretAccessKey: 'local' }, operation, {
      Username: email,
    })
  }

  /** Has a service republish all events of this test. */
  async republish(service: OwningService, from = this.#begun): Promise<void> {
    const { status } = await this.operate(service, 'POST', '/admin/outbox/republish', { from: from.toISOString() })
    if (status !== 200) throw new Error(`${service} publishes nothing again.`)
  }

  /** Publishes an old event in place of the producing service. */
  async publish(event: { id: string; type: string }): Promise<void> {
    // A broker that has just restarted may reject the first attempt.
    await eventually(async () => {
      await this.bus.publishUnchecked(event.type, JSON.stringify(event))
      return true
    })
    this.#foreign.push(event)
  }

  /** While this lock is held, a service commits but cannot publish. @returns a function that releases it */
  async holdPublishing(owner: OwningService): Promise<() => Promise<void>> {
    const connection = await this.system.sql(owner).reserve()
    await connection`begin`
    await connection`select pg_advisory_xact_lock(hashtext('outbox'))`
    return async () => {
      await connection`rollback`
      connection.release()
    }
  }

  // Mails

  /** Also makes pending mails due at once. */
  override async setMailServer(where: 'away' | 'back'): Promise<void> {
    const isComingBack = this.isMailServerAway && where === 'back'
    await super.setMailServer(where)
    if (!isComingBack) return
    const sql = this.system.sql('notifications')
    await sql`update mails set next_try_at = now() where status = 'pending'`
    await this.system.wake('notifications', 'send-mails')
  }

  /** Subjects of the received mails, oldest first. */
  async subjects(address: string): Promise<string[]> {
    return (await this.system.mailsTo(address)).map(({ subject }) => subject)
  }

  mail(address: string, matching: RegExp): Promise<Mail> {
    return eventually(async () => {
      const mails = await this.system.mailsTo(address)
      const found = mails.find(({ subject }) => matching.test(subject))
      if (!found) throw new Error(`No mail like ${String(matching)}: ${mails.map(({ subject }) => subject).join('; ')}`)
      return found
    })
  }

  // Families

  address = () => `maren.${randomUUIDv7()}@example.com`
  readonly #cookie = browserCookie().split('=') as [string, string]

  /** A new browser. */
  stranger = () => new Browser(this.system.siteUrl)

  /** A window of the browser in which all purchases are made, with nobody signed in. */
  browser(bffUrl?: string): Browser {
    const browser = new Browser(this.system.siteUrl, bffUrl)
    browser.cookies.set(...this.#cookie)
    return browser
  }

  /** Returns the newest code to an address once there are `count`. */
  codeTo(destination: string, count = 1): Promise<string> {
    return eventually(() => {
      const codes = this.codesOf(destination)
      return codes.length >= count && codes.at(-1)
    })
  }

  /** Signs up, without confirming. */
  async pendingMember(email = this.address()): Promise<{ browser: Browser; email: string }> {
    const browser = this.browser()
    const { status } = await browser.post('/api/auth/sign-up', sampleMember(email))
    if (status !== 200) throw new Error(`The sign-up was answered ${status}.`)
    return { browser, email }
  }

  async confirm({ browser, email }: { browser: Browser; email: string }, codes = 1): Promise<Account> {
    const { body } = await browser.post('/api/auth/confirm-sign-up', { email, code: await this.codeTo(email, codes) })
    if (body['signedIn'] !== true) throw new Error(`The confirmation was answered ${JSON.stringify(body)}`)
    await browser.recordAccount()
    return { browser, email, userId: browser.userId ?? '' }
  }

  /** Creates a confirmed, signed-in account. */
  async account(email = this.address()): Promise<Account> {
    const codes = this.codesTo(email)
    return this.confirm(await this.pendingMember(email), codes + 1)
  }

  /** Changes the address of an account, and verifies it if `proven`. */
  async moveTo({ browser }: Account, email: string, proven = true): Promise<void> {
    const codes = this.codesTo(email)
    const { status } = await browser.ask('PATCH', '/api/profile', { email })
    if (status !== 200) throw new Error(`The change of address was answered ${status}.`)
    if (proven) await this.prove({ browser }, email, codes + 1)
  }

  async prove({ browser }: { browser: Browser }, email: string, codes = 1): Promise<void> {
    const code = await this.codeTo(email, codes)
    const { status, body } = await browser.post('/api/profile/verification/confirm', { attribute: 'email', code })
    if (status !== 200) throw new Error(`The code was answered ${status}: ${JSON.stringify(body)}`)
  }

  async deleteAccount({ browser }: { browser: Browser }): Promise<void> {
    const { status } = await browser.ask('DELETE', '/api/profile', { password })
    if (status !== 200) throw new Error(`The deletion was answered ${status}.`)
  }

  /** Creates a class date of its own, with a session of each class. */
  async date(capacity = 10): Promise<string> {
    this.#dates += 1
    const date = Temporal.PlainDate.from('2031-01-01').add({ days: this.#dates }).toString()
    const sql = this.system.sql('enrollment')
    for (const classType of ['basic', 'intermediate', 'membership'])
      await sql`
        insert into class_sessions (id, season, class_type, date, start_time, duration_minutes, time_zone, starts_at, capacity)
        values (${randomUUIDv7()}, 'test', ${classType}, ${date}, '16:00', 75, 'America/Los_Angeles',
          ${`${date}T23:00:00Z`}, ${capacity})`
    return date
  }

  /** Returns the completed form of a new family. */
  async form(differences: Partial<RegisterBody> = {}): Promise<RegisterBody & { id: string }> {
    const startDate = differences.startDate ?? (await this.date())
    return {
      ...sampleFamily(),
      email: this.address(),
      classType: 'basic',
      unlessRegistered: true,
      startDate,
      ...differences,
    } as RegisterBody & { id: string }
  }

  /** Returns the terms that the page shows before a form is sent. */
  async terms(body: RegisterBody): Promise<AgreementTerms> {
    const { prices, promotions } = pricesSchema.parse((await this.operate('billing', 'GET', '/prices')).body)
    const now = Temporal.Now.instant()
    return registrationTerms({
      classType: body.classType,
      startDate: body.startDate,
      children: 1 + (body.siblings?.length ?? 0),
      siblingJoinsFree: promotions.some(
        ({ classTypes, startsAt, endsAt }) =>
          classTypes.includes(body.classType) &&
          Temporal.Instant.compare(startsAt, now) <= 0 &&
          Temporal.Instant.compare(now, endsAt) < 0,
      ),
      unitAmount: prices.find(({ sku }) => sku === `class:${body.classType}`)?.amount ?? 0,
    })
  }

  /** Sends a form with its agreed terms. @throws if it is rejected */
  async register(differences: Partial<RegisterBody> = {}, browser = this.browser()): Promise<Registered> {
    const body = await this.form(differences)
    const answer = await browser.post('/api/registrations', { ...body, agreed: await this.terms(body) })
    return { body, ...pageOf(answer) }
  }

  async registration(id: string): Promise<RegistrationView> {
    return registrationViewSchema.parse((await this.browser().get(`/api/registrations/${id}`)).body)
  }

  /** Registers and pays. */
  async enrolled(differences: Partial<RegisterBody> = {}, card: string = cards.good): Promise<Registered> {
    const registered = await this.register(differences)
    await this.pay(registered, card)
    await this.system.reaches(registered.id, 'confirmed')
    return registered
  }

  sign({ id, body }: Pick<Registered, 'id' | 'body'>, differences: object = {}): Promise<Answer> {
    const { guardianName, childName, childAge, email, startDate, classType } = body
    const signature = { registrationId: id, guardianName, childName, childAge, email, startDate, classType }
    return this.browser().post('/api/waivers', { ...signature, ...differences })
  }

  async seatsLeft(classType: string, date: string): Promise<number | undefined> {
    const { body } = await this.browser().get(`/api/availableSlots?classType=${classType}`)
    const slots = body['slots'] as { classDate: string; availableSlots: number }[]
    return slots.find(({ classDate }) => classDate === date)?.availableSlots
  }

  // Members

  /** Requests a membership's payment page. */
  async membershipPage(
    email: string,
    options: { browser?: Browser; plan?: MembershipPlan; classDate?: string } = {},
  ): Promise<Page> {
    const { browser = this.browser(), plan = 'monthly', classDate: date = await this.date() } = options
    const answer = await browser.post('/api/createStripeSession', { email, plan, classDate: date })
    if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    const url = String(answer.body['url'])
    const { object } = this.system.provider.sessions.get(sessionOf(url)) ?? {}
    return { url, id: object?.client_reference_id ?? '' }
  }

  async outcome(id: string): Promise<MembershipOutcome> {
    return membershipOutcomeSchema.parse((await this.browser().get(`/api/membership-checkouts/${id}`)).body)
  }

  /** Pays for a membership and waits for its seat. */
  async join(page: Page): Promise<Page> {
    await this.pay(page)
    await eventually(async () => (await this.outcome(page.id)).status === 'confirmed')
    return page
  }

  /** Creates an account that has become a member while signed in. */
  async member(plan: MembershipPlan = 'monthly'): Promise<Account & Page> {
    const account = await this.account()
    const { browser, email } = account
    return { ...account, ...(await this.join(await this.membershipPage(email, { browser, plan }))) }
  }

  async quote(browser: Browser, plan: MembershipPlan) {
    const { status, body } = await browser.post('/api/membership/quote', { plan })
    if (status !== 200) throw new Error(`The quote was answered ${status}: ${JSON.stringify(body)}`)
    return switchQuoteSchema.parse(body)
  }

  async switchTo(browser: Browser, plan: MembershipPlan): Promise<Answer> {
    const { dueNow, reckonedAt, agreement } = await this.quote(browser, plan)
    const agreed = agreement === undefined ? {} : { agreed: agreement.terms }
    return browser.post('/api/membership/switch', { plan, dueNow, reckonedAt, ...agreed })
  }

  // The shop

  async order(body: { orderId: string; items: object[]; replaces?: string; agreed?: AgreementTerms }): Promise<Page> {
    return pageOf(await this.browser().post('/api/checkout', body))
  }

  async readOrder(id: string): Promise<Order> {
    return orderSchema.parse((await this.browser().get(`/api/orders/${id}`)).body)
  }

  /** Places and pays an order. */
  async bought(items: object[], card: string = cards.good): Promise<Page & { email: string }> {
    const email = this.address()
    const page = await this.order({ orderId: randomUUIDv7(), items })
    await this.pay(page, card, email)
    await eventually(async () => (await this.readOrder(page.id)).status === 'paid')
    return { ...page, email }
  }
}

export function sessionOf(url: string): string {
  return new URL(url).pathname.split('/').at(-1) ?? ''
}

/** @throws if the response has no page */
export function pageOf({ status, body }: Answer): Page {
  if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
  return { id: String(body['registrationId'] ?? body['orderId']), url: String(body['checkoutUrl']) }
}

/** Returns the error code of a response, or 200. */
export function refusalOf({ status, body }: Answer): string | number {
  return status === 200 ? 200 : String(body['code'])
}
