import { formatMoney } from '@robokids/contracts/pricing'
import type { MailData } from '../schema.ts'
import { renderLetter, type RenderedLetter } from './letter.ts'
import { childrenFact, classFact, dateOf, questions, registrationStep, whenFact } from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { say } from './words.ts'

/** Money that we said had gone back has not arrived: it is ours to give back another way. */
export function refundFailedMail(data: MailData['refund_failed'], siteUrl: string): RenderedLetter {
  const { purchase } = data
  const money = formatMoney(data)
  return renderLetter({
    subject: [`Your refund of ${money} did not go through: ${purchase.levelTitle}, ${dateOf(purchase)}`],
    heading: `Your refund of ${money} did not go through`,
    picture: pictureOfClass(purchase),
    opening: [
      say`Hello ${purchase.guardianName},`,
      [`We wrote to you that we had refunded ${money}. Your bank has not taken it, and the money came back to us.`],
      ['We still owe it to you. We will send it again, or ask you how else it can reach you.'],
    ],
    facts: [
      { label: 'Not refunded yet', lines: [[money]] },
      classFact(purchase),
      whenFact(purchase),
      childrenFact(purchase),
    ],
    step: registrationStep(purchase.registrationId, siteUrl),
    closing: [['If your card was replaced or closed, please reply to this email.'], questions],
  })
}
