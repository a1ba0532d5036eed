import type { MailKind } from '@robokids/contracts/notifications'
import { endsRegistration, isWhole } from './rules.ts'
import type { MailData } from './schema.ts'

/** The fields of a mail that describe its event. */
export interface MailFact {
  kind: MailKind
  recipient: string
  happenedAt: Temporal.Instant
  /** Null after the retention. */
  data: MailData[MailKind] | null
}

/** Returns whether the later mail makes the earlier one outdated or redundant. */
type Rule<Later extends MailKind, Earlier extends MailKind> = (
  earlier: Omit<MailFact, 'data'> & { data: MailData[Earlier] },
  later: Omit<MailFact, 'data'> & { data: MailData[Later] },
) => boolean

const always = () => true

type OfPayment = { data: { paymentId: string } }
const isSamePayment = (earlier: OfPayment, later: OfPayment) => earlier.data.paymentId === later.data.paymentId

/** The later mail announces that a failed refund was replaced, and nothing is owed any more. */
const isReplaced = (
  earlier: OfPayment,
  later: { data: MailData['payment_refunded' | 'order_refunded' | 'membership_refunded'] },
) => isSamePayment(earlier, later) && later.data.again === true && isWhole(later.data)

/** Nothing is owed any more, and the later mail says so to the payer of the failed refund. */
const isResolved = (
  earlier: { data: MailData['refund_failed' | 'order_refund_failed' | 'membership_refund_failed'] },
  later: { data: MailData['payment_refunded' | 'order_refunded' | 'membership_refunded'] },
) => isReplaced(earlier, later) || (earlier.data.untold === true && isFullyRefunded(earlier, later))

const isFullyRefunded = (
  earlier: OfPayment,
  later: { data: MailData['payment_refunded' | 'order_refunded' | 'membership_refunded'] },
) => isSamePayment(earlier, later) && isWhole(later.data)

/** The mail is about a class in which no child sits any more. */
const isLeft = (
  { data }: { data: MailData['class_reminder'] },
  { data: { classes } }: { data: MailData['places_cancelled' | 'places_moved'] },
) => classes.some((one) => one.classSessionId === data.classSessionId && one.children.length === 0)

/** Another one may be about the class that the family chose then. */
const isOfClass = (
  { data }: { data: MailData['class_reminder' | 'registration_rescheduled'] },
  { data: { classSessionId } }: { data: MailData['class_cancelled'] },
) => data.classSessionId === classSessionId

type OfClass = { data: { bookingId: string } }
const isSameClass = (earlier: OfClass, later: OfClass) => earlier.data.bookingId === later.data.bookingId

const isSameRecipient: Rule<MailKind, MailKind> = (earlier, later) =>
  earlier.recipient.toLowerCase() === later.recipient.toLowerCase()

interface Entry<Later extends MailKind> {
  reason: string
  /** The mails about earlier events that it supersedes. */
  earlier?: { [Earlier in MailKind]?: Rule<Later, Earlier> }
  /**
   * The mails that it supersedes regardless of the time of their event, because it is final. Services can publish events out of
   * order: `waiver.signed` is published when the PDF exists, which can be after the refund.
   */
  any?: { [Other in MailKind]?: Rule<Later, Other> }
}

