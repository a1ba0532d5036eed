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
import { recordProductChange } from './stock-alerts.ts'
import { enqueueMail, type About } from './enqueue-mail.ts'
import { asLine } from './rules.ts'
import type { MailData, OrderKind } from './schema.ts'
import { tellOperator } from './tell-operator.ts'

/** Whoever typed an address at the payment page typed a name as well: both as one line. */
async function tellBuyer<Kind extends OrderKind>(
  tx: Transaction,
  context: Context<Config>,
  { kind, factId, time, data: told }: { kind: Kind; factId: string; time: string; data: MailData[Kind] },
): Promise<void> {
  const { orderId, email, shipTo } = told
  if (email === null) {
    context.log.error({ orderId, kind }, 'an order has no address to write to')
    return
  }
  const name = shipTo && asLine(shipTo.name, 100)
  const data = shipTo ? { ...told, shipTo: { ...shipTo, name } } : told
  const about: About = { subject: `order:${orderId}`, time }
  await enqueueMail(tx, context, { kind, factId, about, recipient: asLine(email, 320), data })
}

export const shopConsumers: Consumer<Config>[] = [
  consume(orderPaid, { from: 'now' }, (tx, { time, data }, context) =>
    tellBuyer(tx, context, { kind: 'order_paid', factId: data.orderId, time, data }),
  ),
  consume(orderRefunded, { from: 'now' }, (tx, { time, data }, context) =>
    tellBuyer(tx, context, { kind: 'order_refunded', factId: data.refundId, time, data }),
  ),
  consume(orderRefundFailed, { from: 'now' }, async (tx, { time, data }, context) => {
    await tellBuyer(tx, context, { kind: 'order_refund_failed', factId: data.refundId, time, data })
    await tellOperator(tx, context, data, { subject: `order:${data.orderId}`, time })
  }),
  consume(orderShipped, { from: 'now' }, (tx, { time, data }, context) =>
    tellBuyer(tx, context, { kind: 'order_shipped', factId: data.orderId, time, data }),
  ),
  consume(productStateChanged, { from: 'now' }, (tx, { data }, context) => recordProductChange(tx, context, data)),
]
