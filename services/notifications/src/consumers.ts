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
import { moveRefused, placesCancelled, placesMoved } from '@robokids/contracts/changes'
import { classCancelled } from '@robokids/contracts/class-cancellation'
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
import { classLinkMissing, classReminderDue, registrationRescheduled } from '@robokids/contracts/reminders'
import { schoolDate } from '@robokids/contracts/school-date'
import { waitlistEnded, waitlistJoined, waitlistOffered } from '@robokids/contracts/waitlist'
import {
  memberClassBooked,
  memberClassCancelled,
  memberClassMoved,
  memberClassNotRestored,
} from '@robokids/contracts/member-classes'
import { consume, type Consumer } from '@robokids/runtime/inbox'
import type { Config } from './config.ts'
import { enqueueMail, type SubjectTime } from './enqueue-mail.ts'
import { asLine, changeWarnings, verifiedAddress } from './rules.ts'
import type { MemberClassKind } from './mails/member-class.ts'
import { rejections, type MailData, type MembershipKind, type Subject } from './schema.ts'
import { notifyOperator } from './notify-operator.ts'

// Identity accepts more in an account's names and addresses than our forms do.
const givenNameOf = (account: Pick<Account, 'givenName'>) => ({ givenName: asLine(account.givenName ?? '', 100) })
const addressOf = (recipient: string) => asLine(recipient, 320)

/** Returns a consumer that mails the member once per event. */
function mailMember<Kind extends MembershipKind, Type extends string>(
  definition: EventDefinition<Type, MailData[Kind] & { attemptId: string; email: string }>,
  kind: Kind,
  shouldSend: (data: MailData[Kind]) => boolean = () => true,
): Consumer<Config> {
  return consume(definition, { from: 'now' }, async (tx, { id, time, data }, context) => {
    if (!shouldSend(data)) return
    const about: SubjectTime = { subject: `membership:${data.attemptId}`, time }
    await enqueueMail(tx, context, { kind, factId: id, about, recipient: data.email, data })
  })
}

/** As `mailMember`, about a class of a membership. */
function mailClass<Kind extends MemberClassKind, Type extends string>(
  definition: EventDefinition<Type, MailData[Kind]>,
  kind: Kind,
): Consumer<Config> {
  return consume(definition, { from: 'now' }, (tx, { id, time, data }, context) => {
    const about: SubjectTime = { subject: `membership:${data.membershipId}`, time }
    return enqueueMail(tx, context, { kind, factId: id, about, recipient: data.email, data })
  })
}

