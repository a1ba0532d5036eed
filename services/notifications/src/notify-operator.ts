import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import { enqueueMail, type SubjectTime } from './enqueue-mail.ts'
import type { MailData } from './schema.ts'

type Owed = MailData['refund_owed']
type Purchase = 'registrationId' | 'orderId' | 'membershipId'

/** Enqueues the mail to the operator about a failed refund, which is never retried automatically. */
export async function notifyOperator(
  tx: Transaction,
  context: Context<Config>,
  refund: Omit<Owed, Purchase> & Partial<Pick<Owed, Purchase>>,
  about: SubjectTime,
): Promise<void> {
  const { refundId, paymentId, amount, currency, reason } = refund
  const { registrationId = null, orderId = null, membershipId = null } = refund
  await enqueueMail(tx, context, {
    kind: 'refund_owed',
    factId: refundId,
    about,
    recipient: context.config.OPERATOR_EMAIL,
    data: { refundId, paymentId, registrationId, orderId, membershipId, amount, currency, reason },
  })
}
