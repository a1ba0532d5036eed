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
import { enqueueMail, type SubjectTime } from './enqueue-mail.ts'
import { asLine } from './rules.ts'
import type { MailData, OrderKind } from './schema.ts'
import { notifyOperator } from './notify-operator.ts'

/** Enqueues a mail to the buyer. Name and address were typed on the payment page, so both are converted to one line. */
async function mailBuyer<Kind extends OrderKind>(
  tx: Transaction,
  context: Context<Config>,
  { kind, factId, time, data: received }: { kind: Kind; factId: string; time: string; data: MailData[Kind] },
): Promise<void> {
  const { orderId, email, shipTo } = received
  if (email === null) {
    context.log.error({ orderId, kind }, 'an order has no email address')
    return
  }
  const name = shipTo && asLine(shipTo.name, 100)
  const data = shipTo ? { ...received, shipTo: { ...shipTo, name } } : received
  const about: SubjectTime = { subject: `order:${orderId}`, time }
  await enqueueMail(tx, context, { kind, factId, about, recipient: asLine(email, 320), data })
}

export const shopConsumers: Consumer<Config>[] = [
  consume(orderPaid, { from: 'now' }, (tx, { time, data }, context) =>
    mailBuyer(tx, context, { kind: 'order_paid', factId: data.orderId, time, data }),
  ),
  consume(orderRefunded, { from: 'now' }, (tx, { time, data }, context) =>
    mailBuyer(tx, context, { kind: 'order_refunded', factId: data.refundId, time, data }),
  ),
  consume(orderRefundFailed, { from: 'now' }, async (tx, { time, data }, context) => {
    await mailBuyer(tx, context, { kind: 'order_refund_failed', factId: data.refundId, time, data })
    await notifyOperator(tx, context, data, { subject: `order:${data.orderId}`, time })
  }),
  consume(orderShipped, { from: 'now' }, (tx, { time, data }, context) =>
    mailBuyer(tx, context, { kind: 'order_shipped', factId: data.orderId, time, data }),
  ),
  consume(productStateChanged, { from: 'now' }, (tx, { data }, context) => recordProductChange(tx, context, data)),
]
