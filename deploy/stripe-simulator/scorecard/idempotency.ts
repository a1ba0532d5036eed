/** (e) Idempotency keys: the same response, never a second object. */
import assert from 'node:assert/strict'
import { Stripe } from 'stripe'
import { paid } from './records.ts'
import { control, type Check } from './target.ts'

const idempotency = (name: string, run: Check['run'], needsControl?: true): Check => ({
  section: 'idempotency',
  name,
  run,
  ...(needsControl && { needsControl }),
})

let made = 0
function newKey(): string {
  made += 1
  return `scorecard-${Date.now()}-${made}`
}

async function refusal(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  const thrown = await call.then(
    () => assert.fail('The call was not refused'),
    (error: unknown) => error,
  )
  if (thrown instanceof Stripe.errors.StripeError) return thrown
  throw thrown
}

export const idempotencyChecks: readonly Check[] = [
  idempotency('a repetition gets the same answer, and says so', async ({ stripe }) => {
    const idempotencyKey = newKey()
    const first = await stripe.customers.create({ name: 'Ada' }, { idempotencyKey })
    const again = await stripe.customers.create({ name: 'Ada' }, { idempotencyKey })
    assert.equal(again.id, first.id)
    assert.equal(again.lastResponse.headers['idempotent-replayed'], 'true')
    assert.equal(first.lastResponse.headers['idempotent-replayed'], undefined)
  }),
  idempotency('a repetition gets the answer of then, whatever has changed', async ({ stripe }) => {
    const idempotencyKey = newKey()
    const first = await stripe.customers.create({ name: 'Ada' }, { idempotencyKey })
    await stripe.customers.update(first.id, { name: 'Ivo' })
    const again = await stripe.customers.create({ name: 'Ada' }, { idempotencyKey })
    assert.deepEqual([again.id, again.name], [first.id, 'Ada'])
  }),
  idempotency('other parameters are refused', async ({ stripe }) => {
    const idempotencyKey = newKey()
    await stripe.customers.create({ name: 'Ada' }, { idempotencyKey })
    const error = await refusal(stripe.customers.create({ name: 'Ivo' }, { idempotencyKey }))
    assert.deepEqual([error.statusCode, error.rawType], [400, 'idempotency_error'])
  }),
  idempotency('another address is refused', async ({ stripe }) => {
    const idempotencyKey = newKey()
    await stripe.customers.create({}, { idempotencyKey })
    const error = await refusal(stripe.products.create({ name: 'Spider' }, { idempotencyKey }))
    assert.deepEqual([error.statusCode, error.rawType], [400, 'idempotency_error'])
  }),
  idempotency('a declined payment is repeated as declined', async (target) => {
    const idempotencyKey = newKey()
    const params: Stripe.PaymentIntentCreateParams = {
      amount: 500,
      currency: 'usd',
      payment_method: 'pm_card_visa_chargeDeclined',
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    }
    const first = await refusal(target.stripe.paymentIntents.create(params, { idempotencyKey }))
    const again = await refusal(target.stripe.paymentIntents.create(params, { idempotencyKey }))
    assert.deepEqual([first.statusCode, again.statusCode], [402, 402])
    assert.equal(again.payment_intent?.id, first.payment_intent?.id)
    assert.equal(again.headers?.['idempotent-replayed'], 'true')
  }),
  idempotency('a request that was refused for its parameters leaves the key free', async ({ stripe }) => {
    const idempotencyKey = newKey()
    await refusal(stripe.customers.create({ email: 'ada' }, { idempotencyKey }))
    assert.equal((await stripe.customers.create({ email: 'ada@example.com' }, { idempotencyKey })).object, 'customer')
  }),
  idempotency('a refund with one key is made once', async (target) => {
    const intent = await paid(target)
    const idempotencyKey = newKey()
    const params = { payment_intent: intent.id, amount: 100 }
    await Promise.allSettled([1, 2, 3].map(() => target.stripe.refunds.create(params, { idempotencyKey })))
    assert.equal((await target.stripe.refunds.list({ payment_intent: intent.id })).data.length, 1)
  }),
  idempotency('a key of more than 255 characters is refused', async ({ stripe }) => {
    const error = await refusal(stripe.customers.create({}, { idempotencyKey: 'x'.repeat(256) }))
    assert.equal(error.statusCode, 400)
  }),
  idempotency(
    'a key that is in use right now is refused with 409',
    async (target) => {
      const idempotencyKey = newKey()
      await control(target, '/faults', { kind: 'delay', path: '/v1/customers', method: 'POST', delayMs: 100 })
      const first = target.stripe.customers.create({}, { idempotencyKey })
      await new Promise((resolve) => setTimeout(resolve, 30))
      const error = await refusal(target.stripe.customers.create({}, { idempotencyKey }))
      assert.deepEqual([error.statusCode, error.code], [409, 'idempotency_key_in_use'])
      await first
    },
    true,
  ),
  idempotency(
    'an answer that was an error of the server is repeated',
    async (target) => {
      const idempotencyKey = newKey()
      await control(target, '/faults', { kind: 'error', path: '/v1/customers', method: 'POST', when: 'after' })
      const first = await refusal(target.stripe.customers.create({}, { idempotencyKey }))
      const again = await refusal(target.stripe.customers.create({}, { idempotencyKey }))
      assert.deepEqual([first.statusCode, again.statusCode], [500, 500])
      assert.equal(again.headers?.['idempotent-replayed'], 'true')
    },
    true,
  ),
]
