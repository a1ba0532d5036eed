import { robotSpider } from '@robokids/contracts/products'
import type { Order } from '@robokids/contracts/shop'

/** For tests: an order of two Spiders, paid and not yet shipped. */
export const sampleOrder: Order = {
  orderId: '019a0000-0000-7000-8000-0000000000b1',
  status: 'paid',
  lines: [{ sku: robotSpider, name: 'Robot Spider', state: 'pre_order', quantity: 2, unitAmount: 30_000 }],
  amount: 60_000,
  currency: 'usd',
  email: 'maren.holt@example.com',
  shipTo: {
    name: 'Maren Holt',
    addressLine1: '14 Alder Way',
    addressLine2: '',
    city: 'San Mateo',
    state: 'CA',
    zipCode: '94401',
    country: 'US',
  },
  checkout: { status: 'paid', url: null, lastDecline: null },
  receiptNumber: 'RK-000040',
  paidAt: '2025-09-20T17:05:00.000Z',
  refunds: [],
  shippedAt: null,
  trackingNumber: null,
}