/** Which mails supersede which others about the same subject, and the recorded reason. */
const table: { [Later in MailKind]?: Entry<Later> } = {
  payment_refunded: {
    reason: 'The registration was canceled, or the failed refund was replaced, before this could be sent.',
    any: {
      registration_confirmed: ({ data }, refund) =>
        isWhole(refund.data) && data.payment.paymentId === refund.data.paymentId,
      waiver_signed: (_, refund) => endsRegistration(refund.data),
      class_reminder: (_, refund) => endsRegistration(refund.data),
      registration_rescheduled: (_, refund) => endsRegistration(refund.data),
      registration_asked_again: (_, refund) => endsRegistration(refund.data),
    },
    earlier: { refund_failed: isResolved, refund_owed: isFullyRefunded },
  },
  waiver_signed: {
    reason: 'The waiver was signed again before this could be sent.',
    any: { waiver_signed: ({ data }, { data: later }) => later.replaces === data.waiverId },
    earlier: { registration_asked_again: ({ data }) => data.askedFor === 'waiver' && !data.isSigned },
  },
  registration_rescheduled: {
    reason: 'The class was moved before this could be sent.',
    earlier: {
      // A skipped date moves this meeting and all later ones.
      class_reminder: ({ data }, { data: { change } }) =>
        change.kind === 'skipped' ? data.meeting.number >= change.number : data.meeting.number === change.number,
      registration_rescheduled: ({ data }, later) => data.change.number === later.data.change.number,
    },
  },
  class_cancelled: {
    reason: 'The school canceled the class before this could be sent.',
    any: {
      class_reminder: isOfClass,
      registration_rescheduled: isOfClass,
    },
  },
  places_cancelled: {
    reason: 'The class was canceled before this could be sent.',
    earlier: { class_reminder: isLeft },
  },
  places_moved: {
    reason: 'The children were moved before this could be sent.',
    earlier: { class_reminder: isLeft },
  },
  order_refunded: {
    reason: 'The payment was refunded before this could be sent.',
    any: { order_paid: isFullyRefunded },
    earlier: { order_refund_failed: isResolved, refund_owed: isFullyRefunded },
  },
  membership_refunded: {
    reason: 'The payment was refunded before this could be sent.',
    // The membership never started.
    any: { membership_confirmed: (_, { data }) => data.reason !== 'requested' && isWhole(data) },
    earlier: { membership_refund_failed: isResolved, refund_owed: isFullyRefunded },
  },
  membership_renewed: {
    reason: 'The membership was paid before this could be sent.',
    earlier: { membership_past_due: always, membership_reminder: always },
  },
  membership_past_due: {
    reason: 'The payment failed again before this could be sent.',
    earlier: { membership_past_due: always },
  },
  membership_switched: {
    reason: 'Another plan was chosen before this could be sent.',
    earlier: { membership_switched: always, membership_reminder: always },
  },
  membership_cancelled: {
    reason: 'The membership was canceled before this could be sent.',
    earlier: {
      membership_cancelled: always,
      membership_resumed: always,
      membership_past_due: always,
      membership_reminder: always,
      // A switch planned for later no longer happens. One that took effect immediately was paid.
      membership_switched: ({ data }, { happenedAt }) =>
        Temporal.Instant.compare(Temporal.Instant.from(data.from), happenedAt) > 0,
    },
  },
  membership_resumed: {
    reason: 'The membership was resumed before this could be sent.',
    earlier: { membership_cancelled: always, membership_resumed: always },
  },
  membership_ended: {
    reason: 'The membership ended before this could be sent.',
    any: {
      // Another service may publish the confirmation of its seat after its end.
      membership_confirmed: always,
      membership_asked_again: always,
      membership_cancelled: always,
      membership_resumed: always,
      membership_past_due: always,
      membership_reminder: always,
      membership_switched: always,
    },
  },
  member_class_booked: {
    reason: 'The class was booked again before this could be sent.',
    earlier: { member_class_cancelled: isSameClass, member_class_booked: isSameClass },
  },
  member_class_moved: {
    reason: 'The class was moved before this could be sent.',
    earlier: {
      member_class_booked: isSameClass,
      member_class_moved: isSameClass,
      class_reminder: ({ data }, { data: { from } }) => data.classSessionId === from.classSessionId,
    },
  },
  member_class_cancelled: {
    reason: 'The class was canceled before this could be sent.',
    earlier: {
      member_class_booked: isSameClass,
      member_class_moved: isSameClass,
      class_reminder: ({ data }, later) => data.classSessionId === later.data.classSessionId,
    },
  },
  waitlist_offered: {
    reason: 'There was an offer before this could be sent.',
    any: { waitlist_joined: always },
  },
  waitlist_ended: {
    reason: 'The place in line or the offer ended before this could be sent.',
    any: { waitlist_joined: always, waitlist_offered: always },
  },
  user_deleted: {
    reason: 'The account was deleted before this could be sent.',
    // The advice in these mails needs the account. A previous address is still told.
    earlier: { user_updated: isSameRecipient, sign_in_locked: isSameRecipient },
  },
}

type UntypedRules = { [Kind in MailKind]?: (mail: MailFact, fact: MailFact) => boolean }

/**
 * The table without its data types, because there are too many pairs of kinds for a union of their rules. `enqueueMail`
 * guarantees that a row has the data of its kind.
 */
const untypedTable = table as { [Later in MailKind]?: { reason: string; earlier?: UntypedRules; any?: UntypedRules } }

/** The kinds that supersede others. */
export const superseding = Object.keys(table) as MailKind[]

/** The kinds that are superseded by others. */
export const supersedable = [
  ...new Set(Object.values(table).flatMap(({ earlier, any }) => Object.keys({ ...earlier, ...any }) as MailKind[])),
]

/**
 * Returns why a mail is superseded by the known events of its subject, whether mails about those were sent or not; undefined
 * if it is not.
 */
export function supersededReason(mail: MailFact, facts: MailFact[]): string | undefined {
  for (const fact of facts) {
    if (mail.data === null || fact.data === null) continue
    const entry = untypedTable[fact.kind]
    const isLater = Temporal.Instant.compare(fact.happenedAt, mail.happenedAt) > 0
    const rules = [entry?.any?.[mail.kind], isLater ? entry?.earlier?.[mail.kind] : undefined]
    if (entry && rules.some((rule) => rule?.(mail, fact))) return entry.reason
  }
  return undefined
}
