import { formatClassDate } from '@robokids/contracts/class-date'
import { periodOf, renewalTerms } from '@robokids/contracts/membership'
import { formatMoney } from '@robokids/contracts/pricing'
import { isWhole } from '../rules.ts'
import type { MembershipKind, MailData } from '../schema.ts'
import { failedRefund } from './failed-refund.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { questions, schoolDay, timesOf, type When } from './phrases.ts'
import { pictures } from './pictures.ts'
import type { RichText } from './rich-text.ts'

type Plan = MailData['membership_confirmed']['plan']
type Money = Parameters<typeof formatMoney>[0]

const dollars = (amount: number) => formatMoney({ amount, currency: 'usd' })
/** `$7.00 a month` */
const priceOf = ({ plan, ...money }: Money & { plan: Plan }) => `${formatMoney(money)} a ${periodOf(plan)}`
const hello = ['Hello,']

/** What composing a mail needs besides its data. */
export interface MailOptions {
  siteUrl: string
  /** False if the member's account is deleted, so that the profile page cannot be opened. */
  hasProfile: boolean
  /** False if the membership is known to be cancelled or ended. */
  isActive: boolean
  /** It ends before its first members' session, so the mail cancels the calendar entry. */
  missesSession: boolean
}

/** Returns the time of a new member's session. */
export function sessionOf({
  classDate: startDate,
  startTime,
  durationMinutes,
  timeZone,
  familyTimeZone,
}: MailData['membership_confirmed']): When & { durationMinutes: number } {
  return { startDate, startTime, durationMinutes, timeZone, familyTimeZone }
}

/** Returns a step on the profile page; none if the member has no profile (see `replyInstead`). */
function stepOnProfile(options: MailOptions, text: string, label: string): Pick<MailContent, 'step'> {
  return options.hasProfile ? { step: { text: [text], label, url: `${options.siteUrl}/profile` } } : {}
}

const profileStep = (options: MailOptions) =>
  stepOnProfile(options, 'All your payments and receipts are on your profile page.', 'Go to your profile')

const cancelStep = (options: MailOptions) =>
  stepOnProfile(
    options,
    'You can cancel online at any time: on your profile page, press “Cancel membership”, then “Yes, cancel it”. You keep what is paid.',
    'Go to your profile',
  )

function replyInstead({ hasProfile }: MailOptions, whatTo: string): RichText[] {
  return hasProfile ? [] : [[`Your account is deleted. To ${whatTo}, reply to this email.`]]
}

const changeOrCancel = 'change or cancel your membership'

const noSeatReasons = {
  class_full: 'by the time it arrived, the session was full',
  class_started: 'by the time it arrived, the session had already begun',
  class_not_offered: 'by the time it arrived, the session was not offered any more',
  unknown: 'by the time it arrived, there was no seat left',
}

/** Returns why a payment was refunded although nobody requested it. */
const notKeptReason = (
  paid: string,
  { rejection, classDate }: Pick<MailData['membership_refund_failed'], 'rejection' | 'classDate'>,
) => ({
  seat_gone: [
    `Thank you for your payment of ${paid}. We are sorry: ${noSeatReasons[rejection ?? 'unknown']} on ${formatClassDate(classDate)}. So your membership does not begin, and nothing more is charged.`,
  ],
  duplicate: ['You have a membership already, and paid for a second one. You owe only one, so the other one ended.'],
  amount_mismatch: [
    'The payment that reached us was not for the price of the membership, so we did not keep it. Nothing more is charged.',
  ],
})

const otherDatesStep = (siteUrl: string): Pick<MailContent, 'step'> => ({
  step: {
    text: ['Another date may suit you: here are those with free seats.'],
    label: 'Choose another date',
    url: `${siteUrl}/membership/register`,
  },
})

const bankDelay = ['Banks usually take 5 to 10 business days to show a refund.']

