import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { formatMoney } from '@robokids/contracts/pricing'
import { endsRegistration } from '../rules.ts'
import type { MailData, rejections } from '../schema.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { childrenFact, classFact, dateOf, keepKit, questions, registrationStep, whenFact } from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { richText, type RichText } from './rich-text.ts'

type Refunded = MailData['payment_refunded']

/** What is known of the registration beside the refund. */
export interface Background {
  /** Why its payment was not kept. */
  rejection?: Pick<typeof rejections.$inferSelect, 'reason' | 'duplicateOf'> | undefined
  /** All of its payment went back by now, with this refund or another. */
  isCancelled: boolean
  kitHasShipped: boolean
}

const whyNoSeat: Record<NonNullable<Background['rejection']>['reason'] | 'unknown', string> = {
  class_full: 'by the time it arrived, the class was full',
  class_started: 'by the time it arrived, the class had already begun',
  registration_cancelled: 'by the time it arrived, the registration had been cancelled',
  unknown: 'by the time it arrived, there was no seat left for it',
}

type Rejection = Background['rejection']

/** Why a payment that nobody asked to have back was not kept; where another payment was, that is not told here. */
export function whyNotKept(reason: 'seat_gone' | 'amount_mismatch', paid: string, rejection: Rejection): string {
  return reason === 'seat_gone'
    ? `Thank you for your payment of ${paid}. We are sorry: ${whyNoSeat[rejection?.reason ?? 'unknown']}, so we could not confirm your registration.`
    : 'The payment that reached us was not for the price of the class, so we did not keep it, and it did not confirm your registration.'
}

/** Two registrations of the same children were paid: one of them stands. */
export function registeredTwice({ children }: RegistrationFacts): string {
  const who = children.length === 1 ? 'Your child was' : 'Your children were'
  return `${who} registered twice for this class, and both registrations were paid.`
}

export const otherDates = (siteUrl: string): Story['step'] => ({
  text: ['Another date may suit you: here are those with free seats.'],
  label: 'See the class dates',
  url: `${siteUrl}/robokidslanding`,
})

interface Story {
  heading: string
  told: RichText[]
  step: NonNullable<MailContent['step']>
}

/** The registration is over with this refund. */
function cancelled({ kitHasShipped }: Background): RichText[] {
  return [
    ['This registration is cancelled; the attached entry takes the class out of your calendar.'],
    ...(kitHasShipped ? [keepKit] : []),
  ]
}

function storyOf(data: Refunded, background: Background, siteUrl: string): Story {
  const { rejection, isCancelled } = background
  const refunded = formatMoney(data)
  const paid = formatMoney({ amount: data.paidAmount, currency: data.currency })
  const back = `We have refunded ${refunded} to the card you paid with.`
  if (rejection?.duplicateOf) {
    return {
      heading: `We refunded a second payment of ${refunded}`,
      told: [[`${registeredTwice(data.purchase)} One of them stands, and the other payment went back.`], [back]],
      step: registrationStep(rejection.duplicateOf, siteUrl),
    }
  }
  const step = registrationStep(data.registrationId, siteUrl)
  switch (data.reason) {
    case 'seat_gone':
      return {
        heading: `We refunded your payment of ${paid}`,
        told: [[whyNotKept(data.reason, paid, rejection)], [back]],
        step: otherDates(siteUrl),
      }
    case 'duplicate':
      return {
        heading: `We refunded a second payment of ${refunded}`,
        told: [
          ['We received two payments for one registration. You owe only one, so the other one went back.'],
          [back],
        ],
        step,
      }
    case 'amount_mismatch':
      return {
        heading: `We refunded your payment of ${refunded}`,
        told: [[whyNotKept(data.reason, paid, rejection)], [back]],
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
            told: [[back], ...cancelled(background)],
            step,
          }
        : {
            heading: `We refunded ${refunded} of ${paid}`,
            // The mail about the rest, which follows, says what became of it.
            told: [[back], ...(isCancelled ? [] : [['Your registration stays as it is.']])],
            step,
          }
  }
}

/**
 * Whether the mail says that the registration is over. One that makes good for a refund that failed says so only where its
 * event does: before events did, that had been told with the first.
 */
export function tellsOfEnd(data: Refunded): boolean {
  return endsRegistration(data) && (data.again !== true || data.whole === true)
}

/** After one that failed, nothing is promised before the bank has kept it. */
function sentAgain(data: Refunded, background: Background, siteUrl: string): Story {
  const money = formatMoney(data)
  return {
    heading: `We sent your refund of ${money} again`,
    told: [
      [`Your bank did not keep the refund that we told you of. We have sent ${money} to your card once more.`],
      ...(tellsOfEnd(data) ? cancelled(background) : []),
    ],
    step: registrationStep(data.registrationId, siteUrl),
  }
}

/** Money went back: how much, why, and what that means for the registration. */
export function paymentRefundedMail(data: Refunded, background: Background, siteUrl: string): RenderedMail {
  const purchase: RegistrationFacts = data.purchase
  const { heading, told, step } =
    data.again === true ? sentAgain(data, background, siteUrl) : storyOf(data, background, siteUrl)
  return renderMail({
    subject: [
      `${data.again === true ? 'We sent your refund again' : `Refund of ${formatMoney(data)}`}: ${purchase.levelTitle}, ${dateOf(purchase)}`,
    ],
    heading,
    picture: pictureOfClass(purchase),
    opening: [richText`Hello ${purchase.guardianName},`, ...told],
    facts: [
      { label: data.again === true ? 'Sent again' : 'Refunded', lines: [[formatMoney(data)]] },
      ...(data.refundedTotal > data.amount
        ? [{ label: 'Refunded in all', lines: [[formatMoney({ ...data, amount: data.refundedTotal })]] }]
        : []),
      classFact(purchase),
      whenFact(purchase),
      childrenFact(purchase),
    ],
    step,
    closing: [['Banks usually take 5 to 10 business days to show a refund.'], questions],
  })
}
