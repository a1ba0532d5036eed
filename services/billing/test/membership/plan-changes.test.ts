import { randomUUIDv7 } from 'node:crypto'
import type { MembershipPlan } from '@robokids/contracts/auth'
import {
  membershipCheckoutSchema,
  membershipSchema,
  subscriptionActivated,
  subscriptionCancelled,
  subscriptionReminder,
  subscriptionSwitched,
  switchQuoteSchema,
  type SwitchQuote,
} from '@robokids/contracts/billing'
import { errorBodySchema } from '@robokids/contracts/errors'
import { outbox } from '@robokids/runtime/outbox'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq, isNull, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { remindMembers } from '../../src/membership/remind-members.ts'
import { memberships, planOffers } from '../../src/schema.ts'
import { idOf } from '../../src/stripe/client.ts'
import { adminHeaders, codeOf, neverAborts, BillingFixture, type Answer } from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture
beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
})
afterEach(async () => {
  await fixture.sim('DELETE', '/faults')
  await fixture.webhooks({})
  await fixture.setPrice('membership:monthly', 700)
  await fixture.setPrice('membership:yearly', 6_000)
})
afterAll(() => fixture.close())

const db = () => fixture.service.context.db
/** A test card that requires a confirmation for each payment. */
const confirming = '4000002760003184'

async function join(plan: MembershipPlan, card?: string): Promise<string> {
  const body = { email: `maren.${randomUUIDv7()}@example.com`, plan, classDate: '2027-01-08' }
  const made = membershipCheckoutSchema.parse((await fixture.call('POST', '/membership-checkouts', body)).body)
  const outcome = await fixture.pay(made, card)
  if (outcome.status === 'requires_action') await confirm(outcome.redirectUrl)
  await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === made.attemptId)
  return made.attemptId
}

/** Answers the bank's confirmation as the cardholder. */
async function confirm(url: string | null, answer: 'complete' | 'fail' = 'complete'): Promise<void> {
  await fetch(url ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `answer=${answer}`,
    redirect: 'manual',
  })
}

/** Pays on the page of an invoice with the card on file. */
async function payOnPage(invoiceUrl: string): Promise<{ status: string; redirectUrl: string | null }> {
  const answer = await fetch(`${invoiceUrl}/pay`, { method: 'POST', headers: { accept: 'application/json' } })
  return (await answer.json()) as { status: string; redirectUrl: string | null }
}

async function quote(id: string, plan: MembershipPlan): Promise<SwitchQuote> {
  const answer = await fixture.call('POST', `/memberships/${id}/quote`, { plan })
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return switchQuoteSchema.parse(answer.body)
}
/** Agrees to a quote, as a page does, or as a page of the previous version, which sends no agreement. */
function agree(id: string, { plan, dueNow, reckonedAt, agreement }: SwitchQuote, old = false): Promise<Answer> {
  const agreed = old ? {} : { agreed: agreement?.terms }
  return fixture.call('POST', `/memberships/${id}/switch`, { plan, dueNow, reckonedAt, ...agreed })
}

/** Agrees to the current offer in a rejection. */
function agreeToOffer(id: string, answer: Answer): Promise<Answer> {
  const { agreement } = errorBodySchema.parse(answer.body)
  if (!agreement?.terms.renewal) throw new Error('Nothing is offered.')
  const { terms } = agreement
  const { plan } = agreement.terms.renewal
  return fixture.call('POST', `/memberships/${id}/switch`, {
    plan,
    dueNow: terms.dueNow,
    reckonedAt: terms.reckonedAt,
    agreed: terms,
  })
}

async function subscriptionOf(id: string) {
  const [row] = await db().select().from(memberships).where(eq(memberships.attemptId, id))
  return fixture.stripe.subscriptions.retrieve(row?.stripeSubscriptionId ?? '', { expand: ['latest_invoice'] })
}
async function view(id: string) {
  const { rows } = await db().execute<{ email: string; user_id: string | null }>(
    sql`select email, user_id from memberships where attempt_id = ${id}`,
  )
  const userId = rows[0]?.user_id ?? randomUUIDv7()
  const { body } = await fixture.call('POST', '/memberships/find', { userId, email: rows[0]?.email })
  return membershipSchema.parse((body as { membership: unknown }).membership)
}
const published = <T>(event: Parameters<typeof bed.bus.all>[0], id: string): T[] =>
  bed.bus.all(event, (data) => (data as { attemptId: string }).attemptId === id) as T[]
async function allPublished(): Promise<void> {
  await eventually(async () => (await db().$count(outbox, isNull(outbox.publishedAt))) === 0)
}

