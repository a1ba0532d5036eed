import { z } from 'zod'
import { agreementTermsSchema } from './agreement.ts'
import { checkoutStatuses, disputeSchema, paymentStates, refundSchema, untoldSchema } from './billing.ts'
import { askerShape, visitorNetwork } from './enrollment.ts'
import { defineEvent } from './event.ts'
import * as field from './fields.ts'
import { moneySchema } from './fields.ts'
import { maxLines, maxQuantity, productStates } from './products.ts'

export {
  canBeAwaited,
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

/** `GET /products`: what the shop shows now, at today's prices. */
export const productsSchema = z.object({ products: z.array(productSchema) })

/** `POST /admin/products` (administrators): what can be done about a product from now on. Answers as `GET /products`. */
export const setProductStateSchema = z.object({
  sku,
  state: z.enum(productStates, { error: `state must be one of ${productStates.join(', ')}.` }),
})
export type SetProductState = z.infer<typeof setProductStateSchema>

/** `GET /api/shop`: the products, and what the cheapest class costs with its kit. */
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
 * `POST /orders`, and the BFF's `POST /api/checkout`: what is wanted, and how many of it. What it costs, and whether it can
 * be bought, the server knows alone.
 */
export const placeOrderSchema = z.object({
  /** UUIDv7 made by the client: the idempotency key, and the reference of the order's page. */
  orderId: z.uuid({ version: 'v7', error: 'orderId must be a UUIDv7.' }).toLowerCase(),
  items: z
    .array(itemSchema, { error: 'items must be a list.' })
    .min(1, { error: 'The cart is empty.' })
    .max(maxLines, { error: `One order can have at most ${maxLines} products.` })
    .refine((items) => new Set(items.map((item) => item.sku)).size === items.length, {
      error: 'Each product can stand in the list once.',
    }),
  /**
   * The order that the same cart was sent as first, before it was changed: what is open of the cart cannot be paid any more,
   * and two orders that name the same one are of one cart, also where that one is not known. An order that is paid stays
   * what it is: 409 `already_paid`. Whoever that order belongs to may say so: its account, or where none was signed in, the
   * browser that made it; of anybody else it is read as if it were left out.
   */
  replaces: field.uuid('replaces must be a UUID.').optional(),
  /** What the page showed: 409 `price_changed` with what is offered now where that is something else. */
  agreed: agreementTermsSchema.optional(),
})
/**
 * `POST /orders`: with who asks, and from where. 409 `already_paid` where the replaced order is paid, or being paid; 429
 * `too_many_unpaid` where the account, the browser or the network has begun many that are not paid yet.
 */
export const placeOwnedOrderSchema = placeOrderSchema.extend({ ...askerShape, network: visitorNetwork })
export type PlaceOrder = z.infer<typeof placeOwnedOrderSchema>

/** The answer to `POST /api/checkout`: where to pay; an order that is paid leads to its own page. */
export const checkoutAnswerSchema = z.object({ checkoutUrl: z.url(), orderId: z.uuid() })
export type CheckoutAnswer = z.infer<typeof checkoutAnswerSchema>

/** A product as it was sold: name, price and state of that day. */
export const orderLineSchema = z.object({
  sku: z.string(),
  name: z.string(),
  state: z.enum(productStates),
  quantity: z.int().min(1),
  /** Cents for one. */
  unitAmount: z.int().min(0),
})
export type OrderLine = z.infer<typeof orderLineSchema>

/** Where the payment page was told to send it. */
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

/** `GET /orders/:orderId` and the BFF's `GET /api/orders/:reference`: the order as it is, money first. */
export const orderSchema = z.object({
  orderId: z.uuid(),
  /** `refunded` where all that was paid went back. */
  status: z.enum(orderStatuses),
  lines: z.array(orderLineSchema),
  ...moneySchema.shape,
  /** Null until it is paid: the payment page asks for both. */
  email: z.string().nullable(),
  shipTo: shipToSchema.nullable(),
  checkout: z.object({
    status: z.enum(checkoutStatuses),
    /** Where to pay, while that is possible. */
    url: z.url().nullable(),
    lastDecline: z.string().nullable(),
  }),
  receiptNumber: z.string().nullable(),
  paidAt: z.iso.datetime().nullable(),
  /** How its payment stands, and the cents that its buyer was told to have back and has not. Absent while it is unpaid. */
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
 * `POST /orders/:orderId/shipment` (administrators): it is on its way. 409 `order_already_shipped` where it was, under another
 * tracking number.
 */
export const shipOrderSchema = z.object({
  trackingNumber: field.requiredLine('Tracking number', 60).optional(),
})
export type ShipOrder = z.infer<typeof shipOrderSchema>

/**
 * `POST /api/shop/notices`: tell this address when the product can be had. The answer is the
 * same whether the address is known or not; the one mail that follows asks whether it is really wanted.
 */
export const askStockAlertSchema = z.object({ sku, email: field.email })
export type AskStockAlert = z.infer<typeof askStockAlertSchema>

export const stockAlertStatuses = ['unconfirmed', 'confirmed', 'removed', 'told'] as const

/** `POST /notices`: with what the shop says of the product now. */
export const requestStockAlertSchema = askStockAlertSchema.extend({
  productName: z.string(),
  state: z.enum(productStates),
  /** Whether the address is proven to be that of the account that asks; left out by a BFF of the version before. */
  isProven: z.boolean().optional(),
})
export type RequestStockAlert = z.infer<typeof requestStockAlertSchema>

/**
 * `GET /notices/:reference`, and the answer to `POST /notices/:reference/confirmation` and `…/removal`; under `/api/shop` the
 * BFF's. Looking changes nothing: what a mail program opens by itself confirms and removes nothing.
 */
export const stockAlertSchema = z.object({
  sku: z.string(),
  productName: z.string(),
  status: z.enum(stockAlertStatuses),
})
export type StockAlert = z.infer<typeof stockAlertSchema>
/** The answer to asking for one. */
export const stockAlertRequestedSchema = z.object({ asked: z.literal(true) })

const orderFacts = z.object({
  orderId: z.uuid(),
  lines: z.array(orderLineSchema).min(1),
  /** Null where the payment page asked for none. */
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
    /** All refunds of the payment so far, in cents; equal to `paidAmount` when all of it went back. */
    refundedTotal: z.int(),
    paidAmount: z.int(),
    /** It makes good for what was told of before and failed at the bank after all. */
    again: z.boolean().optional(),
    /** All of the payment is back with this refund, so the order is over. Absent, as the next line, from events of the time before. */
    whole: z.boolean().optional(),
    /** It had been shipped by then. */
    shipped: z.boolean().optional(),
  }),
)
/** A refund has failed at the bank: the money is with us again. `order.refunded` told of it before, unless it is `untold`. */
export const orderRefundFailed = defineEvent('billing', 'order.refund_failed', orderRefund.extend(untoldSchema.shape))
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
