import {
  orderPaid,
  orderRefunded,
  orderRefundFailed,
  orderShipped,
  productStateChanged,
} from '@robokids/contracts/shop'
import type { Transaction } from '@robokids/runtime/db'
import { consume, type Consumer } from '@robokids/runtime/inbox'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import { noteNews } from './notices.ts'
import { orderMail } from './order-mail.ts'
import { asLine } from './rules.ts'
import type { MailData, OrderKind } from './schema.ts'

/** Whoever typed an address at the payment page typed a name as well: both as one line. */
async function tellBuyer<Kind extends OrderKind>(
  tx: Transaction,
  context: Context<Config>,
  order: { kind: Kind; factId: string; data: MailData[Kind] },
): Promise<void> {
  const { orderId, email, shipTo } = order.data
  if (email === null) {
    context.log.error({ orderId, kind: order.kind }, 'an order has no address to write to')
    return
  }
  const name = shipTo && asLine(shipTo.name, 100)
  const data = shipTo ? { ...order.data, shipTo: { ...shipTo, name } } : order.data
  await orderMail(tx, context, { ...order, recipient: asLine(email, 320), data })
}

export const shopConsumers: Consumer<Config>[] = [
  consume(orderPaid, { from: 'now' }, (tx, { data }, context) =>
    tellBuyer(tx, context, { kind: 'order_paid', factId: data.orderId, data }),
  ),
  consume(orderRefunded, { from: 'now' }, (tx, { data }, context) =>
    tellBuyer(tx, context, { kind: 'order_refunded', factId: data.refundId, data }),
  ),
  consume(orderRefundFailed, { from: 'now' }, (tx, { data }, context) =>
    tellBuyer(tx, context, { kind: 'order_refund_failed', factId: data.refundId, data }),
  ),
  consume(orderShipped, { from: 'now' }, (tx, { data }, context) =>
    tellBuyer(tx, context, { kind: 'order_shipped', factId: data.orderId, data }),
  ),
  consume(productStateChanged, { from: 'now' }, (tx, { data }, context) => noteNews(tx, context, data)),
]
