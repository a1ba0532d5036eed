import { z } from 'zod'
import { agreementTermsSchema } from './agreement.ts'
import { checkoutStatuses, disputeSchema, paymentStates, refundSchema, refundFailureSchema } from './billing.ts'
import { requesterShape, visitorNetwork } from './enrollment.ts'
import { defineEvent } from './event.ts'
import * as field from './fields.ts'
import { moneySchema } from './fields.ts'
import { maxLines, maxQuantity, productStates } from './products.ts'

export {
  canRequestStockAlert,
  canBeBought,
  maxLines,
  maxQuantity,
  type ProductState,
  productStates,
  robotSpider,
  teddyBear,
} from './products.ts'

const sku = z
  .string({ error: 'sku is required.' })
  .max(100, { error: 'sku can have at most 100 characters.' })
  .regex(/^[a-z0-9]+(:[a-z0-9-]+)+$/, { error: 'sku must look like product:robot-spider.' })

const productSchema = z.object({
  sku: z.string(),
  name: z.string(),
  state: z.enum(productStates),
  ...moneySchema.shape,
})
export type Product = z.infer<typeof productSchema>

/** `GET /products`: the products of the shop at today's prices. */
export const productsSchema = z.object({ products: z.array(productSchema) })

/** `POST /admin/products` (administrators): sets the state of a product. Responds like `GET /products`. */
export const setProductStateSchema = z.object({
  sku,
  state: z.enum(productStates, { error: `state must be one of ${productStates.join(', ')}.` }),
})
export type SetProductState = z.infer<typeof setProductStateSchema>

/** `GET /api/shop`: the products, and the price of the cheapest class with its kit. */
export const shopViewSchema = productsSchema.extend({ classesFrom: moneySchema })
export type ShopView = z.infer<typeof shopViewSchema>

const itemSchema = z.object({
  sku,
  quantity: z
    .int({ error: 'quantity must be a whole number.' })
    .min(1, { error: 'quantity must be at least 1.' })
    .max(maxQuantity, { error: `You can order at most ${maxQuantity} of one product.` }),
})
export type OrderItem = z.infer<typeof itemSchema>

/**
 * The body of `POST /orders` and of the BFF's `POST /api/checkout`: products and quantities. Only the server decides what they
 * cost and whether they can be bought.
 */
export const placeOrderSchema = z.object({
  /** UUIDv7 created by the client: the idempotency key, and the reference of the order's page. */
  orderId: z.uuid({ version: 'v7', error: 'orderId must be a UUIDv7.' }).toLowerCase(),
  items: z
    .array(itemSchema, { error: 'items must be a list.' })
    .min(1, { error: 'The cart is empty.' })
    .max(maxLines, { error: `One order can have at most ${maxLines} products.` })
    .refine((items) => new Set(items.map((item) => item.sku)).size === items.length, {
      error: 'Each product can stand in the list once.',
    }),
  /**
   * The first order of the same cart, before the cart was changed. The cart's open orders can then no longer be paid; two orders
   * that name the same one belong to the same cart, even if that order does not exist. 409 `already_paid` if it is paid. Only
   * the order's owner can replace it: its account or, if it has none, the browser that placed it; for anyone else the field is
   * ignored.
   */
  replaces: field.uuid('replaces must be a UUID.').optional(),
  /** The terms that the page showed: 409 `price_changed` with the current offer if it differs. */
  agreed: agreementTermsSchema.optional(),
})
/**
 * `POST /orders`: with the requester and the network. 409 `already_paid` if the replaced order is paid or being paid; 429
 * `too_many_unpaid` if the account, the browser or the network has too many unpaid orders.
 */
export const placeOwnedOrderSchema = placeOrderSchema.extend({ ...requesterShape, network: visitorNetwork })
export type PlaceOrder = z.infer<typeof placeOwnedOrderSchema>

/** The response to `POST /api/checkout`: the payment page, or the order's page if it is paid already. */
export const checkoutResponseSchema = z.object({ checkoutUrl: z.url(), orderId: z.uuid() })
export type CheckoutResponse = z.infer<typeof checkoutResponseSchema>

/** A product as sold: its name, price and state at the time of the order. */
export const orderLineSchema = z.object({
  sku: z.string(),
  name: z.string(),
  state: z.enum(productStates),
  quantity: z.int().min(1),
  /** The price of one, in cents. */
  unitAmount: z.int().min(0),
})
export type OrderLine = z.infer<typeof orderLineSchema>

/** The shipping address that was entered on the payment page. */
export const shipToSchema = z.object({
  name: z.string(),
  addressLine1: z.string(),
  addressLine2: z.string(),
  city: z.string(),
  state: z.string(),
  zipCode: z.string(),
  /** ISO 3166-1, two letters. */
  country: z.string(),
})
export type ShipTo = z.infer<typeof shipToSchema>

export const orderStatuses = ['unpaid', 'paid', 'shipped', 'refunded'] as const

