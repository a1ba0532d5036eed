import { randomUUID } from 'node:crypto'
import {
  membershipAskedAgain,
  membershipRefunded,
  membershipRefundFailed,
  paymentDisputed,
  paymentRefunded,
  refundDeclined,
  refundFailed,
  subscriptionCancelled,
  subscriptionEnded,
  subscriptionPastDue,
  subscriptionReminder,
  subscriptionRenewed,
  subscriptionResumed,
  subscriptionSwitched,
} from '@robokids/contracts/billing'
import {
  kitShipped,
  memberSeated,
  registrationAskedAgain,
  registrationConfirmed,
  registrationRejected,
  smallClassesFound,
  waiverSigned,
} from '@robokids/contracts/enrollment'
import type { EventDefinition } from '@robokids/contracts/event'
import { codeIssued, signInLocked, userDeleted, userUpdated, type Account } from '@robokids/contracts/identity'
import { schoolDate } from '@robokids/contracts/school-date'
import { consume, type Consumer } from '@robokids/runtime/inbox'
import type { Config } from './config.ts'
import { enqueueMail, type About } from './enqueue-mail.ts'
import { asLine, changeWarnings, provenAddress } from './rules.ts'
import { rejections, type MailData, type MembershipKind, type Subject } from './schema.ts'
import { tellOperator } from './tell-operator.ts'

// Names and addresses of an account come as identity took them, which takes more than a form does.
const nameOf = (account: Pick<Account, 'givenName'>) => ({ givenName: asLine(account.givenName ?? '', 100) })
const addressOf = (recipient: string) => asLine(recipient, 320)

/** What happens to a membership is told to its member, each event once. */
function tellMember<Kind extends MembershipKind, Type extends string>(
  definition: EventDefinition<Type, MailData[Kind] & { attemptId: string; email: string }>,
  kind: Kind,
  isTold: (data: MailData[Kind]) => boolean = () => true,
): Consumer<Config> {
  return consume(definition, { from: 'now' }, async (tx, { id, time, data }, context) => {
    if (!isTold(data)) return
    const about: About = { subject: `membership:${data.attemptId}`, time }
    await enqueueMail(tx, context, { kind, factId: id, about, recipient: data.email, data })
  })
}

