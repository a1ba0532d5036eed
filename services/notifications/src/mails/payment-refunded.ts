import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { formatMoney } from '@robokids/contracts/pricing'
import { endsRegistration } from '../rules.ts'
import type { MailData, rejections } from '../schema.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { childrenFact, classFact, dateOf, keepKit, questions, registrationStep, whenFact } from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { richText, type RichText } from './rich-text.ts'

type Refunded = MailData['payment_refunded']

/** What is known about the registration besides the refund. */
export interface Background {
  /** Why it was rejected. */
  rejection?: Pick<typeof rejections.$inferSelect, 'reason' | 'duplicateOf'> | undefined
  /** Its payment has been refunded in full, by this refund or another. */
  isCancelled: boolean
  isKitShipped: boolean
}

const noSeatReasons: Record<NonNullable<Background['rejection']>['reason'] | 'unknown', string> = {
  class_full: 'by the time it arrived, the class was full',
  class_started: 'by the time it arrived, the class had already started',
  registration_cancelled: 'by the time it arrived, the registration had been canceled',
  unknown: 'by the time it arrived, there were no seats left',
}

type Rejection = Background['rejection']

/** Returns why a payment was refunded although nobody requested it, except for duplicate payments. */
export function notKeptReason(reason: 'seat_gone' | 'amount_mismatch', paid: string, rejection: Rejection): string {
  return reason === 'seat_gone'
    ? `Thank you for your payment of ${paid}. We’re sorry: ${noSeatReasons[rejection?.reason ?? 'unknown']}, so we couldn’t confirm your registration.`
    : 'The payment we received didn’t match the price of the class, so we couldn’t accept it or confirm your registration.'
}

/** Returns the explanation that two registrations of the same children were paid. */
export function registeredTwice({ children }: RegistrationFacts): string {
  const who = children.length === 1 ? 'Your child was' : 'Your children were'
  return `${who} registered twice for this class, and both registrations were paid.`
}

export const otherDatesStep = (siteUrl: string): Content['step'] => ({
  text: ['Another date may work for you. See which ones still have open seats:'],
  label: 'See the class dates',
  url: `${siteUrl}/robokidslanding`,
})

interface Content {
  heading: string
  paragraphs: RichText[]
  step: NonNullable<MailContent['step']>
}

/** Returns the text that this refund cancels the registration. */
function cancelled({ isKitShipped }: Background): RichText[] {
  return [
    ['This registration is canceled. The attached event removes the class from your calendar.'],
    ...(isKitShipped ? [keepKit] : []),
  ]
}

function contentFor(data: Refunded, background: Background, siteUrl: string): Content {
  const { rejection, isCancelled } = background
  const refunded = formatMoney(data)
  const paid = formatMoney({ amount: data.paidAmount, currency: data.currency })
  const back = `We refunded ${refunded} to the card you paid with.`
  if (rejection?.duplicateOf) {
    return {
      heading: `We refunded a second payment of ${refunded}`,
      paragraphs: [
        [`${registeredTwice(data.purchase)} One of them stays valid, and we’re returning the other payment.`],
        [back],
      ],
      step: registrationStep(rejection.duplicateOf, siteUrl),
    }
  }
  const step = registrationStep(data.registrationId, siteUrl)
  switch (data.reason) {
    case 'seat_gone':
      return {
        heading: `We refunded your payment of ${paid}`,
        paragraphs: [[notKeptReason(data.reason, paid, rejection)], [back]],
        step: otherDatesStep(siteUrl),
      }
    case 'duplicate':
      return {
        heading: `We refunded a second payment of ${refunded}`,
        paragraphs: [
          ['We received two payments for one registration. Only one was due, so we’re returning the other.'],
          [back],
        ],
        step,
      }
    case 'amount_mismatch':
      return {
        heading: `We refunded your payment of ${refunded}`,
        paragraphs: [[notKeptReason(data.reason, paid, rejection)], [back]],
        step: {
          text: ['If you’d still like to join, please register again:'],
          label: 'See the class dates',
          url: `${siteUrl}/robokidslanding`,
        },
      }
    case 'requested':
      return endsRegistration(data)
        ? {
            heading: `We refunded ${refunded}`,
            paragraphs: [[back], ...cancelled(background)],
            step,
          }
        : {
            heading: `We refunded ${refunded} of ${paid}`,
            // If it is cancelled, the following mail about the rest says so.
            paragraphs: [[back], ...(isCancelled ? [] : [['Your registration stays the same.']])],
            step,
          }
  }
}

/**
 * Returns whether the mail announces the end of the registration. A mail about a replaced refund does so only if its event
 * says `whole`: for older events, the mail about the first refund has announced it.
 */
export function announcesEnd(data: Refunded): boolean {
  return endsRegistration(data) && (data.again !== true || data.whole === true)
}

/** Returns the texts about a refund that replaces a failed one; they promise nothing, as it can fail too. */
function sentAgain(data: Refunded, background: Background, siteUrl: string): Content {
  const money = formatMoney(data)
  return {
    heading: `We sent your refund of ${money} again`,
    paragraphs: [
      [`Your bank returned the refund we told you about, so we’ve sent ${money} to your card again.`],
      ...(announcesEnd(data) ? cancelled(background) : []),
    ],
    step: registrationStep(data.registrationId, siteUrl),
  }
}

/** Composes the mail about a refund: how much, why, and what it means for the registration. */
export function paymentRefundedMail(data: Refunded, background: Background, siteUrl: string): RenderedMail {
  const purchase: RegistrationFacts = data.purchase
  const { heading, paragraphs, step } =
    data.again === true ? sentAgain(data, background, siteUrl) : contentFor(data, background, siteUrl)
  return renderMail({
    subject: [
      `${data.again === true ? 'We sent your refund again' : `Refund of ${formatMoney(data)}`}: ${purchase.levelTitle}, ${dateOf(purchase)}`,
    ],
    heading,
    picture: pictureOfClass(purchase),
    opening: [richText`Hello ${purchase.guardianName},`, ...paragraphs],
    facts: [
      { label: data.again === true ? 'Sent again' : 'Refunded', lines: [[formatMoney(data)]] },
      ...(data.refundedTotal > data.amount
        ? [{ label: 'Total refunded', lines: [[formatMoney({ ...data, amount: data.refundedTotal })]] }]
        : []),
      classFact(purchase),
      whenFact(purchase),
      childrenFact(purchase),
    ],
    step,
    closing: [['Banks usually take 5 to 10 business days to show a refund.'], questions],
  })
}
