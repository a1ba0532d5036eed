import {
  checkoutSchema,
  checkoutsQuerySchema,
  checkoutsSchema,
  closeCheckoutSchema,
  closedCheckoutSchema,
  createCheckoutSchema,
  createRefundSchema,
  disputesSchema,
  pricesSchema,
  reconciliationQuerySchema,
  reconciliationSchema,
  refreshQuerySchema,
  refundSchema,
  refundsQuerySchema,
  refundsSchema,
  setPriceSchema,
} from '@robokids/contracts/billing'
import { createMoveCheckoutSchema } from '@robokids/contracts/changes'
import { familyPurchasesSchema, findPurchasesSchema } from '@robokids/contracts/dashboard'
import { uuid } from '@robokids/contracts/fields'
import {
  orderSchema,
  ordersQuerySchema,
  ordersSchema,
  placeOwnedOrderSchema,
  productsSchema,
  setProductStateSchema,
  shipOrderSchema,
} from '@robokids/contracts/shop'
import { requireAdmin } from '@robokids/runtime/admin'
import type { Http } from '@robokids/runtime/http'
import { z } from 'zod'
import { closeForReplacement } from './checkout/close-for-replacement.ts'
import type { BillingContext } from './config.ts'
import { createMoveCheckout } from './checkout/create-move-checkout.ts'
import { createCheckout } from './checkout/create-checkout.ts'
import { findPurchases } from './families/find-purchases.ts'
import { registerMetrics } from './metrics.ts'
import { membershipRoutes } from './membership/routes.ts'
import { readCheckout, readCheckouts } from './checkout/read-checkouts.ts'
import { placeOrder } from './orders/place-order.ts'
import { readOrder, readOrders } from './orders/read-orders.ts'
import { readPrices } from './prices/read-prices.ts'
import { readProducts } from './prices/read-products.ts'
import { readRefunds } from './refunds/read-refunds.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { reconcileLedger } from './ledger/reconcile-ledger.ts'
import { readDisputes } from './refunds/record-dispute.ts'
import { refreshNames } from './attempts/refresh-attempts.ts'
import { refreshCheckout } from './checkout/apply-session.ts'
import { requestRefund } from './refunds/request-refund.ts'
import { setPrice } from './prices/set-price.ts'
import { setProductState } from './prices/set-product-state.ts'
import { shipOrder } from './orders/ship-order.ts'
import { abortOnDisconnect } from './abort-on-disconnect.ts'

const orderParams = z.object({ orderId: uuid('This is not the id of an order.') })
const registrationParams = z.object({ registrationId: uuid('This is not the id of a registration.') })

export async function routes(http: Http, context: BillingContext): Promise<void> {
  registerMetrics(context)
  const { db, clock } = context
  const onRequest = requireAdmin(context)

  http.get('/prices', { schema: { response: { 200: pricesSchema } } }, () => readPrices(db, clock.now()))

  http.post('/checkouts', { schema: { body: createCheckoutSchema, response: { 200: checkoutSchema } } }, (request) =>
    createCheckout(context, request.body),
  )

  http.post(
    '/move-checkouts',
    { schema: { body: createMoveCheckoutSchema, response: { 200: checkoutSchema } } },
    (request) => createMoveCheckout(context, request.body.changeId),
  )

  http.get(
    '/checkouts',
    { schema: { querystring: checkoutsQuerySchema, response: { 200: checkoutsSchema } } },
    async (request) => ({
      checkouts: await readCheckouts(db, request.query.registrationIds, 'registration'),
    }),
  )

  http.get(
    '/checkouts/:registrationId',
    { schema: { params: registrationParams, response: { 200: checkoutSchema } } },
    (request) => readCheckout(db, request.params.registrationId),
  )

  http.post(
    '/checkouts/:registrationId/close',
    {
      schema: { params: registrationParams, body: closeCheckoutSchema, response: { 200: closedCheckoutSchema } },
    },
    async ({ params, body }) => ({
      outcome: await closeForReplacement(context, params.registrationId, body?.replacedBy),
    }),
  )

  for (const name of refreshNames)
    http.post(
      `/checkouts/:registrationId/${name}`,
      { schema: { params: registrationParams, querystring: refreshQuerySchema, response: { 200: checkoutSchema } } },
      async ({ params: { registrationId }, query }) => {
        await refreshCheckout(context, registrationId, query.returned)
        return readCheckout(db, registrationId)
      },
    )

  await membershipRoutes(http, context)

  http.post(
    '/purchases/find',
    { schema: { body: findPurchasesSchema, response: { 200: familyPurchasesSchema } } },
    (request) => findPurchases(context, request.body),
  )

  http.post(
    '/refunds',
    { onRequest, schema: { body: createRefundSchema, response: { 200: refundSchema } } },
    (request) => requestRefund(context, request.body),
  )

  http.get(
    '/refunds',
    { onRequest, schema: { querystring: refundsQuerySchema, response: { 200: refundsSchema } } },
    (request) => readRefunds(db, request.query.status),
  )

  http.get('/disputes', { onRequest, schema: { response: { 200: disputesSchema } } }, () => readDisputes(db))

  http.post(
    '/admin/reconcile',
    {
      onRequest,
      schema: { querystring: reconciliationQuerySchema, response: { 200: reconciliationSchema } },
    },
    ({ query: { since } }, reply) =>
      reconcileLedger(
        context,
        since === undefined ? undefined : Temporal.Instant.from(since),
        abortOnDisconnect(reply),
      ),
  )

  http.post(
    '/admin/prices',
    { onRequest, schema: { body: setPriceSchema, response: { 200: pricesSchema } } },
    async (request) => {
      await setPrice(context, request.body)
      return readPrices(db, clock.now())
    },
  )

  http.get('/products', { schema: { response: { 200: productsSchema } } }, async () => ({
    products: await readProducts(db, clock.now()),
  }))

  http.post(
    '/admin/products',
    { onRequest, schema: { body: setProductStateSchema, response: { 200: productsSchema } } },
    async (request) => {
      await setProductState(context, request.body)
      return { products: await readProducts(db, clock.now()) }
    },
  )

  http.post('/orders', { schema: { body: placeOwnedOrderSchema, response: { 200: orderSchema } } }, (request) =>
    placeOrder(context, request.body),
  )

  http.get(
    '/orders',
    { onRequest, schema: { querystring: ordersQuerySchema, response: { 200: ordersSchema } } },
    async (request) => ({ orders: await readOrders(db, request.query.status) }),
  )

  http.get('/orders/:orderId', { schema: { params: orderParams, response: { 200: orderSchema } } }, (request) =>
    readOrder(db, request.params.orderId),
  )

  for (const name of refreshNames)
    http.post(
      `/orders/:orderId/${name}`,
      { schema: { params: orderParams, querystring: refreshQuerySchema, response: { 200: orderSchema } } },
      async ({ params: { orderId }, query }) => {
        await refreshCheckout(context, orderId, query.returned)
        return readOrder(db, orderId)
      },
    )

  http.post(
    '/orders/:orderId/shipment',
    {
      onRequest,
      schema: { params: orderParams, body: shipOrderSchema, response: { 200: orderSchema } },
    },
    (request) => shipOrder(context, request.params.orderId, request.body),
  )

  await webhookRoutes(http, context)
}
