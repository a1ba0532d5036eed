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
import { adminHeaders, codeOf, neverAborts, Till, type Answer } from '../till.ts'

let bed: TestBed
let till: Till
beforeAll(async () => {
  bed = await testBed()
  till = await Till.open(bed)
})
afterEach(async () => {
  await till.sim('DELETE', '/faults')
  await till.webhooks({})
  await till.setPrice('membership:monthly', 700)
  await till.setPrice('membership:yearly', 6_000)
})
afterAll(() => till.close())

const db = () => till.service.context.db
/** Asks the cardholder to confirm each payment, in the provider's test mode. */
const confirming = '4000002760003184'

async function join(plan: MembershipPlan, card?: string): Promise<string> {
  const body = { email: `maren.${randomUUIDv7()}@example.com`, plan, classDate: '2027-01-08' }
  const made = membershipCheckoutSchema.parse((await till.call('POST', '/membership-checkouts', body)).body)
  const outcome = await till.pay(made, card)
  if (outcome.status === 'requires_action') await confirm(outcome.redirectUrl)
  await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === made.attemptId)
  return made.attemptId
}

/** The cardholder's answer on the bank's page. */
async function confirm(url: string | null, answer: 'complete' | 'fail' = 'complete'): Promise<void> {
  await fetch(url ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `answer=${answer}`,
    redirect: 'manual',
  })
}

/** What the cardholder does on the page of an invoice, with the card on file. */
async function payOnPage(invoiceUrl: string): Promise<{ status: string; redirectUrl: string | null }> {
  const answer = await fetch(`${invoiceUrl}/pay`, { method: 'POST', headers: { accept: 'application/json' } })
  return (await answer.json()) as { status: string; redirectUrl: string | null }
}

async function quote(id: string, plan: MembershipPlan): Promise<SwitchQuote> {
  const answer = await till.call('POST', `/memberships/${id}/quote`, { plan })
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return switchQuoteSchema.parse(answer.body)
}
/** Agrees to a quote, as a page does, or as one of the version before, which sends no agreement. */
function agree(id: string, { plan, dueNow, reckonedAt, agreement }: SwitchQuote, old = false): Promise<Answer> {
  const agreed = old ? {} : { agreed: agreement?.terms }
  return till.call('POST', `/memberships/${id}/switch`, { plan, dueNow, reckonedAt, ...agreed })
}

/** As after a refusal: to what is offered now. */
function agreeToOffer(id: string, answer: Answer): Promise<Answer> {
  const { agreement } = errorBodySchema.parse(answer.body)
  if (!agreement?.terms.renewal) throw new Error('Nothing is offered.')
  const { terms } = agreement
  const { plan } = agreement.terms.renewal
  return till.call('POST', `/memberships/${id}/switch`, {
    plan,
    dueNow: terms.dueNow,
    reckonedAt: terms.reckonedAt,
    agreed: terms,
  })
}

async function subscriptionOf(id: string) {
  const [row] = await db().select().from(memberships).where(eq(memberships.attemptId, id))
  return till.stripe.subscriptions.retrieve(row?.stripeSubscriptionId ?? '', { expand: ['latest_invoice'] })
}
async function view(id: string) {
  const { rows } = await db().execute<{ email: string; user_id: string | null }>(
    sql`select email, user_id from memberships where attempt_id = ${id}`,
  )
  const userId = rows[0]?.user_id ?? randomUUIDv7()
  const { body } = await till.call('POST', '/memberships/find', { userId, email: rows[0]?.email })
  return membershipSchema.parse((body as { membership: unknown }).membership)
}
const told = <T>(event: Parameters<typeof bed.bus.all>[0], id: string): T[] =>
  bed.bus.all(event, (data) => (data as { attemptId: string }).attemptId === id) as T[]
async function published(): Promise<void> {
  await eventually(async () => (await db().$count(outbox, isNull(outbox.publishedAt))) === 0)
}

