import { formatMoney } from '@robokids/contracts/pricing'
import type { MailData } from '../schema.ts'
import { childrenFact, classFact, dateOf, instantLines, questions, shortChildren, whenFact } from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { richText } from './rich-text.ts'

/** Composes the mail about a class that the school cancelled. Its link changes nothing by itself: mail programs open links too. */
export function classCancelledMail(data: MailData['class_cancelled'], siteUrl: string): RenderedMail {
  const { choice } = data
  const common = {
    subject: ['Class canceled: ', ...shortChildren(data), `, ${data.levelTitle}, ${dateOf(data)}`],
    picture: pictureOfClass(data),
  }
  const facts = [classFact(data), whenFact(data), childrenFact(data)]
  if (choice === null) {
    return renderMail({
      ...common,
      heading: 'This class was canceled',
      opening: [
        richText`Hello ${data.guardianName},`,
        ['We had to cancel this class, and we are sorry. Your seats were not paid yet, so nothing was charged.'],
      ],
      facts,
      step: { text: ['There are other dates:'], label: 'See other dates', url: `${siteUrl}/levels` },
      closing: [questions],
    })
  }
  // A sibling who joined free can be the only one in the class.
  const ways =
    choice.back > 0
      ? [
          ['We had to cancel this class, and we are sorry. Choose a new date, or all of your money back.'],
          [`If we hear nothing, all ${formatMoney({ amount: choice.back, currency: 'usd' })} goes back to your card.`],
        ]
      : [
          ['We had to cancel this class, and we are sorry. Choose a new date.'],
          ['Nothing was paid for this seat, so nothing is refunded if we hear nothing.'],
        ]
  return renderMail({
    ...common,
    heading: 'We had to cancel this class',
    opening: [richText`Hello ${data.guardianName},`, ...ways],
    facts: [{ label: 'Choose by', lines: instantLines(choice.chooseUntil, data) }, ...facts],
    step: {
      text: ['Nothing happens until you choose on this page:'],
      label: 'Make your choice',
      url: `${siteUrl}/choice?reference=${choice.choiceId}`,
    },
    closing: [['The attached events update your calendar.'], questions],
  })
}
