import { formatMoney } from '@robokids/contracts/pricing'
import type { MailData } from '../schema.ts'
import { failedRefund } from './failed-refund.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { otherDatesStep, registeredTwice, notKeptReason, type Background } from './payment-refunded.ts'
import { childrenFact, classFact, dateOf, registrationStep, whenFact } from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { richText } from './rich-text.ts'

type Failed = MailData['refund_failed']

/** Returns why the payment was not kept, for a payer who has not been told yet. */
function firstExplanation(
  { reason, purchase, ...paid }: Failed,
  rejection: Background['rejection'],
): string[] | undefined {
  if (rejection?.duplicateOf)
    return [`${registeredTwice(purchase)} One of them stays valid, and you owe only one of the payments.`]
  switch (reason) {
    case 'duplicate':
      return ['We received two payments for one registration. You owe only one of them.']
    case 'seat_gone':
    case 'amount_mismatch': {
      const amount = paid.paidAmount ?? paid.amount
      return [notKeptReason(reason, formatMoney({ amount, currency: paid.currency }), rejection)]
    }
    case 'requested':
      return undefined
  }
}

/** Composes the mail about a failed refund: the school still owes the money. */
export function refundFailedMail(data: Failed, rejection: Background['rejection'], siteUrl: string): RenderedMail {
  const { purchase, reason } = data
  const money = formatMoney(data)
  const isFirstMail = data.untold === true
  const { subject, heading, paragraphs, closing } = failedRefund(
    data,
    isFirstMail ? firstExplanation(data, rejection) : undefined,
  )
  const step: NonNullable<MailContent['step']> =
    isFirstMail && reason === 'seat_gone' && !rejection?.duplicateOf
      ? otherDatesStep(siteUrl)
      : registrationStep(rejection?.duplicateOf ?? purchase.registrationId, siteUrl)
  return renderMail({
    subject: [`${subject}: ${purchase.levelTitle}, ${dateOf(purchase)}`],
    heading,
    picture: pictureOfClass(purchase),
    opening: [richText`Hello ${purchase.guardianName},`, ...paragraphs],
    facts: [
      { label: 'Not refunded yet', lines: [[money]] },
      classFact(purchase),
      whenFact(purchase),
      childrenFact(purchase),
    ],
    step,
    closing,
  })
}
