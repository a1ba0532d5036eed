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
      ['The money did not reach the buyer, and the refund is not retried automatically.'],
      ['To retry it, also if the buyer’s bank has issued a new card since:'],
      [`npm run admin -- refund --payment ${paymentId}`],
    ],
    facts: [
      { label: 'Payment', lines: [[paymentId]] },
      { label: 'Owed', lines: [[money]] },
      { label: 'Reason', lines: [[reason.replaceAll('_', ' ')]] },
      { label: 'About', lines: [[about]] },
    ],
    closing: [['If it fails again, ask the buyer how else the money can reach them.']],
  })
}
