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
    'You can cancel online at any time: on your profile page, select “Cancel membership,” then “Yes, cancel it.” You keep the time you’ve paid for.',
    'Go to your profile',
  )

function replyInstead({ hasProfile }: MailOptions, whatTo: string): RichText[] {
  return hasProfile ? [] : [[`Your account has been deleted. To ${whatTo}, reply to this email.`]]
}

const changeOrCancel = 'change or cancel your membership'

const noSeatReasons = {
  class_full: 'was full',
  class_started: 'had already started',
  class_not_offered: 'was no longer offered',
  unknown: 'had no seats left',
}

/** Returns why a payment was refunded although nobody requested it. */
const notKeptReason = (
  paid: string,
  { rejection, classDate }: Pick<MailData['membership_refund_failed'], 'rejection' | 'classDate'>,
) => ({
  seat_gone: [
    `Thank you for your payment of ${paid}. We’re sorry: by the time it arrived, the session on ${formatClassDate(classDate)} ${noSeatReasons[rejection ?? 'unknown']}, so your membership couldn’t start. You won’t be charged again.`,
  ],
  duplicate: ['You already had a membership when you paid for another one, so we ended the second one.'],
  amount_mismatch: [
    'The payment we received didn’t match the price of the membership, so we couldn’t accept it. You won’t be charged again.',
  ],
})

