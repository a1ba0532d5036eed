import {
  membershipRefunded,
  membershipRefundFailed,
  paymentDisputed,
  paymentRefunded,
  refundFailed,
  subscriptionCancelled,
  subscriptionEnded,
  subscriptionPastDue,
  subscriptionReminder,
  subscriptionRenewed,
  subscriptionResumed,
  subscriptionSwitched,
} from '@robokids/contracts/billing'
import { memberSeated, registrationConfirmed, registrationRejected, waiverSigned } from '@robokids/contracts/enrollment'
import type { EventDefinition } from '@robokids/contracts/event'
import { codeIssued, signInLocked, userDeleted, userUpdated, type Account } from '@robokids/contracts/identity'
import { consume, type Consumer } from '@robokids/runtime/inbox'
import type { Config } from './config.ts'
import { orderMail } from './order-mail.ts'
import { asLine, changeNotices } from './rules.ts'
import { rejections, type MailData, type MembershipKind } from './schema.ts'

// Names and addresses of an account come as identity took them, which takes more than a form does.
const nameOf = (account: Pick<Account, 'givenName'>) => ({ givenName: asLine(account.givenName ?? '', 100) })
const addressOf = (recipient: string) => asLine(recipient, 320)

/** What happens to a membership is told to its member, each event once. */
function tellMember<Kind extends MembershipKind, Type extends string>(
  definition: EventDefinition<Type, MailData[Kind] & { email: string }>,
  kind: Kind,
  isTold: (data: MailData[Kind]) => boolean = () => true,
): Consumer<Config> {
  return consume(definition, { from: 'now' }, async (tx, { id, data }, context) => {
    if (isTold(data)) await orderMail(tx, context, { kind, factId: id, recipient: data.email, data })
  })
}

// A mail begins now: nobody wants to be written what happened before we wrote mails about it.
export const consumers: Consumer<Config>[] = [
  consume(registrationConfirmed, { from: 'now' }, (tx, { data }, context) =>
    orderMail(tx, context, {
      kind: 'registration_confirmed',
      factId: data.registrationId,
      registrationId: data.registrationId,
      recipient: data.email,
      data,
    }),
  ),
  consume(waiverSigned, { from: 'now' }, (tx, { data }, context) =>
    orderMail(tx, context, {
      kind: 'waiver_signed',
      factId: data.waiverId,
      registrationId: data.registrationId,
      recipient: data.email,
      data,
    }),
  ),
  consume(paymentRefunded, { from: 'now' }, (tx, { data }, context) =>
    orderMail(tx, context, {
      kind: 'payment_refunded',
      factId: data.refundId,
      registrationId: data.purchase.registrationId,
      recipient: data.purchase.email,
      data,
    }),
  ),
  consume(refundFailed, { from: 'now' }, (tx, { data }, context) =>
    orderMail(tx, context, {
      kind: 'refund_failed',
      factId: data.refundId,
      registrationId: data.purchase.registrationId,
      recipient: data.purchase.email,
      data,
    }),
  ),
  // Not a mail, but what the mail of a refund is written from.
  consume(registrationRejected, { from: 'beginning' }, async (tx, { data }) => {
    await tx.insert(rejections).values({ paymentId: data.payment.paymentId, reason: data.reason }).onConflictDoNothing()
  }),
  consume(codeIssued, { from: 'now' }, (tx, { data }, context) =>
    orderMail(tx, context, {
      kind: 'code_issued',
      factId: data.codeId,
      userId: data.userId,
      medium: data.medium,
      recipient: addressOf(data.destination),
      sealedCode: data.sealedCode,
      expiresAt: Temporal.Instant.from(data.expiresAt),
      data: { ...nameOf(data), codeId: data.codeId, purpose: data.purpose, username: asLine(data.username, 128) },
    }),
  ),
  consume(userUpdated, { from: 'now' }, async (tx, { id, time, data }, context) => {
    const { secondFactors, passkeys } = data
    const now = { ...(secondFactors ? { secondFactors } : {}), ...(passkeys === undefined ? {} : { passkeys }) }
    const orders = changeNotices(data).map(({ recipient, ...notice }) => ({
      kind: 'user_updated' as const,
      factId: notice.toPrevious ? `${id}:previous` : id,
      userId: data.userId,
      recipient: addressOf(recipient),
      data: { ...nameOf(data), ...notice, ...now, at: time },
    }))
    await orderMail(tx, context, ...orders)
  }),
  consume(signInLocked, { from: 'now' }, async (tx, { id, time, data }, context) => {
    const { userId, email, emailVerified, reason, until } = data
    if (email === null || !emailVerified) return
    await orderMail(tx, context, {
      kind: 'sign_in_locked',
      // Once a day at most: whoever tries for days to get in must not fill the owner's mailbox as well.
      factId: reason === 'too_many_attempts' ? `${userId}:${reason}:${time.slice(0, 10)}` : id,
      userId,
      recipient: addressOf(email),
      data: { ...nameOf(data), reason, until, at: time },
    })
  }),
  consume(userDeleted, { from: 'now' }, async (tx, { data }, context) => {
    const { userId, email, emailVerified } = data
    if (email === null || !emailVerified) return
    await orderMail(tx, context, {
      kind: 'user_deleted',
      factId: userId,
      userId,
      recipient: addressOf(email),
      data: nameOf(data),
    })
  }),
  consume(memberSeated, { from: 'now' }, (tx, { data }, context) =>
    orderMail(tx, context, { kind: 'membership_confirmed', factId: data.attemptId, recipient: data.email, data }),
  ),
  tellMember(subscriptionRenewed, 'membership_renewed'),
  tellMember(subscriptionPastDue, 'membership_past_due'),
  tellMember(subscriptionSwitched, 'membership_switched'),
  tellMember(subscriptionCancelled, 'membership_cancelled'),
  tellMember(subscriptionResumed, 'membership_resumed'),
  // The refund that comes with one that could not begin tells of its end.
  tellMember(subscriptionEnded, 'membership_ended', ({ reason }) => reason === 'cancelled' || reason === 'unpaid'),
  tellMember(subscriptionReminder, 'membership_reminder'),
  tellMember(membershipRefunded, 'membership_refunded'),
  tellMember(membershipRefundFailed, 'membership_refund_failed'),
  consume(paymentDisputed, { from: 'now' }, (tx, { data }, context) =>
    orderMail(tx, context, {
      kind: 'payment_disputed',
      factId: `${data.disputeId}:${data.status}`,
      recipient: context.config.OPERATOR_EMAIL,
      data,
    }),
  ),
]
