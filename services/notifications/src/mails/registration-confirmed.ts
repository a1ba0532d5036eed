import { formatClassTime } from '@robokids/contracts/class-date'
import { formatMoney } from '@robokids/contracts/pricing'
import { startOf } from '../calendar.ts'
import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { pictureOfClass } from './pictures.ts'
import {
  addressFact,
  childrenFact,
  shortChildren,
  classFact,
  dateOf,
  datesFact,
  questions,
  registrationStep,
  whenFact,
} from './phrases.ts'
import { richText } from './rich-text.ts'

/**
 * Says that the class is about to begin, and where its link is, to a family that paid too late for the reminder of one hour before;
 * undefined for all others.
 */
export function beginning(
  { startTime, startDate, timeZone, durationMinutes, meetings = [] }: MailData['registration_confirmed'],
  now: Temporal.Instant,
): string | undefined {
  // The school may have moved the first meeting meanwhile.
  const first = meetings[0] ?? { date: startDate, startTime, durationMinutes }
  const starts = startOf({ ...first, startDate: first.date, timeZone }).toInstant()
  const isNear = Temporal.Instant.compare(starts.subtract({ hours: 1 }), now) <= 0
  const isOver = Temporal.Instant.compare(starts.add({ minutes: first.durationMinutes }), now) <= 0
  if (!isNear || isOver) return undefined
  const verb = Temporal.Instant.compare(starts, now) > 0 ? 'begins' : 'began'
  return `The class ${verb} today at ${formatClassTime(first.startTime)} Pacific.`
}

/**
 * Composes the confirmation: the booking, and the waiver as the next step unless it is signed already.
 * @param now when it is sent.
 */
export function registrationConfirmedMail(
  data: MailData['registration_confirmed'],
  siteUrl: string,
  isSigned: boolean,
  now: Temporal.Instant,
): RenderedMail {
  const today = beginning(data, now)
  const onPage = 'The class link is on the page of your registration'
  const paid = formatMoney(data.payment)
  const seats = data.children.length === 1 ? 'the seat is' : 'the seats are'
  return renderMail({
    subject: [`You're registered: `, ...shortChildren(data), `, ${data.levelTitle}, ${dateOf(data)}`],
    heading: "You're registered",
    picture: pictureOfClass(data),
    opening: [
      richText`Hello ${data.guardianName},`,
      [`We received your payment of ${paid}, and ${seats} yours.`],
      ...(today === undefined ? [] : [[isSigned ? `${today} ${onPage}.` : today]]),
    ],
    facts: [
      classFact(data),
      whenFact(data),
      ...datesFact(data.meetings ?? []),
      childrenFact(data),
      { label: 'Paid', lines: [[paid], [`Receipt ${data.payment.receiptNumber}`]] },
      addressFact(data),
    ],
    ...(isSigned
      ? { step: registrationStep(data.registrationId, siteUrl) }
      : {
          step: {
            text: [
              today === undefined
                ? 'Next step: please read and sign the waiver. We’ll ship the kit and send the class link once it’s signed.'
                : `Next step: please read and sign the waiver. ${onPage} as soon as it’s signed, and we’ll ship the kit.`,
            ],
            label: 'Read and sign the waiver',
            url: `${siteUrl}/robokids/waiver?reference=${data.registrationId}`,
          },
        }),
    closing: [
      [
        (data.meetings ?? []).length > 1
          ? 'All dates are attached as calendar events.'
          : 'The class is attached as a calendar event.',
      ],
      questions,
    ],
  })
}
