import type { MailKind } from '@robokids/contracts/notifications'
import { endsRegistration, isWhole } from './rules.ts'
import type { MailData } from './schema.ts'

/** A mail as far as it says what happened. */
export interface Told {
  kind: MailKind
  recipient: string
  happenedAt: Temporal.Instant
  /** Null once it is forgotten. */
  data: MailData[MailKind] | null
}

/** Whether the later mail makes the earlier one untrue, or says all that it says. */
type Rule<Later extends MailKind, Earlier extends MailKind> = (
  earlier: Omit<Told, 'data'> & { data: MailData[Earlier] },
  later: Omit<Told, 'data'> & { data: MailData[Later] },
) => boolean

const always = () => true

type OfPayment = { data: { paymentId: string } }
const isSamePayment = (earlier: OfPayment, later: OfPayment) => earlier.data.paymentId === later.data.paymentId

/** Nothing is owed any more, and the later mail says that it makes good for what failed. */
const isMadeGood = (
  earlier: OfPayment,
  later: { data: MailData['payment_refunded' | 'order_refunded' | 'membership_refunded'] },
) => isSamePayment(earlier, later) && later.data.again === true && isWhole(later.data)

/** Nothing is owed any more, and the later mail says so to somebody who was told that it is. */
const isPaidBack = (
  earlier: { data: MailData['refund_failed' | 'order_refund_failed' | 'membership_refund_failed'] },
  later: { data: MailData['payment_refunded' | 'order_refunded' | 'membership_refunded'] },
) => isMadeGood(earlier, later) || (earlier.data.untold === true && isAllBack(earlier, later))

const isAllBack = (
  earlier: OfPayment,
  later: { data: MailData['payment_refunded' | 'order_refunded' | 'membership_refunded'] },
) => isSamePayment(earlier, later) && isWhole(later.data)

const isSameReader: Rule<MailKind, MailKind> = (earlier, later) =>
  earlier.recipient.toLowerCase() === later.recipient.toLowerCase()

interface Entry<Later extends MailKind> {
  reason: string
  /** What it supersedes of what happened before. */
  earlier?: { [Earlier in MailKind]?: Rule<Later, Earlier> }
  /**
   * What it supersedes whenever that happened, since nothing comes after it. Services may publish in another order than
   * things were done: a signed waiver is told when its PDF is made, which may be after the refund.
   */
  any?: { [Other in MailKind]?: Rule<Later, Other> }
}

/** Which mails about the same subject are not sent any more by what happened, and why. */
const table: { [Later in MailKind]?: Entry<Later> } = {
  payment_refunded: {
    reason: 'The registration was cancelled, or what failed was made good, before this could be sent.',
    any: {
      registration_confirmed: ({ data }, refund) =>
        isWhole(refund.data) && data.payment.paymentId === refund.data.paymentId,
      waiver_signed: (_, refund) => endsRegistration(refund.data),
      registration_asked_again: (_, refund) => endsRegistration(refund.data),
    },
    earlier: { refund_failed: isPaidBack, refund_owed: isAllBack },
  },
  waiver_signed: {
    reason: 'The waiver was signed anew before this could be sent.',
    any: { waiver_signed: ({ data }, { data: later }) => later.replaces === data.waiverId },
    earlier: { registration_asked_again: ({ data }) => data.askedFor === 'waiver' && !data.isSigned },
  },
  order_refunded: {
    reason: 'All of the payment went back before this could be sent.',
    any: { order_paid: isAllBack },
    earlier: { order_refund_failed: isPaidBack, refund_owed: isAllBack },
  },
  membership_refunded: {
    reason: 'All of the payment went back before this could be sent.',
    // It never began.
    any: { membership_confirmed: (_, { data }) => data.reason !== 'requested' && isWhole(data) },
    earlier: { membership_refund_failed: isPaidBack, refund_owed: isAllBack },
  },
  membership_renewed: {
    reason: 'The membership was paid before this could be sent.',
    earlier: { membership_past_due: always, membership_reminder: always },
  },
  membership_past_due: {
    reason: 'The payment failed once more before this could be sent.',
    earlier: { membership_past_due: always },
  },
  membership_switched: {
    reason: 'Another plan was chosen before this could be sent.',
    earlier: { membership_switched: always, membership_reminder: always },
  },
  membership_cancelled: {
    reason: 'The membership was cancelled before this could be sent.',
    earlier: {
      membership_cancelled: always,
      membership_resumed: always,
      membership_past_due: always,
      membership_reminder: always,
      // One that was arranged for later does not come any more. One that took effect at once was paid for.
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
      // Its seat may be confirmed by another service after its end is told.
      membership_confirmed: always,
      membership_asked_again: always,
      membership_cancelled: always,
      membership_resumed: always,
      membership_past_due: always,
      membership_reminder: always,
      membership_switched: always,
    },
  },
  user_deleted: {
    reason: 'The account was deleted before this could be sent.',
    // What its owner could do about these needs the account. An address that was replaced is told all the same.
    earlier: { user_updated: isSameReader, sign_in_locked: isSameReader },
  },
}

/** The kinds that supersede others. */
export const superseding = Object.keys(table) as MailKind[]

/** The kinds that are superseded by others. */
export const supersedable = [
  ...new Set(Object.values(table).flatMap(({ earlier, any }) => Object.keys({ ...earlier, ...any }) as MailKind[])),
]

/**
 * Why a mail is not to be sent any more, by what is known to have happened to its subject, whatever became of the mails
 * about that. Undefined where nothing speaks against it.
 */
export function whySuperseded(mail: Told, facts: Told[]): string | undefined {
  for (const fact of facts) {
    if (mail.data === null || fact.data === null) continue
    const entry = table[fact.kind]
    const isLater = Temporal.Instant.compare(fact.happenedAt, mail.happenedAt) > 0
    // A row has the data of its kind: `enqueueMail` sees to that.
    const rules = [entry?.any?.[mail.kind], isLater ? entry?.earlier?.[mail.kind] : undefined] as (
      | ((mail: Told, fact: Told) => boolean)
      | undefined
    )[]
    if (entry && rules.some((rule) => rule?.(mail, fact))) return entry.reason
  }
  return undefined
}
