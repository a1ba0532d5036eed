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
      subject: `We couldn’t accept your payment of ${sum}`,
      heading: `We couldn’t accept your payment of ${sum}`,
      paragraphs: [
        notKeptReason,
        [`You disputed this payment of ${sum} with your bank. We can’t refund it until your bank decides.`],
        ['If the bank decides that the payment stands, we’ll refund it to you. You don’t need to do anything.'],
      ],
      closing: [questions],
    }
  return {
    subject: `Your refund of ${sum} did not go through`,
    heading: notKeptReason ? `We owe you ${sum}` : `Your refund of ${sum} did not go through`,
    paragraphs: [
      ...(notKeptReason
        ? [notKeptReason, [`We tried to refund ${sum} to the card you paid with, but the refund did not go through.`]]
        : [
            [
              `We told you that we had refunded ${sum}. Your bank didn’t accept the refund, and the money came back to us.`,
            ],
          ]),
      ['We still owe you this money. We’ll send it again, or ask you how else we can get it to you.'],
    ],
    closing: [['If your card was replaced or closed, please reply to this email.'], questions],
  }
}
