import type { Money } from '@robokids/contracts/fields'
import { formatMoney } from '@robokids/contracts/pricing'
import type { MailContent } from './render-mail.ts'
import { questions } from './phrases.ts'
import type { RichText } from './rich-text.ts'

/**
 * What to write of a refund that failed: money that went back, or was to, is still owed.
 * @param refund where it is `disputed`, its payer has the bank decide, and nothing can be sent back until then.
 * @param whyNotKept where its payer did not know before that the payment was not kept.
 */
export function failedRefund(
  { disputed, ...money }: Money & { disputed?: boolean | undefined },
  whyNotKept?: RichText,
): Pick<MailContent, 'heading' | 'closing'> & { subject: string; told: RichText[] } {
  const sum = formatMoney(money)
  if (whyNotKept && disputed)
    return {
      subject: `We did not keep your payment of ${sum}`,
      heading: `We did not keep your payment of ${sum}`,
      told: [
        whyNotKept,
        [`You disputed this payment of ${sum} with your bank. While your bank decides, we cannot refund it.`],
        ['If the bank leaves the money with us, we will refund it to you. You do not have to do anything.'],
      ],
      closing: [questions],
    }
  return {
    subject: `Your refund of ${sum} did not go through`,
    heading: whyNotKept ? `We owe you ${sum}` : `Your refund of ${sum} did not go through`,
    told: [
      ...(whyNotKept
        ? [whyNotKept, [`We have tried to refund ${sum} to the card you paid with, but it did not go through.`]]
        : [
            [`We wrote to you that we had refunded ${sum}. Your bank has not taken it, and the money came back to us.`],
          ]),
      ['We still owe it to you. We will send it again, or ask you how else it can reach you.'],
    ],
    closing: [['If your card was replaced or closed, please reply to this email.'], questions],
  }
}
