import { randomUUIDv7 } from 'node:crypto'
import {
  foundMembershipSchema,
  membershipCheckoutSchema,
  subscriptionActivated,
  subscriptionEnded,
  subscriptionPastDue,
  subscriptionRenewed,
} from '@robokids/contracts/billing'
import { userDeleted } from '@robokids/contracts/identity'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { memberships } from '../../src/schema.ts'
import { idOf } from '../../src/stripe/client.ts'
import { codeOf, BillingFixture } from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture
beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
})
afterEach(() => fixture.sim('DELETE', '/faults'))
afterAll(() => fixture.close())

const day = 24 * 3600

interface Member {
  id: string
  userId: string
  email: string
}

async function join(): Promise<Member> {
  const member = { userId: randomUUIDv7(), email: `maren.${randomUUIDv7()}@example.com` }
  const body = { email: member.email, plan: 'monthly', classDate: '2027-01-08', ownerId: member.userId }
  const made = membershipCheckoutSchema.parse((await fixture.call('POST', '/membership-checkouts', body)).body)
  await fixture.pay(made)
  await bed.bus.seen(subscriptionActivated, ({ attemptId }) => attemptId === made.attemptId)
  return { id: made.attemptId, ...member }
}

async function view({ userId, email }: Member) {
  const { body } = await fixture.call('POST', '/memberships/find', { userId, email })
  const { membership } = foundMembershipSchema.parse(body)
  if (!membership) throw new Error('There is no membership.')
  return membership
}
async function subscriptionOf({ id }: Member) {
  const [row] = await fixture.service.context.db.select().from(memberships).where(eq(memberships.attemptId, id))
  return fixture.stripe.subscriptions.retrieve(row?.stripeSubscriptionId ?? '')
}
async function useCard(member: Member, token: string): Promise<void> {
  const { id, customer } = await subscriptionOf(member)
  const method = await fixture.stripe.paymentMethods.attach(token, { customer: idOf(customer) ?? '' })
  await fixture.stripe.subscriptions.update(id, { default_payment_method: method.id })
}
/** A membership whose renewal has failed with this card. */
async function pastDue(token = 'pm_card_chargeCustomerFail'): Promise<Member> {
  const member = await join()
  await useCard(member, token)
  await fixture.renewal((await subscriptionOf(member)).id)
  await bed.bus.seen(subscriptionPastDue, ({ attemptId }) => attemptId === member.id, 20_000)
  return member
}
async function latestInvoice(member: Member) {
  return fixture.stripe.invoices.retrieve(idOf((await subscriptionOf(member)).latest_invoice) ?? '')
}
/** Runs all of Stripe's retries with a valid card. */
async function retryWithGoodCard(member: Member): Promise<void> {
  const { status } = await subscriptionOf(member)
  if (status !== 'canceled') await useCard(member, 'pm_card_visa')
  fixture.simulator.advanceClock(16 * day)
  await fixture.simulator.deliveriesIdle()
}

