import { randomUUIDv7 } from 'node:crypto'
import {
  foundMembershipSchema,
  membershipCheckoutSchema,
  membershipSchema,
  reconciliationSchema,
  switchQuoteSchema,
  type Membership,
} from '@robokids/contracts/billing'
import { mailsSchema, type MailKind } from '@robokids/contracts/notifications'
import { freePort } from '@robokids/local/processes'
import { localSealingKeys } from '@robokids/runtime/seal'
import type { RunningService } from '@robokids/runtime/service'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import postgres from 'postgres'
import { Stripe } from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSimulator, type Simulator } from '../deploy/stripe-simulator/src/app.ts'
import { billing } from '../services/billing/src/app.ts'
import { enrollment } from '../services/enrollment/src/app.ts'
import { notifications } from '../services/notifications/src/app.ts'
import { FakeSmtpServer } from '../services/notifications/test/fake-smtp-server.ts'

const secret = 'whsec_a_year'
const day = 24 * 3600

let bed: TestBed
let simulator: Simulator
let billingService: RunningService<never>
let notificationsService: RunningService<never>
let enrollmentService: RunningService<never>
let smtpServer: FakeSmtpServer
let stripe: Stripe
let sql: postgres.Sql
beforeAll(async () => {
  bed = await testBed()
  smtpServer = new FakeSmtpServer()
  await smtpServer.open()
  const port = await freePort()
  simulator = await createSimulator({
    webhooks: [{ url: `http://127.0.0.1:${port}/webhooks/stripe`, secret }],
    retryDelaysMs: [100, 200, 400, 800],
  })
  stripe = new Stripe('sk_test_member', { ...simulator.sdk, telemetry: false })
  const enrolling = await bed.start(enrollment)
  sql = postgres(enrolling.databaseUrl, { max: 1, onnotice: () => {} })
  enrollmentService = enrolling as unknown as RunningService<never>
  billingService = (await bed.start(billing, {
    PORT: String(port),
    STRIPE_SECRET_KEY: 'sk_test_year',
    STRIPE_API_URL: simulator.url,
    STRIPE_WEBHOOK_SECRETS: secret,
    SITE_URL: 'https://robokids.example',
    RECONCILE_EVERY_MS: '3600000',
  })) as unknown as RunningService<never>
  notificationsService = (await bed.start(notifications, {
    SMTP_URL: smtpServer.url,
    CODE_SEALING_KEYS: localSealingKeys,
    SITE_URL: 'https://robokids.example',
  })) as unknown as RunningService<never>
})
afterAll(async () => {
  await sql.end({ timeout: 1 })
  await bed.stop()
  await Promise.all([smtpServer.close(), simulator.stop()])
})