// A mail begins now: nobody wants to be written what happened before we wrote mails about it.
export const consumers: Consumer<Config>[] = [
  consume(registrationConfirmed, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'registration_confirmed',
      factId: data.registrationId,
      about: { subject: `registration:${data.registrationId}`, time },
      registrationId: data.registrationId,
      calendarId: randomUUID(),
      recipient: data.email,
      data,
    }),
  ),
  consume(waiverSigned, { from: 'now' }, (tx, { time, data }, context) => {
    const { registrationId, classType } = data
    // A membership's waiver names the membership.
    const subject = classType === 'membership' ? 'membership' : 'registration'
    return enqueueMail(tx, context, {
      kind: 'waiver_signed',
      factId: data.waiverId,
      about: { subject: `${subject}:${registrationId}`, time },
      registrationId,
      recipient: data.email,
      data,
    })
  }),
  // Once a day: whoever asks again and again does not fill anybody's mailbox.
  consume(registrationAskedAgain, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'registration_asked_again',
      factId: `${data.registrationId}:${data.askedFor}:${schoolDate(time)}`,
      about: { subject: `registration:${data.registrationId}`, time },
      registrationId: data.registrationId,
      recipient: data.email,
      data,
    }),
  ),
  consume(membershipAskedAgain, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'membership_asked_again',
      factId: `${data.attemptId}:${schoolDate(time)}`,
      about: { subject: `membership:${data.attemptId}`, time },
      recipient: data.email,
      data,
    }),
  ),
  consume(kitShipped, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'kit_shipped',
      factId: data.registrationId,
      about: { subject: `registration:${data.registrationId}`, time },
      registrationId: data.registrationId,
      recipient: data.email,
      data,
    }),
  ),
  consume(paymentRefunded, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'payment_refunded',
      factId: data.refundId,
      about: { subject: `registration:${data.purchase.registrationId}`, time },
      registrationId: data.purchase.registrationId,
      recipient: data.purchase.email,
      data,
    }),
  ),
  consume(refundFailed, { from: 'now' }, async (tx, { time, data }, context) => {
    const about: About = { subject: `registration:${data.purchase.registrationId}`, time }
    await enqueueMail(tx, context, {
      kind: 'refund_failed',
      factId: data.refundId,
      about,
      registrationId: data.purchase.registrationId,
      recipient: data.purchase.email,
      data,
    })
    await tellOperator(tx, context, data, about)
  }),
  // Its payer was told neither that it had gone back nor that it would: the operator alone has to know.
  consume(refundDeclined, { from: 'now' }, async (tx, { time, data }, context) => {
    const { registrationId, orderId, membershipId, retried } = data
    if (retried) return
    const subject: Subject =
      registrationId !== null
        ? `registration:${registrationId}`
        : orderId !== null
          ? `order:${orderId}`
          : `membership:${membershipId ?? ''}`
    await tellOperator(tx, context, data, { subject, time })
  }),
  consume(smallClassesFound, { from: 'now' }, (tx, { id, data }, context) =>
    enqueueMail(tx, context, { kind: 'small_classes', factId: id, recipient: context.config.OPERATOR_EMAIL, data }),
  ),
  // Not a mail, but what the mail of a refund is written from.
  consume(registrationRejected, { from: 'beginning' }, async (tx, { data }) => {
    const { payment, reason, duplicateOf } = data
    await tx.insert(rejections).values({ paymentId: payment.paymentId, reason, duplicateOf }).onConflictDoNothing()
  }),
  consume(codeIssued, { from: 'now' }, (tx, { data }, context) =>
    enqueueMail(tx, context, {
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
    const about: About = { subject: `account:${data.userId}`, time }
    const orders = changeWarnings(data).map(({ recipient, ...notice }) => ({
      kind: 'user_updated' as const,
      factId: notice.toPrevious ? `${id}:previous` : id,
      about,
      userId: data.userId,
      recipient: addressOf(recipient),
      data: { ...nameOf(data), ...notice, ...now, at: time },
    }))
    await enqueueMail(tx, context, ...orders)
  }),
  consume(signInLocked, { from: 'now' }, async (tx, { id, time, data }, context) => {
    const { userId, reason, until } = data
    const address = provenAddress(data)
    if (address === null) return
    await enqueueMail(tx, context, {
      kind: 'sign_in_locked',
      // Once a day at most: whoever tries for days to get in must not fill the owner's mailbox as well.
      factId: reason === 'too_many_attempts' ? `${userId}:${reason}:${time.slice(0, 10)}` : id,
      about: { subject: `account:${userId}`, time },
      userId,
      recipient: addressOf(address),
      data: { ...nameOf(data), reason, until, at: time },
    })
  }),
  consume(userDeleted, { from: 'now' }, async (tx, { time, data }, context) => {
    const { userId } = data
    const address = provenAddress(data)
    if (address === null) return
    await enqueueMail(tx, context, {
      kind: 'user_deleted',
      factId: userId,
      about: { subject: `account:${userId}`, time },
      userId,
      recipient: addressOf(address),
      data: nameOf(data),
    })
  }),
  consume(memberSeated, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'membership_confirmed',
      factId: data.attemptId,
      about: { subject: `membership:${data.attemptId}`, time },
      calendarId: randomUUID(),
      recipient: data.email,
      data,
    }),
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
  consume(membershipRefundFailed, { from: 'now' }, async (tx, { id, time, data }, context) => {
    const about: About = { subject: `membership:${data.attemptId}`, time }
    await enqueueMail(tx, context, { kind: 'membership_refund_failed', factId: id, about, recipient: data.email, data })
    const { attemptId: membershipId, refunded: amount, ...refund } = data
    await tellOperator(tx, context, { ...refund, membershipId, amount }, about)
  }),
  consume(paymentDisputed, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'payment_disputed',
      factId: `${data.disputeId}:${data.status}`,
      about: { subject: `dispute:${data.disputeId}`, time },
      recipient: context.config.OPERATOR_EMAIL,
      data,
    }),
  ),
]
