import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { control, create, eventTypes, pay, refusal, start } from '../fixture.ts'

/** A payment with the card that is disputed as fraud. */
async function disputed() {
  const { simulator, stripe } = await start()
  const { id } = await stripe.checkout.sessions.create(create)
  await pay(simulator, id, '4000000000000259')
  const seen = (await eventTypes(simulator)).length
  simulator.advanceClock(5)
  const [dispute] = (await stripe.disputes.list()).data
  return {
    simulator,
    stripe,
    dispute: dispute!,
    charge: dispute!.charge as string,
    events: async () => (await eventTypes(simulator)).slice(seen),
    net: async () => {
      const { data } = await stripe.balanceTransactions.list({ limit: 100 })
      return data.reduce((sum, one) => sum + one.net, 0)
    },
  }
}

const paid = 40_000
const paidFee = 1190
const disputeFee = 1500

describe('a dispute', () => {
  it('withdraws the money and a fee soon after a payment with …0259', async () => {
    const { charge, dispute, events, net, stripe } = await disputed()
    expect(dispute).toMatchObject({ amount: paid, reason: 'fraudulent', status: 'needs_response' })
    expect(await events()).toEqual(['charge.dispute.created', 'charge.dispute.funds_withdrawn'])
    expect(await stripe.charges.retrieve(charge)).toMatchObject({ disputed: true, amount_refunded: 0 })
    expect(dispute.balance_transactions).toMatchObject([
      { amount: -paid, fee: disputeFee, net: -paid - disputeFee, reporting_category: 'dispute', type: 'adjustment' },
    ])
    expect(await net()).toBe(-paidFee - disputeFee)
    expect((await stripe.balanceTransactions.list({ source: dispute.id })).data).toHaveLength(1)
  })

  it('is won with winning evidence, and returns the money without the fee', async () => {
    const { dispute, events, net, simulator, stripe } = await disputed()
    const answered = await stripe.disputes.update(dispute.id, { evidence: { uncategorized_text: 'winning_evidence' } })
    expect(answered).toMatchObject({
      status: 'under_review',
      evidence_details: { has_evidence: true, submission_count: 1 },
    })
    simulator.advanceClock(5)
    expect((await stripe.disputes.retrieve(dispute.id)).status).toBe('won')
    expect((await events()).slice(2)).toEqual([
      'charge.dispute.updated',
      'charge.dispute.closed',
      'charge.dispute.funds_reinstated',
    ])
    expect(await net()).toBe(paid - paidFee - disputeFee)
  })

  it('is lost when it is accepted or the evidence loses', async () => {
    const one = await disputed()
    expect(await one.stripe.disputes.close(one.dispute.id)).toMatchObject({ status: 'lost' })
    expect((await one.events()).slice(2)).toEqual(['charge.dispute.closed'])
    expect(await one.net()).toBe(-paidFee - disputeFee)
    expect((await refusal(one.stripe.disputes.close(one.dispute.id))).statusCode).toBe(400)
    const other = await disputed()
    await other.stripe.disputes.update(other.dispute.id, { evidence: { uncategorized_text: 'losing_evidence' } })
    other.simulator.advanceClock(5)
    expect((await other.stripe.disputes.retrieve(other.dispute.id)).status).toBe('lost')
  })

  it('stores evidence that is not submitted yet', async () => {
    const { dispute, stripe } = await disputed()
    const kept = await stripe.disputes.update(dispute.id, {
      evidence: { product_description: 'Four classes' },
      submit: false,
      metadata: { order: '1' },
    })
    expect(kept).toMatchObject({
      status: 'needs_response',
      evidence: { product_description: 'Four classes' },
      metadata: { order: '1' },
    })
  })

  it('can be opened for any payment, and as an inquiry that withdraws nothing', async () => {
    const { simulator, stripe } = await start()
    const intent = await stripe.paymentIntents.create({
      amount: 5000,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    })
    const charge = intent.latest_charge as string
    const asked = await control<Stripe.Dispute>(simulator, `/charges/${charge}/dispute`, { inquiry: true })
    expect(asked).toMatchObject({ status: 'warning_needs_response', balance_transactions: [] })
    expect(await control(simulator, `/disputes/${asked.id}/close`, { outcome: 'warning_closed' })).toMatchObject({
      status: 'warning_closed',
    })
    expect((await eventTypes(simulator)).slice(-2)).toEqual(['charge.dispute.created', 'charge.dispute.closed'])
    await control(simulator, `/charges/${charge}/dispute`, { reason: 'product_not_received' })
    const error = await refusal(stripe.refunds.create({ charge }))
    expect([error.statusCode, error.code]).toEqual([400, 'charge_disputed'])
    const again = await control<{ error: object }>(simulator, `/charges/${charge}/dispute`, {})
    expect(again.error).toBeDefined()
  })

  it.each([
    ['won', 'succeeded'],
    ['lost', 'charge_disputed'],
  ])('that was %s ends a refund with %s', async (outcome, end) => {
    const { simulator, stripe } = await start()
    const { latest_charge } = await stripe.paymentIntents.create({
      amount: 5000,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    })
    const charge = latest_charge as string
    const { id } = await control<Stripe.Dispute>(simulator, `/charges/${charge}/dispute`, {})
    await control(simulator, `/disputes/${id}/close`, { outcome })
    const made = stripe.refunds.create({ charge })
    expect(outcome === 'won' ? (await made).status : (await refusal(made)).code).toBe(end)
  })
})
