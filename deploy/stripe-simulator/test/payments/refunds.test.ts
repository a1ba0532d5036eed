import { describe, expect, it } from 'vitest'
import { control, create, eventTypes, pay, refusal, start } from '../fixture.ts'

async function paid(card?: string) {
  const { simulator, stripe } = await start()
  const { id } = await stripe.checkout.sessions.create(create)
  await pay(simulator, id, card)
  const session = await stripe.checkout.sessions.retrieve(id)
  const before = (await eventTypes(simulator)).length
  const newEvents = async () => (await eventTypes(simulator)).slice(before)
  return { simulator, stripe, intent: session.payment_intent as string, newEvents }
}

describe('POST /v1/refunds', () => {
  it('refunds in parts up to the whole amount', async () => {
    const { stripe, intent, newEvents } = await paid()
    const first = await stripe.refunds.create({ payment_intent: intent, amount: 15_000, metadata: { attempt: '1' } })
    expect(first).toMatchObject({ amount: 15_000, status: 'succeeded', metadata: { attempt: '1' } })
    const [charge] = (await stripe.charges.list({ payment_intent: intent })).data
    expect(charge).toMatchObject({ amount_refunded: 15_000, refunded: false })

    const tooMuch = await refusal(stripe.refunds.create({ payment_intent: intent, amount: 25_001 }))
    expect(tooMuch).toMatchObject({ statusCode: 400, param: 'amount' })
    expect(tooMuch.message).toBe('Refund amount ($250.01) is greater than unrefunded amount on charge ($250.00)')

    await stripe.refunds.create({ charge: charge!.id, reason: 'requested_by_customer' })
    expect(await stripe.charges.retrieve(charge!.id)).toMatchObject({ amount_refunded: 40_000, refunded: true })
    const again = await refusal(stripe.refunds.create({ payment_intent: intent }))
    expect(again).toMatchObject({ statusCode: 400, code: 'charge_already_refunded' })
    expect(again.message).toBe(`Charge ${charge!.id} has already been refunded.`)

    expect(await newEvents()).toEqual(['refund.created', 'charge.refunded', 'refund.created', 'charge.refunded'])
    const events = await stripe.events.list({ type: 'charge.refunded' })
    expect(events.data.map((event) => event.data.previous_attributes)).toEqual([
      { amount_refunded: 15_000, refunded: false },
      { amount_refunded: 0 },
    ])
    expect((await stripe.refunds.list({ payment_intent: intent })).data.map((one) => one.amount)).toEqual([
      25_000, 15_000,
    ])
    const expanded = await stripe.charges.retrieve(charge!.id, { expand: ['refunds', 'balance_transaction'] })
    expect(expanded.refunds?.data).toHaveLength(2)
    expect(expanded.balance_transaction).toMatchObject({ amount: 40_000, fee: 1190, net: 38_810 })
  })

  it('answers 400 to impossible refunds', async () => {
    const { stripe } = await paid()
    expect(await refusal(stripe.refunds.create({}))).toMatchObject({ statusCode: 400, code: 'parameter_missing' })
    expect(await refusal(stripe.refunds.create({ payment_intent: 'pi_none' }))).toMatchObject({
      code: 'resource_missing',
      param: 'payment_intent',
    })
    expect(await refusal(stripe.refunds.create({ charge: 'ch_none', amount: 0 }))).toMatchObject({
      code: 'parameter_invalid_integer',
      param: 'amount',
    })
  })

  it('is pending first and succeeds later with …7726', async () => {
    const { simulator, stripe, intent, newEvents } = await paid('4000000000007726')
    const refund = await stripe.refunds.create({ payment_intent: intent })
    expect(refund).toMatchObject({ status: 'pending', pending_reason: 'processing' })
    await control(simulator, '/clock', { advanceSeconds: 10 })
    expect((await stripe.refunds.retrieve(refund.id)).status).toBe('succeeded')
    expect(await newEvents()).toEqual(['refund.created', 'charge.refunded', 'refund.updated'])
  })

  it('succeeds first and fails later with …5126, which gives the amount back to the charge', async () => {
    const { simulator, stripe, intent, newEvents } = await paid('4000000000005126')
    const refund = await stripe.refunds.create({ payment_intent: intent })
    expect(refund.status).toBe('succeeded')
    await control(simulator, '/clock', { advanceSeconds: 10 })
    expect(await stripe.refunds.retrieve(refund.id)).toMatchObject({
      status: 'failed',
      failure_reason: 'expired_or_canceled_card',
    })
    expect(await newEvents()).toEqual(['refund.created', 'charge.refunded', 'refund.updated', 'refund.failed'])
    const [charge] = (await stripe.charges.list({ payment_intent: intent })).data
    expect(charge).toMatchObject({ amount_refunded: 0, refunded: false })
  })
})