const contents: { [Kind in MembershipKind]: (data: MailData[Kind], options: MailOptions) => MailContent } = {
  membership_confirmed(data, options) {
    const { siteUrl, hasProfile, isActive } = options
    const { attemptId, plan, classDate, durationMinutes, renewsAt, receiptNumber } = data
    return {
      subject: ['You are a member of Robo Kids Learning'],
      heading: 'You are a member',
      opening: [hello, ['Thank you. Your membership has begun, and your seat in the members’ session is yours.']],
      facts: [
        {
          label: 'Members’ session',
          lines: [
            [formatClassDate(classDate)],
            ...timesOf(sessionOf(data)).map((line) => [line]),
            [`${durationMinutes} minutes, live on a video call`],
          ],
        },
        { label: 'Membership', lines: [[priceOf(data)]] },
        ...(receiptNumber === null ? [] : [{ label: 'Receipt', lines: [[receiptNumber], [formatMoney(data)]] }]),
        ...(renewsAt === null || !hasProfile || !isActive
          ? []
          : [{ label: 'Next payment', lines: [[`${formatMoney(data)} on ${schoolDay(renewsAt)}`]] }]),
      ],
      step: {
        text: ['One thing is left: please read and sign the waiver for your child, as the parent or guardian.'],
        label: 'Read and sign the waiver',
        url: `${siteUrl}/waiver?membership=${attemptId}`,
      },
      ...(hasProfile && isActive ? { aside: cancelStep(options).step } : {}),
      closing: [
        ['The session is attached as a calendar entry. We email you the link before it starts.'],
        ...(!hasProfile
          ? [['Your account is deleted, so this membership is not renewed.']]
          : isActive
            ? [['What you agreed to:'], [renewalTerms(plan, data)]]
            : [['You have cancelled this membership, so it is not renewed.']]),
        questions,
      ],
    }
  },
  membership_renewed(data, options) {
    const { plan, paidAmount, receiptNumber, paidAt, periodEnd, reason } = data
    const subject = [`Receipt ${receiptNumber}: ${dollars(paidAmount)} for your membership`]
    const facts = [
      { label: 'Receipt', lines: [[receiptNumber]] },
      { label: 'Paid', lines: [[dollars(paidAmount)], [schoolDay(paidAt)]] },
    ]
    if (!options.isActive) {
      return {
        subject,
        heading: `You paid ${dollars(paidAmount)}`,
        opening: [hello, ['This is the receipt for a payment that we took before your membership was cancelled.']],
        facts,
        closing: [questions],
      }
    }
    return {
      subject,
      heading: reason === 'switch' ? `You paid ${dollars(paidAmount)}` : 'Your membership is renewed',
      opening: [
        hello,
        [
          reason === 'switch'
            ? `You pay by the ${periodOf(plan)} now. Time that was paid and not used was taken off.`
            : `We have charged ${dollars(paidAmount)} to your card for the next ${periodOf(plan)}. Thank you for staying with us.`,
        ],
      ],
      facts: [...facts, { label: 'Paid until', lines: [[schoolDay(periodEnd)]] }],
      ...profileStep(options),
      closing: [
        ...(options.hasProfile
          ? [['You can cancel or change your membership at any time on your profile page.']]
          : replyInstead(options, changeOrCancel)),
        questions,
      ],
    }
  },
  membership_past_due(data, options) {
    const { amountDue, attempt, nextTryAt, confirmUrl } = data
    const again = nextTryAt === null ? undefined : schoolDay(nextTryAt)
    if (typeof confirmUrl === 'string') {
      return {
        subject: [`Please confirm your payment of ${dollars(amountDue)}`],
        heading: 'Your bank asks you to confirm this payment',
        opening: [
          hello,
          [
            `We tried to renew your membership, and your bank asks you to confirm the payment of ${dollars(amountDue)}.`,
          ],
          [
            again === undefined
              ? 'Until you have confirmed it, it stays unpaid.'
              : `Until you have confirmed it, it stays unpaid. Without that, we try again on ${again}.`,
          ],
        ],
        facts: [{ label: 'Open', lines: [[dollars(amountDue)]] }],
        step: {
          text: ['Your bank’s page opens from here; it takes a minute.'],
          label: 'Confirm the payment',
          url: confirmUrl,
        },
        closing: [
          ...(options.hasProfile
            ? [['If you do not want to continue, you can cancel on your profile page.']]
            : replyInstead(options, changeOrCancel)),
          questions,
        ],
      }
    }
    return {
      subject: [`Your payment of ${dollars(amountDue)} did not go through`],
      heading: 'Your payment did not go through',
      opening: [
        hello,
        [
          attempt === 1
            ? `We tried to renew your membership, and your bank declined the payment of ${dollars(amountDue)}.`
            : `We tried once more to renew your membership, and your bank declined the payment of ${dollars(amountDue)} again.`,
        ],
        [
          again === undefined
            ? 'We do not try again by ourselves.'
            : `We try again on ${again}. Until then your membership runs on.`,
        ],
      ],
      facts: [
        { label: 'Open', lines: [[dollars(amountDue)]] },
        {
          label: again === undefined ? 'Next' : 'Next try',
          lines: [[again ?? (options.hasProfile ? 'Update your card' : 'Reply to this email')]],
        },
      ],
      ...stepOnProfile(
        options,
        'Perhaps the card has expired or was replaced. On your profile page, press “Update card”.',
        'Update your card',
      ),
      closing: [
        ...(options.hasProfile
          ? [['If you do not want to continue, you can cancel on the same page.']]
          : replyInstead(options, 'update your card or cancel your membership')),
        questions,
      ],
    }
  },
  membership_switched(data, options) {
    const { plan, previousPlan, from } = data
    const word = { monthly: 'by the month', yearly: 'by the year' }
    return {
      subject: [`Your membership: ${priceOf(data)}`],
      heading: `You pay ${word[plan]}`,
      opening: [
        hello,
        [
          `Your membership changes from ${previousPlan} to ${plan} on ${schoolDay(from)}. Everything you have paid is credited.`,
        ],
      ],
      facts: [
        { label: 'Membership', lines: [[priceOf(data)]] },
        { label: 'From', lines: [[schoolDay(from)]] },
      ],
      ...cancelStep(options),
      closing: [
        ['If it was not you who changed this, reply to this email at once.'],
        ...replyInstead(options, changeOrCancel),
        questions,
      ],
    }
  },
  membership_cancelled({ endsAt }, options) {
    return {
      subject: [`Your membership ends on ${schoolDay(endsAt)}`],
      heading: 'Your membership is cancelled',
      opening: [
        hello,
        [`Your membership ends on ${schoolDay(endsAt)}. Until then you keep it. Nothing more is charged.`],
      ],
      facts: [{ label: 'Ends on', lines: [[schoolDay(endsAt)]] }],
      ...stepOnProfile(options, 'You can change your mind until then:', 'Keep my membership'),
      closing: [questions],
    }
  },
  membership_resumed(data, options) {
    return {
      subject: ['Your membership goes on'],
      heading: 'Your membership goes on',
      opening: [hello, ['Good to have you back. Your membership does not end and is renewed as before.']],
      facts: [{ label: 'Next payment', lines: [[`${formatMoney(data)} on ${schoolDay(data.renewsAt)}`]] }],
      ...cancelStep(options),
      closing: [...replyInstead(options, changeOrCancel), questions],
    }
  },
  membership_asked_again(_data, options) {
    return {
      subject: ['You are a member already'],
      heading: 'You are a member already',
      opening: [
        hello,
        [
          'Somebody has just started to become a member with your email address, from a browser that we do not recognize. Your membership is running, and nothing about it was changed.',
        ],
      ],
      facts: [],
      ...stepOnProfile(
        options,
        'Your membership, its card and its payments are on your profile page. Log in, or sign up with this address:',
        'Go to your profile',
      ),
      closing: [
        [
          'If it was you, nothing is left to do. Should you pay once more all the same, that second payment goes back to your card by itself.',
        ],
        ['If it was not you: nothing of yours was shown to anybody, and you need not do anything.'],
        ...replyInstead(options, changeOrCancel),
        questions,
      ],
    }
  },
  membership_ended({ reason, endedAt }, { siteUrl, missesSession }) {
    return {
      subject: ['Your membership has ended'],
      heading: 'Your membership has ended',
      opening: [
        hello,
        [
          reason === 'unpaid'
            ? `The payment did not go through, so your membership ended on ${schoolDay(endedAt)}. Nothing more is charged.`
            : `Your membership ended on ${schoolDay(endedAt)}. Nothing more is charged. Thank you for being with us.`,
        ],
        ...(missesSession
          ? [['Your seat in the members’ session is free again; the attached entry takes it out of your calendar.']]
          : []),
      ],
      facts: [],
      step: {
        text: ['You are welcome back at any time:'],
        label: 'See the membership',
        url: `${siteUrl}/membership`,
      },
      closing: [questions],
    }
  },
  membership_reminder(data, options) {
    // The mail announces what will be charged, which differs if another plan starts then.
    const next = { plan: data.plan, amount: data.amount, ...data.next, currency: data.currency }
    return {
      subject: [`Your membership renews on ${schoolDay(data.renewsAt)}`],
      heading: 'A reminder: your membership renews by itself',
      opening: [
        hello,
        [
          `Once a year we remind you: on ${schoolDay(data.renewsAt)} we charge ${formatMoney(next)} to your card, and then every ${periodOf(next.plan)}, until you cancel.`,
        ],
      ],
      facts: [
        { label: 'Membership', lines: [[priceOf(data)]] },
        ...(data.next === undefined ? [] : [{ label: 'From then on', lines: [[priceOf(next)]] }]),
        { label: 'Next payment', lines: [[`${formatMoney(next)} on ${schoolDay(data.renewsAt)}`]] },
      ],
      ...cancelStep(options),
      closing: [...replyInstead(options, changeOrCancel), questions],
    }
  },
  membership_refunded(data, options) {
    const { siteUrl } = options
    const { refunded, paidAmount, reason, again } = data
    const money = dollars(refunded)
    const back = [`We have refunded ${money} to the card you paid with.`]
    const facts = [{ label: 'Refunded', lines: [[money]] }]
    if (again === true) {
      return {
        subject: [`We sent your refund again: ${money}`],
        heading: `We sent your refund of ${money} again`,
        opening: [
          hello,
          ['Your bank did not keep the refund that we told you of. We have sent it to your card once more.'],
        ],
        facts,
        ...profileStep(options),
        closing: [bankDelay, questions],
      }
    }
    const explanations = {
      ...notKeptReason(dollars(paidAmount), data),
      requested: [
        isWhole(data)
          ? 'All of this payment went back. Your membership itself stays as it is.'
          : `That is a part of the ${dollars(paidAmount)} that you paid. Your membership itself stays as it is.`,
      ],
    }
    return {
      subject: [`Refund of ${money} for your membership`],
      heading: `We refunded ${money}`,
      opening: [hello, explanations[reason], back],
      facts,
      ...(reason === 'seat_gone' ? otherDatesStep(siteUrl) : profileStep(options)),
      closing: [bankDelay, questions],
    }
  },
  membership_refund_failed(data, options) {
    const { refunded, reason, untold } = data
    const money = dollars(refunded)
    const isFirstMail = untold === true && reason !== 'requested'
    const { subject, heading, paragraphs, closing } = failedRefund(
      { ...data, amount: refunded, currency: 'usd' },
      isFirstMail ? notKeptReason(money, data)[reason] : undefined,
    )
    return {
      subject: [subject],
      heading,
      opening: [hello, ...paragraphs],
      facts: [{ label: 'Not refunded yet', lines: [[money]] }],
      ...(isFirstMail && reason === 'seat_gone' ? otherDatesStep(options.siteUrl) : profileStep(options)),
      closing,
    }
  },
  payment_disputed(data) {
    const { disputeId, reason, status, answerBy, registrationId, membershipId, orderId, email } = data
    const about =
      (registrationId && `Registration ${registrationId}`) ||
      (orderId && `Order ${orderId}`) ||
      (membershipId && `Membership ${membershipId}`) ||
      'unknown'
    return {
      subject: [`Dispute ${status.replaceAll('_', ' ')}: ${formatMoney(data)}`],
      heading: `A dispute of ${formatMoney(data)}: ${status.replaceAll('_', ' ')}`,
      opening: [
        [
          answerBy === null
            ? 'The bank needs no response from us (any more).'
            : `The bank expects our response by ${schoolDay(answerBy)}. Without one, the money is lost.`,
        ],
      ],
      facts: [
        { label: 'Dispute', lines: [[disputeId]] },
        { label: 'Reason', lines: [[reason.replaceAll('_', ' ')]] },
        { label: 'About', lines: [[about]] },
        { label: 'Buyer', lines: [[{ userInput: email ?? 'unknown' }]] },
      ],
      closing: [['Answer it in the payment provider’s dashboard.']],
    }
  },
}

/** Composes a mail about a membership, or about a dispute to the operator. */
export function membershipMail<Kind extends MembershipKind>(
  kind: Kind,
  data: MailData[Kind],
  options: MailOptions,
): RenderedMail {
  const content = contents[kind](data, options)
  return renderMail(kind === 'payment_disputed' ? content : { ...content, picture: pictures.members })
}