const admin = { 'x-admin-secret': 'local-admin' }
async function call(service: RunningService<never>, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: { ...admin, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return JSON.parse(text)
}

/** One member, as seen by each service. */
class Member {
  readonly email = `maren.${randomUUIDv7()}@example.com`
  readonly userId = randomUUIDv7()
  id = ''

  async join(plan: 'monthly' | 'yearly', classDate: string): Promise<void> {
    await sql`
      insert into class_sessions (id, season, class_type, date, start_time, duration_minutes, time_zone, starts_at, capacity)
      values (${randomUUIDv7()}, 'test', 'membership', ${classDate}, '16:00', 75, 'America/Los_Angeles',
        ${`${classDate}T23:00:00Z`}, 10)`
    await call(enrollmentService, 'POST', '/member-seats', { email: this.email, classDate })
    const request = { email: this.email, plan, classDate }
    const { attemptId, checkoutUrl } = membershipCheckoutSchema.parse(
      await call(billingService, 'POST', '/membership-checkouts', request),
    )
    const session = /cs_test_\w+/.exec(checkoutUrl)?.[0]
    const paid = await fetch(`${simulator.url}/_sim/checkout/${session}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ card: '4242424242424242' }),
    })
    expect(await paid.json()).toMatchObject({ status: 'paid' })
    this.id = attemptId
    await this.waitForMail('membership_confirmed')
  }

  async profile(): Promise<Membership> {
    const body = { userId: this.userId, email: this.email }
    const { membership } = foundMembershipSchema.parse(await call(billingService, 'POST', '/memberships/find', body))
    if (!membership) throw new Error('The profile shows no membership.')
    return membership
  }

  /** The kinds of the sent mails, oldest first. */
  async mails(): Promise<MailKind[]> {
    const { mails } = mailsSchema.parse(
      await call(notificationsService, 'GET', `/mails?email=${encodeURIComponent(this.email)}`),
    )
    return mails.filter(({ status }) => status === 'sent').map(({ kind }) => kind)
  }

  async waitForMail(kind: MailKind, times = 1): Promise<void> {
    await eventually(async () => (await this.mails()).filter((one) => one === kind).length === times, 20_000)
  }

  /** A membership whose credits are being given at that moment is left to the hourly job's next run. */
  async waitForReminder(times = 1): Promise<void> {
    await eventually(async () => {
      billingService.wakeAll()
      return (await this.mails()).filter((one) => one === 'membership_reminder').length === times
    }, 20_000)
  }

  async subscription(): Promise<Stripe.Subscription> {
    const all = await stripe.subscriptions.list({ status: 'all', limit: 100 })
    const found = all.data.find(({ metadata }) => metadata['attemptId'] === this.id)
    if (!found) throw new Error('The provider has no such subscription.')
    return found
  }

  /** Changes the card as the provider's page does. */
  async useCard(token: string): Promise<void> {
    const { id, customer } = await this.subscription()
    const method = await stripe.paymentMethods.attach(token, {
      customer: typeof customer === 'string' ? customer : customer.id,
    })
    await stripe.subscriptions.update(id, { default_payment_method: method.id })
    await simulator.deliveriesIdle()
  }

  change(what: 'cancel' | 'resume'): Promise<unknown> {
    return call(billingService, 'POST', `/memberships/${this.id}/${what}`)
  }

  async switchTo(plan: 'monthly' | 'yearly') {
    const quote = switchQuoteSchema.parse(await call(billingService, 'POST', `/memberships/${this.id}/quote`, { plan }))
    const { dueNow, reckonedAt } = quote
    const body = { plan, dueNow, reckonedAt }
    const changed = membershipSchema.parse(await call(billingService, 'POST', `/memberships/${this.id}/switch`, body))
    return { quote, changed, body }
  }
}

/** Advances all clocks. */
async function advanceTime(seconds: number): Promise<void> {
  simulator.advanceClock(seconds)
  billingService.context.clock.advance({ hours: Math.round(seconds / 3600) })
  await simulator.deliveriesIdle()
  billingService.wakeAll()
}

/** Checks that the ledger balances and that each entry belongs to a sale. */
async function checkLedgerBalance() {
  const books = reconciliationSchema.parse(await call(billingService, 'POST', '/admin/reconcile'))
  expect(books).toMatchObject({ difference: 0, disagreements: [], unexplained: [] })
  expect(books.ledger).toEqual(books.stripe)
  expect(Object.values(books.accounts).reduce((sum, cents) => sum + cents, 0)).toBe(0)
  return books
}

const receipts = (membership: Membership) => membership.payments.map(({ receiptNumber }) => receiptNumber)

describe('A membership over a year', { timeout: 240_000 }, () => {
  it('A membership renews twelve times, survives a failed card, switches to yearly, and ends when cancelled', async () => {
    const member = new Member()
    await member.join('monthly', '2041-01-08')
    let profile = await member.profile()
    expect(profile).toMatchObject({ status: 'active', plan: 'monthly', unpaid: null, endsAt: null })
    let sales = -((await checkLedgerBalance()).accounts['sales'] ?? 0)
    expect(sales).toBe(700)

    for (let month = 1; month <= 12; month++) {
      if (month === 5) await member.useCard('pm_card_chargeCustomerFail')
      const until = Temporal.Instant.from(profile.paidUntil)
      // The invoice is a draft for an hour; another hour as margin.
      await advanceTime(until.epochMilliseconds / 1000 - simulator.now() + 2 * 3600)
      if (month === 5) {
        await member.waitForMail('membership_past_due')
        profile = await member.profile()
        expect(profile).toMatchObject({ status: 'past_due', unpaid: { amount: 700, attempts: 1 } })
        expect(profile.payments).toHaveLength(month)
        await checkLedgerBalance()
        await advanceTime(3 * day)
        await member.waitForMail('membership_past_due', 2)
        expect(await member.profile()).toMatchObject({ unpaid: { attempts: 2 } })
        await member.useCard('pm_card_visa')
        await advanceTime(5 * day)
      }
      await member.waitForMail('membership_renewed', month)
      profile = await eventually(async () => {
        const seen = await member.profile()
        return seen.payments.length === month + 1 && seen
      })
      expect(profile).toMatchObject({ status: 'active', plan: 'monthly', unpaid: null })
      expect(profile.nextCharge).toEqual({ at: profile.paidUntil, amount: 700, currency: 'usd' })
      expect(Temporal.Instant.compare(profile.paidUntil, until)).toBe(1)
      sales += 700
      expect((await checkLedgerBalance()).accounts['sales']).toBe(-sales)
    }
    await member.waitForReminder()
    expect(new Set(receipts(profile)).size).toBe(13)

    await advanceTime(10 * day)
    const { quote, changed, body } = await member.switchTo('yearly')
    // About three weeks of a month at $7.
    expect(quote.credit).toBeGreaterThan(350)
    expect(quote.credit).toBeLessThan(600)
    expect(quote).toMatchObject({ amount: 6_000, dueNow: 6_000 - quote.credit })
    expect(changed).toMatchObject({ plan: 'yearly', amount: 6_000, nextPlan: null })
    await call(billingService, 'POST', `/memberships/${member.id}/switch`, body)
    await member.waitForMail('membership_switched')
    await member.waitForMail('membership_renewed', 13)
    profile = await member.profile()
    expect(profile.payments[0]).toMatchObject({ amount: quote.dueNow, plan: 'yearly', reason: 'switch' })
    expect(profile.nextCharge?.amount).toBe(6_000)
    sales += quote.dueNow
    expect((await checkLedgerBalance()).accounts['sales']).toBe(-sales)

    await advanceTime(340 * day)
    await member.waitForReminder(2)
    await member.change('cancel')
    await member.change('cancel')
    await member.waitForMail('membership_cancelled')
    profile = await member.profile()
    expect(profile).toMatchObject({ status: 'active', endsAt: profile.paidUntil, nextCharge: null })
    await advanceTime(40 * day)
    await member.waitForMail('membership_ended')
    profile = await member.profile()
    expect(profile).toMatchObject({ status: 'ended', nextCharge: null })
    expect(profile.payments).toHaveLength(14)
    expect((await checkLedgerBalance()).accounts['sales']).toBe(-sales)

    const counts = Object.fromEntries(
      Map.groupBy(await member.mails(), (kind) => kind)
        .entries()
        .map(([kind, all]) => [kind, all.length]),
    )
    expect(counts).toEqual({
      membership_confirmed: 1,
      membership_renewed: 13,
      membership_past_due: 2,
      membership_reminder: 2,
      membership_switched: 1,
      membership_cancelled: 1,
      membership_ended: 1,
    })
  })

  it('Switching from yearly to monthly keeps the paid time, and can be undone', async () => {
    const member = new Member()
    await member.join('yearly', '2041-01-09')
    const before = await member.profile()
    const first = await member.switchTo('monthly')
    expect(first.quote).toMatchObject({
      dueNow: 0,
      credit: 0,
      amount: 700,
      from: before.paidUntil,
      nextChargeAt: before.paidUntil,
    })
    expect(first.changed).toMatchObject({
      plan: 'yearly',
      nextPlan: 'monthly',
      paidUntil: before.paidUntil,
      nextCharge: { at: before.paidUntil, amount: 700 },
    })
    // Each mail is sent before the next change: a pending one would be superseded.
    await member.waitForMail('membership_switched')
    expect((await member.switchTo('yearly')).changed).toMatchObject({ plan: 'yearly', nextPlan: null })
    await member.waitForMail('membership_switched', 2)
    expect((await member.switchTo('monthly')).changed).toMatchObject({ nextPlan: 'monthly' })
    await member.waitForMail('membership_switched', 3)
    // Cancelling keeps the whole year too.
    await member.change('cancel')
    expect(await member.profile()).toMatchObject({ endsAt: before.paidUntil, nextPlan: null })
    await member.change('resume')
    expect((await member.switchTo('monthly')).changed).toMatchObject({ nextPlan: 'monthly', endsAt: null })

    await advanceTime(366 * day)
    await member.waitForMail('membership_renewed')
    const after = await member.profile()
    expect(after).toMatchObject({ plan: 'monthly', amount: 700, nextPlan: null, status: 'active' })
    expect(after.payments[0]).toMatchObject({ amount: 700, plan: 'monthly', reason: 'renewal' })
    expect(Temporal.Instant.from(before.paidUntil).until(after.paidUntil).total('days')).toBeLessThan(32)
    await checkLedgerBalance()
  })

  it('A membership ends when its card keeps failing, and says why', async () => {
    const member = new Member()
    await member.join('monthly', '2041-01-10')
    await member.useCard('pm_card_chargeCustomerFail')
    await advanceTime(31 * day + 2 * 3600)
    await member.waitForMail('membership_past_due')
    // A past-due membership cannot be changed, and the attempt changes nothing.
    await expect(member.switchTo('yearly')).rejects.toThrow('membership_not_changeable')
    for (const days of [3, 5, 7]) await advanceTime(days * day + 3600)
    await member.waitForMail('membership_ended')
    expect(await member.profile()).toMatchObject({ status: 'ended', unpaid: null })
    await checkLedgerBalance()
  })

  it('A plan change that the card declines changes nothing', async () => {
    const member = new Member()
    await member.join('monthly', '2041-01-11')
    await member.useCard('pm_card_chargeCustomerFail')
    const before = await member.profile()
    await expect(member.switchTo('yearly')).rejects.toThrow('payment_declined')
    expect(await member.profile()).toEqual(before)
    await member.useCard('pm_card_visa')
    expect((await member.switchTo('yearly')).changed).toMatchObject({ plan: 'yearly' })
    await checkLedgerBalance()
  })
})