describe('a change of plan that was quoted', () => {
  it.each([
    ['with the agreement', false],
    ['by a page of the version before', true],
  ])('is refused, %s, where the plan costs something else by now, and goes through as offered then', async (_, old) => {
    const id = await join('yearly')
    const quoted = await quote(id, 'monthly')
    expect(quoted).toMatchObject({ amount: 700, dueNow: 0 })
    expect(quoted.agreement?.terms).toMatchObject({ renewal: { plan: 'monthly', amount: 700 } })
    await till.setPrice('membership:monthly', 1_900)
    const refused = await agree(id, quoted, old)
    expect([refused.status, codeOf(refused)]).toEqual([409, 'quote_outdated'])
    expect((await view(id)).nextPlan).toBeNull()
    expect((await agreeToOffer(id, refused)).body).toMatchObject({ nextPlan: 'monthly', nextCharge: { amount: 1_900 } })
    const agreed = await db().select().from(planOffers).where(eq(planOffers.membershipId, id))
    expect(
      agreed.filter(({ agreedAt }) => agreedAt !== null).map(({ agreement }) => agreement.terms.renewal?.amount),
    ).toEqual([1_900])
  })

  it('is refused where the new plan is to begin at once and costs something else by now', async () => {
    const id = await join('monthly')
    const quoted = await quote(id, 'yearly')
    await till.setPrice('membership:yearly', 7_000)
    const refused = await agree(id, quoted)
    expect([refused.status, codeOf(refused)]).toEqual([409, 'quote_outdated'])
    expect((await agreeToOffer(id, refused)).body).toMatchObject({ plan: 'yearly', amount: 7_000 })
  })

  it('is what was agreed to as a whole: any other figure than the quoted one is refused', async () => {
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

describe('the unused time of a month', () => {
  const refund = async (id: string, amount?: number) => {
    const answer = await till.call(
      'POST',
      '/refunds',
      { registrationId: id, refundId: randomUUIDv7(), ...(amount === undefined ? {} : { amount }) },
      adminHeaders,
    )
    expect(answer.status).toBe(200)
  }

  it('is credited as far as it was paid for and kept', { timeout: 60_000 }, async () => {
    for (const back of fc.sample(fc.oneof(fc.constantFrom(0, 1, 700), fc.integer({ min: 1, max: 700 })), 8)) {
      const id = await join('monthly')
      if (back > 0) await refund(id, back)
      const quoted = await quote(id, 'yearly')
      // It has only just begun: of a month's 700 cents nearly all is unused.
      const credit = back === 0 || 700 - back >= 700 ? quoted.credit : 0
      expect(quoted).toMatchObject({ credit, dueNow: 6_000 - credit })
      expect(quoted.agreement?.terms).toMatchObject({ credit, dueNow: 6_000 - credit })
      expect((await agree(id, quoted)).body).toMatchObject({ plan: 'yearly' })
      expect((await view(id)).payments[0]).toMatchObject({ amount: 6_000 - credit, reason: 'switch' })
    }
  })

  it('is not credited where the payment goes back between the quote and the consent', async () => {
    const id = await join('monthly')
    const quoted = await quote(id, 'yearly')
    expect(quoted.credit).toBeGreaterThan(0)
    await refund(id)
    const refused = await agree(id, quoted)
    expect([refused.status, codeOf(refused)]).toEqual([409, 'quote_outdated'])
    expect(refused.body).toMatchObject({ agreement: { terms: { credit: 0, dueNow: 6_000 } } })
    expect((await agreeToOffer(id, refused)).body).toMatchObject({ plan: 'yearly' })
  })

  it('is not credited while the bank has taken the payment back', async () => {
    const id = await join('monthly')
    const { latest_invoice: invoice } = await subscriptionOf(id)
    const { payments } = await till.stripe.invoices.retrieve(idOf(invoice) ?? '', { expand: ['payments'] })
    const intent = await till.stripe.paymentIntents.retrieve(idOf(payments?.data[0]?.payment.payment_intent) ?? '')
    await till.sim('POST', `/charges/${idOf(intent.latest_charge)}/dispute`)
    await eventually(async () => (await view(id)).payments[0]?.disputed)
    expect(await quote(id, 'yearly')).toMatchObject({ credit: 0, dueNow: 6_000 })
  })
})

describe('a change of plan whose payment the bank asks to confirm', () => {
  it('changes nothing, leads to the page where it is confirmed, and is made once it is', async () => {
    const id = await join('monthly', confirming)
    const quoted = await quote(id, 'yearly')
    const asked = await agree(id, quoted)
    expect([asked.status, codeOf(asked)]).toEqual([402, 'payment_confirmation_required'])
    const { url } = errorBodySchema.parse(asked.body)
    // However often it is asked for, there is one page that can be paid.
    expect(errorBodySchema.parse((await agree(id, quoted)).body).url).toBe(url)
    await till.simulator.deliveriesIdle()
    expect(await view(id)).toMatchObject({ status: 'active', plan: 'monthly', unpaid: null, payments: { length: 1 } })
    expect(told(subscriptionSwitched, id)).toEqual([])

    const page = await payOnPage(url ?? '')
    expect(page.status).toBe('requires_action')
    await confirm(page.redirectUrl, 'fail')
    await till.simulator.deliveriesIdle()
    expect(await view(id)).toMatchObject({ status: 'active', plan: 'monthly', unpaid: null })
    await confirm((await payOnPage(url ?? '')).redirectUrl)
    await eventually(async () => (await view(id)).plan === 'yearly')
    const after = await view(id)
    expect(after.payments.map(({ amount, reason }) => [amount, reason])).toEqual([
      [quoted.dueNow, 'switch'],
      [700, 'first'],
    ])
    await eventually(() => told(subscriptionSwitched, id).length === 1)
  })

  it('is gone with the membership: what is cancelled meanwhile cannot be paid any more', async () => {
    const id = await join('monthly', confirming)
    const { url } = errorBodySchema.parse((await agree(id, await quote(id, 'yearly'))).body)
    expect((await till.call('POST', `/memberships/${id}/cancel`)).status).toBe(200)
    expect((await payOnPage(url ?? '')).status).toBe('not_found')
    expect((await subscriptionOf(id)).pending_update).toBeNull()
  })

  it('is gone after a day, and nothing was changed or charged', async () => {
    const id = await join('monthly', confirming)
    const { url } = errorBodySchema.parse((await agree(id, await quote(id, 'yearly'))).body)
    till.simulator.advanceClock(24 * 3600)
    expect((await payOnPage(url ?? '')).status).toBe('not_found')
    expect(await view(id)).toMatchObject({ status: 'active', plan: 'monthly', payments: { length: 1 } })
  })
})

describe('a change of plan that was arranged', () => {
  it.each([
    ['at once', undefined],
    [
      'where the provider is away in between',
      { kind: 'error', method: 'POST', path: '/v1/subscriptions/*', status: 500, times: 6 },
    ],
  ])('goes with a membership that is cancelled %s, and the cancellation alone is told of', async (_, fault) => {
    const id = await join('yearly')
    expect((await agree(id, await quote(id, 'monthly'))).body).toMatchObject({ nextPlan: 'monthly' })
    await published()
    expect(told(subscriptionSwitched, id)).toHaveLength(1)
    if (fault) await till.fault(fault)
    const { status } = await till.call('POST', `/memberships/${id}/cancel`)
    expect(status).toBe(fault ? 503 : 200)
    // Once asked for, it is seen to.
    await eventually(async () => (await view(id)).endsAt !== null, 20_000)
    await bed.bus.seen(subscriptionCancelled, ({ attemptId }) => attemptId === id)
    await till.simulator.deliveriesIdle()
    await published()
    expect(await view(id)).toMatchObject({ status: 'active', plan: 'yearly', nextPlan: null, nextCharge: null })
    expect(told(subscriptionSwitched, id)).toHaveLength(1)
    expect(told(subscriptionCancelled, id)).toHaveLength(1)
  })

  it('is what the reminder of the renewal names', async () => {
    const [id, other] = [await join('yearly'), await join('yearly')]
    await agree(id, await quote(id, 'monthly'))
    await till.simulator.deliveriesIdle()
    await db()
      .update(memberships)
      .set({ paidUntil: till.service.context.clock.now().add({ hours: 24 }) })
      .where(sql`attempt_id in (${id}, ${other})`)
    await remindMembers(till.service.context, neverAborts)
    const { data } = await bed.bus.seen(subscriptionReminder, ({ attemptId }) => attemptId === id)
    expect(data).toMatchObject({ plan: 'yearly', amount: 6_000, next: { plan: 'monthly', amount: 700 } })
    const { data: plain } = await bed.bus.seen(subscriptionReminder, ({ attemptId }) => attemptId === other)
    expect(plain.next).toBeUndefined()
  })
})

describe('a change of plan reckoned for another time than it was quoted', () => {
  it.each([-1, 0.5, 4_102_444_801, 253_402_300_800, 2 ** 53, 1e21, null, 'now', '2027-01-08', [], {}])(
    'is refused as no time at all: %j',
    async (reckonedAt) => {
      const id = await theOne()
      const answer = await till.call('POST', `/memberships/${id}/switch`, { plan: 'yearly', dueNow: 0, reckonedAt })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    },
  )

  it.each([0, 1, 1_000_000_000, 4_102_444_800])(
    'is outdated, and the provider is asked nothing of %i',
    async (reckonedAt) => {
      const id = await theOne()
      const answer = await till.call('POST', `/memberships/${id}/switch`, { plan: 'yearly', dueNow: 0, reckonedAt })
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
