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
  class_started: 'by the time it arrived, the class had already begun',
  registration_cancelled: 'by the time it arrived, the registration had been cancelled',
  unknown: 'by the time it arrived, there was no seat left for it',
}

type Rejection = Background['rejection']

/** Returns why a payment was refunded although nobody requested it, except for duplicate payments. */
export function notKeptReason(reason: 'seat_gone' | 'amount_mismatch', paid: string, rejection: Rejection): string {
  return reason === 'seat_gone'
    ? `Thank you for your payment of ${paid}. We are sorry: ${noSeatReasons[rejection?.reason ?? 'unknown']}, so we could not confirm your registration.`
    : 'The payment that reached us was not for the price of the class, so we did not keep it, and it did not confirm your registration.'
}

/** Returns the explanation that two registrations of the same children were paid. */
export function registeredTwice({ children }: RegistrationFacts): string {
  const who = children.length === 1 ? 'Your child was' : 'Your children were'
  return `${who} registered twice for this class, and both registrations were paid.`
}

export const otherDatesStep = (siteUrl: string): Content['step'] => ({
  text: ['Another date may suit you: here are those with free seats.'],
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
    ['This registration is cancelled; the attached entry takes the class out of your calendar.'],
    ...(isKitShipped ? [keepKit] : []),
  ]
}

function contentFor(data: Refunded, background: Background, siteUrl: string): Content {
  const { rejection, isCancelled } = background
  const refunded = formatMoney(data)
  const paid = formatMoney({ amount: data.paidAmount, currency: data.currency })
  const back = `We have refunded ${refunded} to the card you paid with.`
  if (rejection?.duplicateOf) {
    return {
      heading: `We refunded a second payment of ${refunded}`,
      paragraphs: [[`${registeredTwice(data.purchase)} One of them stands, and the other payment went back.`], [back]],
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
          ['We received two payments for one registration. You owe only one, so the other one went back.'],
          [back],
        ],
        step,
      }
    case 'amount_mismatch':
      return {
        heading: `We refunded your payment of ${refunded}`,
        paragraphs: [[notKeptReason(data.reason, paid, rejection)], [back]],
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
            paragraphs: [[back], ...cancelled(background)],
            step,
          }
        : {
            heading: `We refunded ${refunded} of ${paid}`,
            // If it is cancelled, the following mail about the rest says so.
            paragraphs: [[back], ...(isCancelled ? [] : [['Your registration stays as it is.']])],
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
      [`Your bank did not keep the refund that we told you of. We have sent ${money} to your card once more.`],
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
