import { membershipCheckoutBodySchema } from '@robokids/contracts/auth'
import {
  checkoutSchema,
  checkoutsQuerySchema,
  checkoutsSchema,
  createCheckoutSchema,
  createRefundSchema,
  membershipCheckoutSchema,
  pricesSchema,
  refundSchema,
  setPriceSchema,
} from '@robokids/contracts/billing'
import { uuid } from '@robokids/contracts/fields'
import { requireAdmin } from '@robokids/runtime/admin'
import type { Http } from '@robokids/runtime/http'
import { z } from 'zod'
import type { BillingContext } from './config.ts'
import { createCheckout } from './create-checkout.ts'
import { createMembershipCheckout } from './create-membership-checkout.ts'
import { readCheckout, readCheckouts } from './read-checkouts.ts'
import { readPrices } from './read-prices.ts'
import { webhookRoutes } from './receive-webhook.ts'
import { requestRefund } from './request-refund.ts'
import { setPrice } from './set-price.ts'
import { syncCheckout } from './sync-checkout.ts'

const registrationParams = z.object({ registrationId: uuid('This is not the id of a registration.') })

export async function routes(http: Http, context: BillingContext): Promise<void> {
  const { db, clock } = context
  const admin = requireAdmin(context.config.ADMIN_SECRET)

  http.get('/prices', { schema: { response: { 200: pricesSchema } } }, () => readPrices(db, clock.now()))

  http.post('/checkouts', { schema: { body: createCheckoutSchema, response: { 200: checkoutSchema } } }, (request) =>
    createCheckout(context, request.body.purchase),
  )

  http.get(
    '/checkouts',
    { schema: { querystring: checkoutsQuerySchema, response: { 200: checkoutsSchema } } },
    async (request) => ({
      checkouts: await readCheckouts(db, request.query.registrationIds),
    }),
  )

  http.get(
    '/checkouts/:registrationId',
    { schema: { params: registrationParams, response: { 200: checkoutSchema } } },
    (request) => readCheckout(db, request.params.registrationId),
  )

  http.post(
    '/checkouts/:registrationId/sync',
    { schema: { params: registrationParams, response: { 200: checkoutSchema } } },
    (request) => syncCheckout(context, request.params.registrationId),
  )

  http.post(
    '/membership-checkouts',
    { schema: { body: membershipCheckoutBodySchema, response: { 200: membershipCheckoutSchema } } },
    (request) => createMembershipCheckout(context, request.body),
  )

  http.post(
    '/refunds',
    { preHandler: admin, schema: { body: createRefundSchema, response: { 200: refundSchema } } },
    (request) => requestRefund(context, request.body),
  )

  http.post(
    '/admin/prices',
    { preHandler: admin, schema: { body: setPriceSchema, response: { 200: pricesSchema } } },
    async (request) => {
      await setPrice(context, request.body)
      return readPrices(db, clock.now())
    },
  )

  await webhookRoutes(http, context)
}
