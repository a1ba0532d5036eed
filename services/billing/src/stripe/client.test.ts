import { inspect } from 'node:util'
import { Stripe } from 'stripe'
import { describe, expect, it } from 'vitest'
import { StripeFailure } from './client.ts'

describe('StripeFailure', () => {
  it('contains what decisions and logs need, and no card, email or key', () => {
    const error = Stripe.errors.StripeError.generate({
      type: 'card_error',
      statusCode: 402,
      code: 'card_declined',
      param: 'payment_method',
      requestId: 'req_1',
      message: 'Invalid email address ada.lind@example.com, key sk_test_secret',
      headers: { 'idempotent-replayed': 'true', authorization: 'Bearer sk_test_secret' },
      payment_method: { id: 'pm_1', card: { last4: '4242' } },
    } as never)
    const failure = new StripeFailure(error)
    expect(failure).toMatchObject({
      code: 'upstream_unavailable',
      stripeCode: 'card_declined',
      stripeRequestId: 'req_1',
      refused: true,
      replayed: true,
    })
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toMatch(/4242|ada\.lind|sk_test/)
  })
})
