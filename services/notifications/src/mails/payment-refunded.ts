import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { formatMoney } from '@robokids/contracts/pricing'
import type { MailData, rejections } from '../schema.ts'
import { renderLetter, type Letter, type RenderedLetter } from './letter.ts'
import { childrenFact, classFact, dateOf, questions, whenFact } from './phrases.ts'
import { say, type Words } from './words.ts'

type Refunded = MailData['payment_refunded']
type Rejection = (typeof rejections.$inferSelect)['reason']

/** Whether the registration is over with this refund, and with it the entry in the parent's calendar. */
export function endsRegistration(data: Refunded): boolean {
  return data.reason === 'requested' && data.refundedTotal >= data.paidAmount
}

const whyNoSeat: Record<Rejection | 'unknown', string> = {
  class_full: 'by the time it arrived, the class was full',
  class_started: 'by the time it arrived, the class had already begun',
  registration_cancelled: 'by the time it arrived, the registration had been cancelled',
  unknown: 'by the time it arrived, there was no seat left for it',
}

interface Story {
  heading: string
  told: Words[]
  step?: Letter['step']
}

function storyOf(data: Refunded, rejection: Rejection | undefined, siteUrl: string): Story {
  const refunded = formatMoney(data)
  const paid = formatMoney({ amount: data.paidAmount, currency: data.currency })
  const back = `We have refunded ${refunded} to the card you paid with.`
  switch (data.reason) {
    case 'seat_gone':
      return {
        heading: `We refunded your payment of ${paid}`,
        told: [
          [
            `Thank you for your payment of ${paid}. We are sorry: ${whyNoSeat[rejection ?? 'unknown']}, so we could not confirm your registration.`,
          ],
          [back],
        ],
        step: {
          text: ['Another date may suit you: here are those with free seats.'],
          label: 'See the class dates',
          url: `${siteUrl}/robokidslanding`,
        },
      }
    case 'duplicate':
      return {
        heading: `We refunded a second payment of ${refunded}`,
        told: [
          ['We received two payments for one registration. You owe only one, so the other one went back.'],
          [back],
        ],
      }
    case 'amount_mismatch':
      return {
        heading: `We refunded your payment of ${refunded}`,
        told: [
          [
            'The payment that reached us was not for the price of the class, so we did not keep it, and it did not confirm your registration.',
          ],
          [back],
        ],
        step: {
          text: ['If you would still like to join, please register again:'],
          label: 'See the class dates',
          url: `${siteUrl}/robokidslanding`,
        },
      }
    case 'requested':
      return endsRegistration(data)
        ? {
            heading: `We refunded ${refunded}`,
            told: [
              [back],
              ['This registration is cancelled; the attached entry takes the class out of your calendar.'],
            ],
          }
        : {
            heading: `We refunded ${refunded} of ${paid}`,
            told: [[back], ['Your registration stays as it is.']],
          }
  }
}

/** After one that failed, nothing is promised before the bank has kept it. */
function sentAgain(data: Refunded): Story {
  const money = formatMoney(data)
  return {
    heading: `We sent your refund of ${money} again`,
    told: [[`Your bank did not keep the refund that we told you of. We have sent ${money} to your card once more.`]],
  }
}

/** Money went back: how much, why, and what that means for the registration. */
export function paymentRefundedMail(data: Refunded, rejection: Rejection | undefined, siteUrl: string): RenderedLetter {
  const purchase: RegistrationFacts = data.purchase
  const { heading, told, step } = data.again === true ? sentAgain(data) : storyOf(data, rejection, siteUrl)
  return renderLetter({
    subject: [
      `${data.again === true ? 'We sent your refund again' : `Refund of ${formatMoney(data)}`}: ${purchase.levelTitle}, ${dateOf(purchase)}`,
    ],
    heading,
    opening: [say`Hello ${purchase.guardianName},`, ...told],
    facts: [
      { label: data.again === true ? 'Sent again' : 'Refunded', lines: [[formatMoney(data)]] },
      classFact(purchase),
      whenFact(purchase),
      childrenFact(purchase),
    ],
    ...(step ? { step } : {}),
    closing: [['Banks usually take 5 to 10 business days to show a refund.'], questions],
  })
}
