import { formatClassDate } from '@robokids/contracts/class-date'
import { memberClassDays } from '@robokids/contracts/member-classes'
import type { MailData } from '../schema.ts'
import { instantLines, questions, whenFact } from './phrases.ts'
import { pictures } from './pictures.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import type { RichText } from './rich-text.ts'

export type MemberClassKind = Extract<keyof MailData, `member_class_${string}`>
type Facts = MailData[MemberClassKind]

/** What composing a mail needs besides its data. */
export interface MemberClassOptions {
  siteUrl: string
  /** False if the member's account is deleted, so that the dashboard cannot be opened. */
  hasDashboard: boolean
}

const hello: RichText = ['Hello,']

export function whenOf({ classDate: startDate, ...time }: Facts) {
  return { ...time, startDate }
}

/** Until when it can be moved: the same time of day, a day earlier. */
function changeUntil({ startsAt, timeZone, familyTimeZone }: Facts): RichText[] {
  const until = Temporal.Instant.from(startsAt).toZonedDateTimeISO(timeZone).subtract({ days: memberClassDays })
  return instantLines(until.toInstant().toString(), { timeZone, familyTimeZone })
}

const classFacts = (data: Facts): MailContent['facts'] => [
  { label: 'Class', lines: [['Members’ class']] },
  whenFact(whenOf(data)),
]

/** The waiver comes first. */
function step(data: Facts, { siteUrl, hasDashboard }: MemberClassOptions): Pick<MailContent, 'step'> {
  if (!data.isSigned) {
    return {
      step: {
        text: ['One thing left: as the parent or guardian, please read and sign the waiver for your child.'],
        label: 'Read and sign the waiver',
        url: `${siteUrl}/waiver?membership=${data.membershipId}`,
      },
    }
  }
  if (!hasDashboard) return {}
  return {
    step: {
      text: ['All your classes, and the link before each one starts:'],
      label: 'See your classes',
      url: `${siteUrl}/dashboard`,
    },
  }
}

function bookStep({ siteUrl, hasDashboard }: MemberClassOptions): Pick<MailContent, 'step'> {
  if (!hasDashboard) return {}
  return { step: { text: ['Choose a date for it:'], label: 'Book a class', url: `${siteUrl}/dashboard/book` } }
}

const calendar: RichText = ['The attached event updates your calendar.']

const whyGivenUp = {
  refunded: 'The payment for this month was refunded, so its class is canceled.',
  disputed:
    'Your bank told us that the payment for this month is disputed, so its class is canceled. If the dispute ends in our favor, it comes back.',
}

const contents: { [Kind in MemberClassKind]: (data: MailData[Kind], options: MemberClassOptions) => MailContent } = {
  member_class_booked(data, options) {
    return {
      subject: [`Booked: members’ class on ${formatClassDate(data.classDate)}`],
      heading: 'Your class is booked',
      picture: pictures.members,
      opening: [
        hello,
        data.again === true
          ? ['The dispute about your payment is over, so your class is booked again.']
          : ['You have a seat in the members’ class.'],
      ],
      facts: [...classFacts(data), { label: 'Free to move until', lines: changeUntil(data) }],
      ...step(data, options),
      closing: [['The class is attached as a calendar event. We’ll email you the link before it starts.'], questions],
    }
  },
  member_class_moved(data, options) {
    return {
      subject: [`Moved: members’ class on ${formatClassDate(data.classDate)}`],
      heading: 'Your new date',
      picture: pictures.members,
      opening: [
        hello,
        [`Your class moved from ${formatClassDate(data.from.classDate)} to ${formatClassDate(data.classDate)}.`],
      ],
      facts: [...classFacts(data), { label: 'Free to move until', lines: changeUntil(data) }],
      ...step(data, options),
      closing: [calendar, questions],
    }
  },
  member_class_cancelled(data, options) {
    const { reason, keepsCredit } = data
    const why =
      reason === 'requested'
        ? 'You canceled this class. The seat is open for another family.'
        : reason === 'school'
          ? 'We had to cancel this class, and we are sorry.'
          : whyGivenUp[reason]
    return {
      subject: [`Canceled: members’ class on ${formatClassDate(data.classDate)}`],
      heading: 'Your class is canceled',
      picture: pictures.members,
      opening: [hello, [why], ...(keepsCredit ? [['You can book another class instead, without paying again.']] : [])],
      facts: classFacts(data),
      ...(keepsCredit ? bookStep(options) : {}),
      closing: [['The attached event removes the class from your calendar.'], questions],
    }
  },
  member_class_not_restored(data, options) {
    const { classDate, keepsCredit } = data
    return {
      subject: ['The dispute is over: your members’ class'],
      heading: 'Your seat was taken meanwhile',
      picture: pictures.members,
      opening: [
        hello,
        [`The dispute about your payment is over, but there is no open seat on ${formatClassDate(classDate)} anymore.`],
        keepsCredit
          ? ['You can book another class instead, without paying again.']
          : ['Please reply to this email, and we’ll find a class for you.'],
      ],
      facts: [],
      ...(keepsCredit ? bookStep(options) : {}),
      closing: [questions],
    }
  },
}

export function memberClassMail<Kind extends MemberClassKind>(
  kind: Kind,
  data: MailData[Kind],
  options: MemberClassOptions,
): RenderedMail {
  return renderMail(contents[kind](data, options))
}
