import type { Money } from '@robokids/contracts/fields'
import { formatMoney } from '@robokids/contracts/pricing'
import type { MailContent } from './render-mail.ts'
import { questions } from './phrases.ts'
import type { RichText } from './rich-text.ts'

/**
 * Returns the texts about a failed refund: the money is still owed.
 * @param refund if it is `disputed`, nothing can be refunded until the bank has decided.
 * @param notKeptReason why the payment was not kept, if the payer has not been told yet.
 */
export function failedRefund(
  { disputed, ...money }: Money & { disputed?: boolean | undefined },
  notKeptReason?: RichText,
): Pick<MailContent, 'heading' | 'closing'> & { subject: string; paragraphs: RichText[] } {
  const sum = formatMoney(money)
  if (notKeptReason && disputed)
    return {
      subject: `We did not keep your payment of ${sum}`,
      heading: `We did not keep your payment of ${sum}`,
      paragraphs: [
        notKeptReason,
        [`You disputed this payment of ${sum} with your bank. While your bank decides, we cannot refund it.`],
        ['If the bank leaves the money with us, we will refund it to you. You do not have to do anything.'],
      ],
      closing: [questions],
    }
  return {
    subject: `Your refund of ${sum} did not go through`,
    heading: notKeptReason ? `We owe you ${sum}` : `Your refund of ${sum} did not go through`,
    paragraphs: [
      ...(notKeptReason
        ? [notKeptReason, [`We have tried to refund ${sum} to the card you paid with, but it did not go through.`]]
        : [
            [`We wrote to you that we had refunded ${sum}. Your bank has not taken it, and the money came back to us.`],
          ]),
      ['We still owe it to you. We will send it again, or ask you how else it can reach you.'],
    ],
    closing: [['If your card was replaced or closed, please reply to this email.'], questions],
  }
}
