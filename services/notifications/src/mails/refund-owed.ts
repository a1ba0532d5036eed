import { formatMoney } from '@robokids/contracts/pricing'
import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'

/** Composes the mail to the operator about a failed refund, with the command to retry it. */
export function refundOwedMail(data: MailData['refund_owed']): RenderedMail {
  const { paymentId, registrationId, orderId, membershipId, reason } = data
  const money = formatMoney(data)
  const about =
    (registrationId && `Registration ${registrationId}`) ||
    (orderId && `Order ${orderId}`) ||
    (membershipId && `Membership ${membershipId}`) ||
    'unknown'
  return renderMail({
    subject: [`Refund failed: ${money} is owed`],
    heading: `A refund of ${money} failed`,
    opening: [
      ['The money didn’t reach the buyer, and the refund won’t be retried automatically.'],
      ['To retry it, even if the buyer’s bank has since issued a new card:'],
      [`npm run admin -- refund --payment ${paymentId}`],
    ],
    facts: [
      { label: 'Payment', lines: [[paymentId]] },
      { label: 'Owed', lines: [[money]] },
      { label: 'Reason', lines: [[reason.replaceAll('_', ' ')]] },
      { label: 'About', lines: [[about]] },
    ],
    closing: [['If it fails again, ask the buyer how else you can send the money.']],
  })
}
