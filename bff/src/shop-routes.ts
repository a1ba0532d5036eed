import { refreshQuerySchema } from '@robokids/contracts/billing'
import {
  askStockAlertSchema,
  canRequestStockAlert,
  checkoutResponseSchema,
  stockAlertRequestedSchema,
  stockAlertSchema,
  orderSchema,
  placeOrderSchema,
  productsSchema,
} from '@robokids/contracts/shop'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { blockOf } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { Accounts } from './auth-routes.ts'
import type { Config } from './config.ts'
import type { MailLimits } from './mail-limits.ts'
import type { Proofs } from './proofs.ts'
import { refreshCheckout } from './refresh-checkout.ts'
import { referenceParams, type References } from './references.ts'
import { isOwnAddress } from './session.ts'
import type { Services } from './upstream.ts'

export function shopRoutes(
  http: Http,
  { config }: Context<Config>,
  services: Services,
  { sessions, proofs, mailLimits }: Pick<Accounts, 'sessions'> & { proofs: Proofs; mailLimits: MailLimits },
  references: References,
): void {
  const { billing, notifications } = services

  http.post(
    '/api/checkout',
    {
      schema: { body: placeOrderSchema, response: { 200: checkoutResponseSchema } },
      preHandler: proofs.required('order'),
    },
    async (request, reply) => {
      const { replaces, ...cart } = request.body
      const { requester, mayReplace } = await sessions.requesterOf(request, reply)
      const body = { ...cart, ...(mayReplace ? { replaces } : {}), ...requester, network: blockOf(request.ip) }
      const { orderId, checkout } = await billing.call('POST', '/orders', { body, answer: orderSchema })
      references.remember(orderId)
      // Nothing is left to pay: leads to the order's page.
      return { orderId, checkoutUrl: checkout.url ?? `${config.SITE_URL}/shop/success?reference=${orderId}` }
    },
  )

  http.get(
    '/api/orders/:reference',
    { schema: { params: referenceParams, querystring: refreshQuerySchema, response: { 200: orderSchema } } },
    (request) =>
      references.find(request, request.params.reference, 'order', (id) =>
        refreshCheckout(billing, `/orders/${id}`, request.query.returned, {
          answer: orderSchema,
          signal: request.signal,
        }),
      ),
  )

  http.post(
    '/api/shop/notices',
    {
      schema: { body: askStockAlertSchema, response: { 200: stockAlertRequestedSchema } },
      // Sends a mail to a typed email, and no network needs many.
      config: { rateLimit: { max: config.RATE_LIMIT_NOTICES, timeWindow: '1 hour' } },
      preHandler: [proofs.required('notice'), mailLimits.ofStockAlerts],
    },
    async (request, reply) => {
      const { body } = request
      const { products } = await billing.call('GET', '/products', { answer: productsSchema })
      const product = products.find(({ sku }) => sku === body.sku)
      if (!product || !canRequestStockAlert(product.state)) {
        const message = product
          ? `There are no alerts for the ${product.name} right now.`
          : `We do not sell ${body.sku}.`
        throw new DomainError('product_not_awaited', message)
      }
      return notifications.call('POST', '/notices', {
        body: {
          ...body,
          productName: product.name,
          state: product.state,
          isProven: isOwnAddress(body.email, await sessions.ownerOf(request, reply)),
        },
        answer: stockAlertRequestedSchema,
      })
    },
  )

  http.get(
    '/api/shop/notices/:reference',
    { schema: { params: referenceParams, response: { 200: stockAlertSchema } } },
    (request) =>
      references.find(request, request.params.reference, 'notice', (id) =>
        notifications.call('GET', `/notices/${id}`, { answer: stockAlertSchema, signal: request.signal }),
      ),
  )
  for (const step of ['confirmation', 'removal'] as const) {
    http.post(
      `/api/shop/notices/:reference/${step}`,
      { schema: { params: referenceParams, response: { 200: stockAlertSchema } } },
      (request) =>
        references.find(request, request.params.reference, 'notice', (id) =>
          notifications.call('POST', `/notices/${id}/${step}`, { answer: stockAlertSchema }),
        ),
    )
  }
}