describe('a membership with a failed payment', () => {
  it('has its open invoices voided when it is cancelled', async () => {
    const member = await pastDue()
    const answer = await fixture.call('POST', `/memberships/${member.id}/cancel`)
    expect(answer).toMatchObject({ status: 200, body: { status: 'active', unpaid: null, nextCharge: null } })
    expect((await latestInvoice(member)).status).toBe('void')
    await retryWithGoodCard(member)
    expect((await view(member)).payments).toHaveLength(1)
    // Resuming must not grant an unpaid month.
    const resumed = await fixture.call('POST', `/memberships/${member.id}/resume`)
    expect([resumed.status, codeOf(resumed)]).toEqual([409, 'membership_not_changeable'])
  })

  it('has its open invoices voided when it is cancelled in the billing portal', async () => {
    const member = await pastDue()
    const { id } = await subscriptionOf(member)
    await fixture.stripe.subscriptions.update(id, { cancel_at_period_end: true })
    await eventually(async () => (await latestInvoice(member)).status === 'void')
    await retryWithGoodCard(member)
    expect((await view(member)).payments).toHaveLength(1)
  })

  it('has its open invoices voided when its account is deleted, even after an outage of Stripe', async () => {
    const member = await pastDue()
    const { userId, email } = member
    await fixture.fault({ kind: 'error', method: 'POST', path: '/v1/invoices/*', status: 500, times: 3 })
    await bed.bus.publish(userDeleted, userId, {
      poolId: 'us-west-1_RoboKids',
      userId,
      username: 'user_1',
      email,
      emailVerified: true,
      givenName: 'Maren',
    })
    await eventually(async () => (await latestInvoice(member)).status === 'void', 30_000)
    expect((await subscriptionOf(member)).cancel_at).not.toBeNull()
    await retryWithGoodCard(member)
    const paid = await fixture.stripe.invoices.list({ subscription: (await subscriptionOf(member)).id, status: 'paid' })
    expect(paid.data).toHaveLength(1)
  })

  it('can no longer be paid anywhere after it has ended unpaid', async () => {
    const member = await pastDue()
    fixture.simulator.advanceClock(16 * day)
    const { data } = await bed.bus.seen(subscriptionEnded, ({ attemptId }) => attemptId === member.id, 20_000)
    expect(data.reason).toBe('unpaid')
    await eventually(async () => (await latestInvoice(member)).status === 'void')
    const page = await fetch(`${(await latestInvoice(member)).hosted_invoice_url}/pay`, {
      method: 'POST',
      headers: { accept: 'application/json' },
    })
    expect(await page.json()).toMatchObject({ status: 'not_found' })
    expect(await view(member)).toMatchObject({ status: 'ended', payments: { length: 1 } })
  })
})

describe('a renewal whose payment needs a confirmation', () => {
  it('is published with the page for the confirmation, and is paid there', async () => {
    const member = await pastDue('pm_card_authenticationRequired')
    const { hosted_invoice_url: page } = await latestInvoice(member)
    const { data } = await bed.bus.seen(subscriptionPastDue, ({ attemptId }) => attemptId === member.id)
    expect(data).toMatchObject({ amountDue: 700, attempt: 1, confirmUrl: page })
    expect(await view(member)).toMatchObject({ status: 'past_due', unpaid: { amount: 700, confirmUrl: page } })
    const asked = await fetch(`${page}/pay`, { method: 'POST', headers: { accept: 'application/json' } })
    const { status, redirectUrl } = (await asked.json()) as { status: string; redirectUrl: string }
    expect(status).toBe('requires_action')
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    await fetch(redirectUrl, { method: 'POST', headers, body: 'answer=complete', redirect: 'manual' })
    await bed.bus.seen(subscriptionRenewed, ({ attemptId }) => attemptId === member.id)
    expect(await view(member)).toMatchObject({ status: 'active', unpaid: null, payments: { length: 2 } })
  })

  it('can be paid with another card on that page', async () => {
    const member = await pastDue('pm_card_authenticationRequired')
    const { hosted_invoice_url: page } = await latestInvoice(member)
    const answer = await fetch(`${page}/pay`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: 'number=4242424242424242&expiry=12/40&cvc=123&name=Ada',
    })
    expect(await answer.json()).toMatchObject({ status: 'paid' })
    await bed.bus.seen(subscriptionRenewed, ({ attemptId }) => attemptId === member.id)
    expect(await view(member)).toMatchObject({ status: 'active', unpaid: null })
  })

  it('ends the membership if it is not confirmed, which is published once', async () => {
    const member = await pastDue('pm_card_authenticationRequired')
    fixture.simulator.advanceClock(16 * day)
    const { data } = await bed.bus.seen(subscriptionEnded, ({ attemptId }) => attemptId === member.id, 20_000)
    expect(data.reason).toBe('unpaid')
    await fixture.simulator.deliveriesIdle()
    expect(bed.bus.all(subscriptionEnded, ({ attemptId }) => attemptId === member.id)).toHaveLength(1)
    expect(await view(member)).toMatchObject({ status: 'ended', unpaid: null })
  })

  it('is published without a page if the card was declined', async () => {
    const member = await pastDue()
    expect((await view(member)).unpaid).toMatchObject({ amount: 700, confirmUrl: null })
  })
})
