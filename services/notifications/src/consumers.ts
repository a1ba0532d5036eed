import { randomUUIDv7 } from 'node:crypto'
import { paymentRefunded } from '@robokids/contracts/billing'
import {
  registrationConfirmed,
  registrationRejected,
  waiverSigned,
  type RegistrationFacts,
} from '@robokids/contracts/enrollment'
import { wake, type Transaction } from '@robokids/runtime/db'
import { consume, type Consumer } from '@robokids/runtime/inbox'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import { messageIdOf } from './message-id.ts'
import { mails, rejections, type MailData } from './schema.ts'

/** Orders the mail about a fact, once; the job sends it after the commit. */
async function order<Kind extends keyof MailData>(
  tx: Transaction,
  context: Context<Config>,
  kind: Kind,
  factId: string,
  { registrationId, email }: RegistrationFacts,
  data: MailData[Kind],
): Promise<void> {
  const id = randomUUIDv7()
  const now = context.clock.now()
  await tx
    .insert(mails)
    .values({
      id,
      fact: `${kind}:${factId}`,
      kind,
      registrationId,
      recipient: email,
      data,
      messageId: messageIdOf(id, 1, context.config.MAIL_FROM),
      nextTryAt: now,
      createdAt: now,
    })
    .onConflictDoNothing({ target: mails.fact })
  await wake(tx, 'send-mails')
}

export const consumers: Consumer<Config>[] = [
  consume(registrationConfirmed, (tx, { data }, context) =>
    order(tx, context, 'registration_confirmed', data.registrationId, data, data),
  ),
  consume(waiverSigned, (tx, { data }, context) => order(tx, context, 'waiver_signed', data.waiverId, data, data)),
  consume(paymentRefunded, (tx, { data }, context) =>
    order(tx, context, 'payment_refunded', data.refundId, data.purchase, data),
  ),
  consume(registrationRejected, async (tx, { data }) => {
    await tx.insert(rejections).values({ paymentId: data.payment.paymentId, reason: data.reason }).onConflictDoNothing()
  }),
]