// Mail consumers start `now`: a new kind of mail must not be sent about past events.
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
    // For a membership's waiver, `registrationId` is the membership's id.
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
  // At most once a day, so that repeated requests do not flood the mailbox.
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
  consume(classReminderDue, { from: 'now' }, (tx, { id, time, data }, context) => {
    const { attendance, attendanceId } = data
    return enqueueMail(tx, context, {
      kind: 'class_reminder',
      factId: id,
      about: { subject: `${attendance}:${attendanceId}`, time },
      ...(attendance === 'registration' ? { registrationId: attendanceId } : {}),
      recipient: data.email,
      data,
    })
  }),
  consume(registrationRescheduled, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'registration_rescheduled',
      factId: `${data.registrationId}:${data.change.changeId}`,
      about: { subject: `registration:${data.registrationId}`, time },
      registrationId: data.registrationId,
      recipient: data.email,
      data,
    }),
  ),
  consume(classCancelled, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'class_cancelled',
      factId: `${data.registrationId}:${data.cancellationId}`,
      about: { subject: `registration:${data.registrationId}`, time },
      registrationId: data.registrationId,
      recipient: data.email,
      data,
    }),
  ),
  // Each change is made once: its id is that of its mail.
  consume(placesCancelled, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'places_cancelled',
      factId: data.changeId,
      about: { subject: `registration:${data.registrationId}`, time },
      registrationId: data.registrationId,
      recipient: data.email,
      data,
    }),
  ),
  consume(placesMoved, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'places_moved',
      factId: data.changeId,
      about: { subject: `registration:${data.registrationId}`, time },
      registrationId: data.registrationId,
      recipient: data.email,
      data,
    }),
  ),
  consume(moveRefused, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'move_refused',
      factId: data.changeId,
      about: { subject: `registration:${data.registrationId}`, time },
      registrationId: data.registrationId,
      recipient: data.email,
      data,
    }),
  ),
  consume(classLinkMissing, { from: 'now' }, (tx, { id, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'class_link_missing',
      factId: id,
      recipient: context.config.OPERATOR_EMAIL,
      data,
    }),
  ),
  consume(paymentRefunded, { from: 'now' }, async (tx, { time, data }, context) => {
    // The mail about the change has told what goes back.
    if (data.changeId !== undefined) return
    await enqueueMail(tx, context, {
      kind: 'payment_refunded',
      factId: data.refundId,
      about: { subject: `registration:${data.purchase.registrationId}`, time },
      registrationId: data.purchase.registrationId,
      recipient: data.purchase.email,
      data,
    })
  }),
  consume(refundFailed, { from: 'now' }, async (tx, { time, data }, context) => {
    const about: SubjectTime = { subject: `registration:${data.purchase.registrationId}`, time }
    await enqueueMail(tx, context, {
      kind: 'refund_failed',
      factId: data.refundId,
      about,
      registrationId: data.purchase.registrationId,
      recipient: data.purchase.email,
      data,
    })
    await notifyOperator(tx, context, data, about)
  }),
  // The payer was told nothing about this refund, so only the operator is notified.
  consume(refundDeclined, { from: 'now' }, async (tx, { time, data }, context) => {
    const { registrationId, orderId, membershipId, retried } = data
    if (retried) return
    const subject: Subject =
      registrationId !== null
        ? `registration:${registrationId}`
        : orderId !== null
          ? `order:${orderId}`
          : `membership:${membershipId ?? ''}`
    await notifyOperator(tx, context, data, { subject, time })
  }),
  consume(smallClassesFound, { from: 'now' }, (tx, { id, data }, context) =>
    enqueueMail(tx, context, { kind: 'small_classes', factId: id, recipient: context.config.OPERATOR_EMAIL, data }),
  ),
  // No mail, but data for the mail about the refund.
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
      data: { ...givenNameOf(data), codeId: data.codeId, purpose: data.purpose, username: asLine(data.username, 128) },
    }),
  ),
  consume(userUpdated, { from: 'now' }, async (tx, { id, time, data }, context) => {
    const { secondFactors, passkeys } = data
    const now = { ...(secondFactors ? { secondFactors } : {}), ...(passkeys === undefined ? {} : { passkeys }) }
    const about: SubjectTime = { subject: `account:${data.userId}`, time }
    const requests = changeWarnings(data).map(({ recipient, ...warning }) => ({
      kind: 'user_updated' as const,
      factId: warning.toPrevious ? `${id}:previous` : id,
      about,
      userId: data.userId,
      recipient: addressOf(recipient),
      data: { ...givenNameOf(data), ...warning, ...now, at: time },
    }))
    await enqueueMail(tx, context, ...requests)
  }),
  consume(signInLocked, { from: 'now' }, async (tx, { id, time, data }, context) => {
    const { userId, reason, until } = data
    const address = verifiedAddress(data)
    if (address === null) return
    await enqueueMail(tx, context, {
      kind: 'sign_in_locked',
      // At most once a day, so that an attacker cannot flood the owner's mailbox.
      factId: reason === 'too_many_attempts' ? `${userId}:${reason}:${time.slice(0, 10)}` : id,
      about: { subject: `account:${userId}`, time },
      userId,
      recipient: addressOf(address),
      data: { ...givenNameOf(data), reason, until, at: time },
    })
  }),
  consume(userDeleted, { from: 'now' }, async (tx, { time, data }, context) => {
    const { userId } = data
    const address = verifiedAddress(data)
    if (address === null) return
    await enqueueMail(tx, context, {
      kind: 'user_deleted',
      factId: userId,
      about: { subject: `account:${userId}`, time },
      userId,
      recipient: addressOf(address),
      data: givenNameOf(data),
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
  mailMember(subscriptionRenewed, 'membership_renewed'),
  mailMember(subscriptionPastDue, 'membership_past_due'),
  mailMember(subscriptionSwitched, 'membership_switched'),
  mailMember(subscriptionCancelled, 'membership_cancelled'),
  mailMember(subscriptionResumed, 'membership_resumed'),
  // Memberships rejected at activation are covered by the refund mail.
  mailMember(subscriptionEnded, 'membership_ended', ({ reason }) => reason === 'cancelled' || reason === 'unpaid'),
  mailMember(subscriptionReminder, 'membership_reminder'),
  mailMember(membershipRefunded, 'membership_refunded'),
  consume(membershipRefundFailed, { from: 'now' }, async (tx, { id, time, data }, context) => {
    const about: SubjectTime = { subject: `membership:${data.attemptId}`, time }
    await enqueueMail(tx, context, { kind: 'membership_refund_failed', factId: id, about, recipient: data.email, data })
    const { attemptId: membershipId, refunded: amount, ...refund } = data
    await notifyOperator(tx, context, { ...refund, membershipId, amount }, about)
  }),
  consume(memberClassBooked, { from: 'now' }, (tx, { id, time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'member_class_booked',
      // A class that comes back was booked before.
      factId: data.again === true ? id : data.bookingId,
      about: { subject: `membership:${data.membershipId}`, time },
      calendarId: randomUUID(),
      recipient: data.email,
      data,
    }),
  ),
  mailClass(memberClassMoved, 'member_class_moved'),
  mailClass(memberClassCancelled, 'member_class_cancelled'),
  mailClass(memberClassNotRestored, 'member_class_not_restored'),
  consume(waitlistJoined, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'waitlist_joined',
      factId: data.entryId,
      about: { subject: `waitlist:${data.entryId}`, time },
      recipient: data.email,
      data,
    }),
  ),
  consume(waitlistOffered, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'waitlist_offered',
      factId: data.entryId,
      about: { subject: `waitlist:${data.entryId}`, time },
      expiresAt: Temporal.Instant.from(data.offerEndsAt),
      recipient: data.email,
      data,
    }),
  ),
  // Also the ends that are not told, since they make pending mails untrue.
  consume(waitlistEnded, { from: 'now' }, (tx, { time, data }, context) =>
    enqueueMail(tx, context, {
      kind: 'waitlist_ended',
      factId: data.entryId,
      about: { subject: `waitlist:${data.entryId}`, time },
      recipient: data.email,
      data,
    }),
  ),
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
