import { formatMoney } from '@robokids/contracts/pricing'
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

/** Composes the confirmation: the booking, and the waiver as the next step unless it is signed already. */
export function registrationConfirmedMail(
  data: MailData['registration_confirmed'],
  siteUrl: string,
  isSigned: boolean,
): RenderedMail {
  const paid = formatMoney(data.payment)
  const seats = data.children.length === 1 ? 'the seat is' : 'the seats are'
  return renderMail({
    subject: [`You're registered: `, ...shortChildren(data), `, ${data.levelTitle}, ${dateOf(data)}`],
    heading: "You're registered",
    picture: pictureOfClass(data),
    opening: [richText`Hello ${data.guardianName},`, [`We received your payment of ${paid}, and ${seats} yours.`]],
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
              'Next step: please read and sign the waiver. We’ll ship the kit and send the class link once it’s signed.',
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
