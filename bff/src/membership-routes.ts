import { membershipCheckoutAnswerSchema, membershipCheckoutBodySchema } from '@robokids/contracts/auth'
import { membershipCheckoutSchema } from '@robokids/contracts/billing'
import { memberSeatsSchema } from '@robokids/contracts/enrollment'
import type { Http } from '@robokids/runtime/http'
import type { Services } from './upstream.ts'

export function membershipRoutes(http: Http, { enrollment, billing }: Services): void {
  http.post(
    '/api/createStripeSession',
    { schema: { body: membershipCheckoutBodySchema, response: { 200: membershipCheckoutAnswerSchema } } },
    async ({ body }) => {
      // Refuses a date that is full or not open.
      await enrollment.call('GET', `/member-seats/${body.classDate}`, { answer: memberSeatsSchema })
      const checkout = await billing.call('POST', '/membership-checkouts', { body, answer: membershipCheckoutSchema })
      return { url: checkout.checkoutUrl }
    },
  )
}