describe('a quoted change of plan', () => {
  it.each([
    ['with the agreement', false],
    ['by a page of the previous version', true],
  ])('is rejected, %s, after a change of price, and accepted with the new offer', async (_, old) => {
    const id = await join('yearly')
    const quoted = await quote(id, 'monthly')
    expect(quoted).toMatchObject({ amount: 700, dueNow: 0 })
    expect(quoted.agreement?.terms).toMatchObject({ renewal: { plan: 'monthly', amount: 700 } })
    await fixture.setPrice('membership:monthly', 1_900)
    const refused = await agree(id, quoted, old)
    expect([refused.status, codeOf(refused)]).toEqual([409, 'quote_outdated'])
    expect((await view(id)).nextPlan).toBeNull()
    expect((await agreeToOffer(id, refused)).body).toMatchObject({ nextPlan: 'monthly', nextCharge: { amount: 1_900 } })
    const agreed = await db().select().from(planOffers).where(eq(planOffers.membershipId, id))
    expect(
      agreed.filter(({ agreedAt }) => agreedAt !== null).map(({ agreement }) => agreement.terms.renewal?.amount),
    ).toEqual([1_900])
  })

  it('is rejected after a change of price if the new plan starts immediately', async () => {
    const id = await join('monthly')
    const quoted = await quote(id, 'yearly')
    await fixture.setPrice('membership:yearly', 7_000)
    const refused = await agree(id, quoted)
    expect([refused.status, codeOf(refused)]).toEqual([409, 'quote_outdated'])
    expect((await agreeToOffer(id, refused)).body).toMatchObject({ plan: 'yearly', amount: 7_000 })
  })

  it('is rejected if any figure differs from the quote', async () => {
    const id = await join('monthly')
    const { agreement, ...quoted } = await quote(id, 'yearly')
    const terms = agreement!.terms
    for (const other of [
      { ...terms, credit: terms.credit + 1 },
      { ...terms, renewal: { ...terms.renewal!, amount: 1 } },
      { ...terms, renewal: { ...terms.renewal!, on: '2026-01-01' } },
      { ...terms, termsVersion: 'an older one' },
    ]) {
      const answer = await agree(id, { ...quoted, agreement: { ...agreement!, terms: other } })
      expect([answer.status, codeOf(answer)]).toEqual([409, 'quote_outdated'])
    }
    expect((await agree(id, { ...quoted, agreement })).body).toMatchObject({ plan: 'yearly' })
  })
})

describe('the credit for the rest of a month', () => {
  const refund = async (id: string, amount?: number) => {
    const answer = await fixture.call(
      'POST',
      '/refunds',
      { registrationId: id, refundId: randomUUIDv7(), ...(amount === undefined ? {} : { amount }) },
      adminHeaders,
    )
    expect(answer.status).toBe(200)
  }

  it('is given as far as the month was paid and not refunded', { timeout: 60_000 }, async () => {
    for (const back of fc.sample(fc.oneof(fc.constantFrom(0, 1, 700), fc.integer({ min: 1, max: 700 })), 8)) {
      const id = await join('monthly')
      if (back > 0) await refund(id, back)
      const quoted = await quote(id, 'yearly')
      // It has just started: nearly all of the month's 700 cents are unused.
      const credit = back === 0 || 700 - back >= 700 ? quoted.credit : 0
      expect(quoted).toMatchObject({ credit, dueNow: 6_000 - credit })
      expect(quoted.agreement?.terms).toMatchObject({ credit, dueNow: 6_000 - credit })
      expect((await agree(id, quoted)).body).toMatchObject({ plan: 'yearly' })
      expect((await view(id)).payments[0]).toMatchObject({ amount: 6_000 - credit, reason: 'switch' })
    }
  })

  it('is not given if the payment is refunded between the quote and the consent', async () => {
    const id = await join('monthly')
    const quoted = await quote(id, 'yearly')
    expect(quoted.credit).toBeGreaterThan(0)
    await refund(id)
    const refused = await agree(id, quoted)
    expect([refused.status, codeOf(refused)]).toEqual([409, 'quote_outdated'])
    expect(refused.body).toMatchObject({ agreement: { terms: { credit: 0, dueNow: 6_000 } } })
    expect((await agreeToOffer(id, refused)).body).toMatchObject({ plan: 'yearly' })
  })

  it('is not given while the payment is disputed', async () => {
    const id = await join('monthly')
    const { latest_invoice: invoice } = await subscriptionOf(id)
    const { payments } = await fixture.stripe.invoices.retrieve(idOf(invoice) ?? '', { expand: ['payments'] })
    const intent = await fixture.stripe.paymentIntents.retrieve(idOf(payments?.data[0]?.payment.payment_intent) ?? '')
    await fixture.sim('POST', `/charges/${idOf(intent.latest_charge)}/dispute`)
    await eventually(async () => (await view(id)).payments[0]?.disputed)
    expect(await quote(id, 'yearly')).toMatchObject({ credit: 0, dueNow: 6_000 })
  })
})