const otherDatesStep = (siteUrl: string): Pick<MailContent, 'step'> => ({
  step: {
    text: ['Another date may work for you. See which ones still have open seats:'],
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
      subject: ['You’re now a member of Robo Kids Learning'],
      heading: 'You’re now a member',
      opening: [hello, ['Thank you. Your membership has started, and you have a seat in the members’ session.']],
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
        text: ['One thing left: as the parent or guardian, please read and sign the waiver for your child.'],
        label: 'Read and sign the waiver',
        url: `${siteUrl}/waiver?membership=${attemptId}`,
      },
      ...(hasProfile && isActive ? { aside: cancelStep(options).step } : {}),
      closing: [
        ['The session is attached as a calendar event. We’ll email you the link before it starts.'],
        ...(!hasProfile
          ? [['Your account has been deleted, so this membership won’t renew.']]
          : isActive
            ? [['What you agreed to:'], [renewalTerms(plan, data)]]
            : [['You canceled this membership, so it won’t renew.']]),
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
        opening: [hello, ['This is the receipt for a payment made before your membership was canceled.']],
        facts,
        closing: [questions],
      }
    }
    return {
      subject,
      heading: reason === 'switch' ? `You paid ${dollars(paidAmount)}` : 'Your membership has renewed',
      opening: [
        hello,
        [
          reason === 'switch'
            ? `You now pay by the ${periodOf(plan)}. We credited the time you had paid for but not used.`
            : `We charged ${dollars(paidAmount)} to your card for the next ${periodOf(plan)}. Thank you for staying with us.`,
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
        heading: 'Your bank needs you to confirm this payment',
        opening: [
          hello,
          [
            `We tried to renew your membership, but your bank needs you to confirm the payment of ${dollars(amountDue)}.`,
          ],
          [
            again === undefined
              ? 'The payment isn’t complete until you confirm it.'
              : `The payment isn’t complete until you confirm it. If you don’t, we’ll try again on ${again}.`,
          ],
        ],
        facts: [{ label: 'Amount due', lines: [[dollars(amountDue)]] }],
        step: {
          text: ['You confirm on your bank’s page. It takes about a minute:'],
          label: 'Confirm the payment',
          url: confirmUrl,
        },
        closing: [
          ...(options.hasProfile
            ? [['If you don’t want to continue, you can cancel on your profile page.']]
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
            ? `We tried to renew your membership, but your bank declined the payment of ${dollars(amountDue)}.`
            : `We tried again to renew your membership, but your bank declined the payment of ${dollars(amountDue)} once more.`,
        ],
        [
          again === undefined
            ? 'We won’t try again automatically.'
            : `We’ll try again on ${again}. Your membership stays active until then.`,
        ],
      ],
      facts: [
        { label: 'Amount due', lines: [[dollars(amountDue)]] },
        {
          label: again === undefined ? 'What to do' : 'Next attempt',
          lines: [[again ?? (options.hasProfile ? 'Update your card' : 'Reply to this email')]],
        },
      ],
      ...stepOnProfile(
        options,
        'Your card may have expired or been replaced. On your profile page, select “Update card.”',
        'Update your card',
      ),
      closing: [
        ...(options.hasProfile
          ? [['If you don’t want to continue, you can cancel on the same page.']]
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
      heading: `You’ll pay ${word[plan]}`,
      opening: [
        hello,
        [
          `Your membership changes from ${previousPlan} to ${plan} on ${schoolDay(from)}. You won’t lose any time you’ve paid for.`,
        ],
      ],
      facts: [
        { label: 'Membership', lines: [[priceOf(data)]] },
        { label: 'Starting', lines: [[schoolDay(from)]] },
      ],
      ...cancelStep(options),
      closing: [
        ['If you didn’t make this change, reply to this email right away.'],
        ...replyInstead(options, changeOrCancel),
        questions,
      ],
    }
  },
  membership_cancelled({ endsAt }, options) {
    return {
      subject: [`Your membership ends on ${schoolDay(endsAt)}`],
      heading: 'Your membership is canceled',
      opening: [
        hello,
        [`Your membership ends on ${schoolDay(endsAt)}. It stays active until then, and you won’t be charged again.`],
        ['Book the classes you have left by then. What you have booked stays.'],
      ],
      facts: [{ label: 'Ends on', lines: [[schoolDay(endsAt)]] }],
      ...stepOnProfile(options, 'You can change your mind until then:', 'Keep my membership'),
      closing: [questions],
    }
  },
  membership_resumed(data, options) {
    return {
      subject: ['Your membership continues'],
      heading: 'Your membership continues',
      opening: [hello, ['Good to have you back. Your membership continues and renews as before.']],
      facts: [{ label: 'Next payment', lines: [[`${formatMoney(data)} on ${schoolDay(data.renewsAt)}`]] }],
      ...cancelStep(options),
      closing: [...replyInstead(options, changeOrCancel), questions],
    }
  },
  membership_asked_again(_data, options) {
    return {
      subject: ['You’re already a member'],
      heading: 'You’re already a member',
      opening: [
        hello,
        [
          'Someone just started to sign up for a membership with your email address, from a browser we don’t recognize. Your membership is active, and nothing about it has changed.',
        ],
      ],
      facts: [],
      ...stepOnProfile(
        options,
        'Your membership, card and payments are on your profile page. Log in, or sign up with this email address:',
        'Go to your profile',
      ),
      closing: [
        ['If it was you, you’re all set. If you do pay again, we’ll refund the second payment automatically.'],
        ['If it wasn’t you, none of your information was shown to anyone, and you don’t need to do anything.'],
        ...replyInstead(options, changeOrCancel),
        questions,
      ],
    }
  },
  membership_ended({ reason, endedAt }, { siteUrl }) {
    return {
      subject: ['Your membership has ended'],
      heading: 'Your membership has ended',
      opening: [
        hello,
        [
          reason === 'unpaid'
            ? `The payment did not go through, so your membership ended on ${schoolDay(endedAt)}. You won’t be charged again.`
            : `Your membership ended on ${schoolDay(endedAt)}. You won’t be charged again. Thank you for being with us.`,
        ],
        ['Classes you have booked stay booked.'],
      ],
      facts: [],
      step: {
        text: ['You’re welcome back anytime:'],
        label: 'See membership plans',
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
      heading: 'A reminder: your membership renews automatically',
      opening: [
        hello,
        [
          `This is your yearly reminder: on ${schoolDay(data.renewsAt)} we’ll charge ${formatMoney(next)} to your card, and then every ${periodOf(next.plan)} until you cancel.`,
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
    const back = [`We refunded ${money} to the card you paid with.`]
    const facts = [{ label: 'Refunded', lines: [[money]] }]
    if (again === true) {
      return {
        subject: [`We sent your refund again: ${money}`],
        heading: `We sent your refund of ${money} again`,
        opening: [hello, ['Your bank returned the refund we told you about, so we’ve sent it to your card again.']],
        facts,
        ...profileStep(options),
        closing: [bankDelay, questions],
      }
    }
    const explanations = {
      ...notKeptReason(dollars(paidAmount), data),
      requested: [
        isWhole(data)
          ? 'This is a full refund of your payment. Your membership stays the same.'
          : `This is a partial refund of the ${dollars(paidAmount)} you paid. Your membership stays the same.`,
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
            ? 'The bank doesn’t need a response from us.'
            : `The bank needs our response by ${schoolDay(answerBy)}. Without one, we lose the money.`,
        ],
      ],
      facts: [
        { label: 'Dispute', lines: [[disputeId]] },
        { label: 'Reason', lines: [[reason.replaceAll('_', ' ')]] },
        { label: 'About', lines: [[about]] },
        { label: 'Buyer', lines: [[{ userInput: email ?? 'unknown' }]] },
      ],
      closing: [['The dispute is in the payment provider’s dashboard.']],
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