/** `GET /orders/:orderId` and the BFF's `GET /api/orders/:reference`: the current state of an order. */
export const orderSchema = z.object({
  orderId: z.uuid(),
  /** `refunded`: the full payment was refunded. */
  status: z.enum(orderStatuses),
  lines: z.array(orderLineSchema),
  ...moneySchema.shape,
  /** Null until it is paid, because the payment page asks for both. */
  email: z.string().nullable(),
  shipTo: shipToSchema.nullable(),
  checkout: z.object({
    status: z.enum(checkoutStatuses),
    /** The payment page, while it can be paid. */
    url: z.url().nullable(),
    lastDecline: z.string().nullable(),
  }),
  receiptNumber: z.string().nullable(),
  paidAt: z.iso.datetime().nullable(),
  /** The state of its payment, and the cents that the buyer was told were refunded but were not. Absent while it is unpaid. */
  paymentState: z.enum(paymentStates).optional(),
  owed: z.int().optional(),
  refunds: z.array(refundSchema.pick({ amount: true, currency: true, status: true, reason: true })),
  disputes: z.array(disputeSchema.pick({ amount: true, currency: true, status: true })).optional(),
  shippedAt: z.iso.datetime().nullable(),
  trackingNumber: z.string().nullable(),
})
export type Order = z.infer<typeof orderSchema>

/** `GET /orders` (administrators): paid orders, newest first. */
export const ordersQuerySchema = z.object({
  status: z.enum(['paid', 'shipped', 'refunded']).optional(),
})
export const ordersSchema = z.object({ orders: z.array(orderSchema) })

/**
 * `POST /orders/:orderId/shipment` (administrators): marks an order as shipped. 409 `order_already_shipped` if it was shipped
 * under another tracking number.
 */
export const shipOrderSchema = z.object({
  trackingNumber: field.requiredLine('Tracking number', 60).optional(),
})
export type ShipOrder = z.infer<typeof shipOrderSchema>

/**
 * `POST /api/shop/notices`: requests a stock alert for an address. The response is the same whether the address is known or
 * not; a mail asks the address to confirm the request.
 */
export const askStockAlertSchema = z.object({ sku, email: field.email })
export type AskStockAlert = z.infer<typeof askStockAlertSchema>

export const stockAlertStatuses = ['unconfirmed', 'confirmed', 'removed', 'told'] as const

/** `POST /notices`: with the current name and state of the product. */
export const requestStockAlertSchema = askStockAlertSchema.extend({
  productName: z.string(),
  state: z.enum(productStates),
  /** Whether the address is the verified address of the requesting account; omitted by a BFF of the previous version. */
  isProven: z.boolean().optional(),
})
export type RequestStockAlert = z.infer<typeof requestStockAlertSchema>

/**
 * The response to `GET /notices/:reference`, `POST /notices/:reference/confirmation` and `…/removal`, also under the BFF's
 * `/api/shop`. The `GET` changes nothing, so a mail program that prefetches links cannot confirm or remove an alert.
 */
export const stockAlertSchema = z.object({
  sku: z.string(),
  productName: z.string(),
  status: z.enum(stockAlertStatuses),
})
export type StockAlert = z.infer<typeof stockAlertSchema>
/** The response to a request for a stock alert. */
export const stockAlertRequestedSchema = z.object({ asked: z.literal(true) })

const orderFacts = z.object({
  orderId: z.uuid(),
  lines: z.array(orderLineSchema).min(1),
  /** Null if the payment page asked for none. */
  email: z.string().nullable(),
  shipTo: shipToSchema.nullable(),
})

export const orderPaid = defineEvent(
  'billing',
  'order.paid',
  orderFacts.extend({
    attemptId: z.uuid(),
    paymentId: z.uuid(),
    ...moneySchema.shape,
    receiptNumber: z.string(),
    paidAt: z.iso.datetime(),
  }),
)
const orderRefund = orderFacts.extend({
  refundId: z.uuid(),
  paymentId: z.uuid(),
  ...moneySchema.shape,
  reason: refundSchema.shape.reason,
})
export const orderRefunded = defineEvent(
  'billing',
  'order.refunded',
  orderRefund.extend({
    /** All refunds of the payment so far, in cents; equals `paidAmount` when it is refunded in full. */
    refundedTotal: z.int(),
    paidAmount: z.int(),
    /** It replaces a refund that was announced and then failed at the bank. */
    again: z.boolean().optional(),
    /** With this refund the payment is refunded in full, so the order is over. This field and the next are absent from older events. */
    whole: z.boolean().optional(),
    /** The order had been shipped already. */
    shipped: z.boolean().optional(),
  }),
)
/** A refund failed at the bank, so the school has the money again. It was announced by `order.refunded`, unless `untold`. */
export const orderRefundFailed = defineEvent(
  'billing',
  'order.refund_failed',
  orderRefund.extend(refundFailureSchema.shape),
)
export const orderShipped = defineEvent(
  'billing',
  'order.shipped',
  orderFacts.extend({ trackingNumber: z.string().nullable(), shippedAt: z.iso.datetime() }),
)
export const productStateChanged = defineEvent(
  'billing',
  'product.state_changed',
  z.object({
    sku: z.string(),
    name: z.string(),
    from: z.enum(productStates),
    to: z.enum(productStates),
    changedAt: z.iso.datetime(),
  }),
)