describe('a change of plan whose payment needs a confirmation', () => {
  it('changes nothing until it is confirmed on the invoice’s page', async () => {
    const id = await join('monthly', confirming)
    const quoted = await quote(id, 'yearly')
    const asked = await agree(id, quoted)
    expect([asked.status, codeOf(asked)]).toEqual([402, 'payment_confirmation_required'])
    const { url } = errorBodySchema.parse(asked.body)
    // Repeated requests lead to one page.
    expect(errorBodySchema.parse((await agree(id, quoted)).body).url).toBe(url)
    await fixture.simulator.deliveriesIdle()
    expect(await view(id)).toMatchObject({ status: 'active', plan: 'monthly', unpaid: null, payments: { length: 1 } })
    expect(published(subscriptionSwitched, id)).toEqual([])

    const page = await payOnPage(url ?? '')
    expect(page.status).toBe('requires_action')
    await confirm(page.redirectUrl, 'fail')
    await fixture.simulator.deliveriesIdle()
    expect(await view(id)).toMatchObject({ status: 'active', plan: 'monthly', unpaid: null })
    await confirm((await payOnPage(url ?? '')).redirectUrl)
    await eventually(async () => (await view(id)).plan === 'yearly')
    const after = await view(id)
    expect(after.payments.map(({ amount, reason }) => [amount, reason])).toEqual([
      [quoted.dueNow, 'switch'],
      [700, 'first'],
    ])
    await eventually(() => published(subscriptionSwitched, id).length === 1)
  })

  it('can no longer be paid once the membership is cancelled', async () => {
    const id = await join('monthly', confirming)
    const { url } = errorBodySchema.parse((await agree(id, await quote(id, 'yearly'))).body)
    expect((await fixture.call('POST', `/memberships/${id}/cancel`)).status).toBe(200)
    expect((await payOnPage(url ?? '')).status).toBe('not_found')
    expect((await subscriptionOf(id)).pending_update).toBeNull()
  })

  it('expires after a day without a change or a charge', async () => {
    const id = await join('monthly', confirming)
    const { url } = errorBodySchema.parse((await agree(id, await quote(id, 'yearly'))).body)
    fixture.simulator.advanceClock(24 * 3600)
    expect((await payOnPage(url ?? '')).status).toBe('not_found')
    expect(await view(id)).toMatchObject({ status: 'active', plan: 'monthly', payments: { length: 1 } })
  })
})

describe('a scheduled change of plan', () => {
  it.each([
    ['immediately', undefined],
    [
      'during an outage of Stripe',
      { kind: 'error', method: 'POST', path: '/v1/subscriptions/*', status: 500, times: 6 },
    ],
  ])('is dropped when the membership is cancelled %s, and only the cancellation is published', async (_, fault) => {
    const id = await join('yearly')
    expect((await agree(id, await quote(id, 'monthly'))).body).toMatchObject({ nextPlan: 'monthly' })
    await allPublished()
    expect(published(subscriptionSwitched, id)).toHaveLength(1)
    if (fault) await fixture.fault(fault)
    const { status } = await fixture.call('POST', `/memberships/${id}/cancel`)
    expect(status).toBe(fault ? 503 : 200)
    // Once requested, it is retried until it succeeds.
    await eventually(async () => (await view(id)).endsAt !== null, 20_000)
    await bed.bus.seen(subscriptionCancelled, ({ attemptId }) => attemptId === id)
    await fixture.simulator.deliveriesIdle()
    await allPublished()
    expect(await view(id)).toMatchObject({ status: 'active', plan: 'yearly', nextPlan: null, nextCharge: null })
    expect(published(subscriptionSwitched, id)).toHaveLength(1)
    expect(published(subscriptionCancelled, id)).toHaveLength(1)
  })

  it('is named in the reminder of the renewal', async () => {
    const [id, other] = [await join('yearly'), await join('yearly')]
    await agree(id, await quote(id, 'monthly'))
    await fixture.simulator.deliveriesIdle()
    await db()
      .update(memberships)
      .set({ paidUntil: fixture.service.context.clock.now().add({ hours: 24 }) })
      .where(sql`attempt_id in (${id}, ${other})`)
    await remindMembers(fixture.service.context, neverAborts)
    const { data } = await bed.bus.seen(subscriptionReminder, ({ attemptId }) => attemptId === id)
    expect(data).toMatchObject({ plan: 'yearly', amount: 6_000, next: { plan: 'monthly', amount: 700 } })
    const { data: plain } = await bed.bus.seen(subscriptionReminder, ({ attemptId }) => attemptId === other)
    expect(plain.next).toBeUndefined()
  })
})

describe('a change of plan with another time than that of its quote', () => {
  it.each([-1, 0.5, 4_102_444_801, 253_402_300_800, 2 ** 53, 1e21, null, 'now', '2027-01-08', [], {}])(
    'is rejected with the invalid time %j',
    async (reckonedAt) => {
      const id = await theOne()
      const answer = await fixture.call('POST', `/memberships/${id}/switch`, { plan: 'yearly', dueNow: 0, reckonedAt })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    },
  )

  it.each([0, 1, 1_000_000_000, 4_102_444_800])(
    'is rejected as outdated with the time %i, without a call to Stripe',
    async (reckonedAt) => {
      const id = await theOne()
      const answer = await fixture.call('POST', `/memberships/${id}/switch`, { plan: 'yearly', dueNow: 0, reckonedAt })
      expect([answer.status, codeOf(answer)]).toEqual([409, 'quote_outdated'])
      expect((await subscriptionOf(id)).items.data[0]?.price.recurring?.interval).toBe('month')
    },
  )

  let joined: Promise<string> | undefined
  function theOne(): Promise<string> {
    joined ??= join('monthly')
    return joined
  }
})
