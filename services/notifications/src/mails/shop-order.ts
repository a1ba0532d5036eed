import { formatMoney } from '@robokids/contracts/pricing'
import type { OrderLine, ShipTo } from '@robokids/contracts/shop'
import { isWhole } from '../rules.ts'
import type { MailData, OrderKind } from '../schema.ts'
import { failedRefund } from './failed-refund.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { questions } from './phrases.ts'
import { pictureOfProduct } from './pictures.ts'
import { richText, type RichText } from './rich-text.ts'

/** What composing a mail needs besides its data. */
interface MailOptions {
  siteUrl: string
  /** The payment is known to be refunded in full. */
  isRefunded: boolean
}

const usd = (amount: number) => formatMoney({ amount, currency: 'usd' })

/** `Robot Spider`, `Robot Spider and 2 more` */
function shortTitle(lines: OrderLine[]): string {
  const [first] = lines
  const rest = lines.length - 1
  return `${first?.name ?? 'your order'}${rest > 0 ? ` and ${rest} more` : ''}`
}

function linesFact(lines: OrderLine[]): MailContent['facts'][number] {
  return {
    label: 'Your order',
    lines: lines.map(({ quantity, name, unitAmount, state }) => [
      `${quantity} × ${name}, ${usd(quantity * unitAmount)}${state === 'pre_order' ? ' (pre-order)' : ''}`,
    ]),
  }
}

function addressFact({ name, addressLine1, addressLine2, city, state, zipCode, country }: ShipTo) {
  return {
    label: 'Ships to',
    lines: [
      richText`${name}`,
      richText`${addressLine1}`,
      ...(addressLine2 === '' ? [] : [richText`${addressLine2}`]),
      richText`${city}, ${state} ${zipCode}`,
      ...(country === 'US' ? [] : [richText`${country}`]),
    ],
  }
}

const hello = (shipTo: ShipTo | null): RichText => (shipTo ? richText`Hello ${shipTo.name},` : ['Hello,'])

function orderStep(orderId: string, siteUrl: string): NonNullable<MailContent['step']> {
  return {
    text: ['You can check on your order at any time:'],
    label: 'See your order',
    url: `${siteUrl}/shop/success?reference=${orderId}`,
  }
}

function paid(
  { lines, shipTo, orderId, receiptNumber, ...money }: MailData['order_paid'],
  siteUrl: string,
): MailContent {
  const isPreOrder = lines.some(({ state }) => state === 'pre_order')
  return {
    subject: [`${isPreOrder ? 'Your pre-order' : 'Your order'}: ${shortTitle(lines)}`],
    heading: isPreOrder ? 'Thank you for your pre-order' : 'Thank you for your order',
    opening: [
      hello(shipTo),
      [`We received your payment of ${formatMoney(money)}.`],
      ...(isPreOrder
        ? [['Your pre-order is still being made. We’ll ship it as soon as it’s ready and email you that day.']]
        : []),
    ],
    facts: [
      linesFact(lines),
      { label: 'Paid', lines: [[formatMoney(money)], [`Receipt ${receiptNumber}`]] },
      ...(shipTo ? [addressFact(shipTo)] : []),
    ],
    step: orderStep(orderId, siteUrl),
    closing: [
      shipTo
        ? ['Is the address wrong? Reply to this email before your order ships.']
        : ['We don’t have your shipping address yet. Please reply with it.'],
      questions,
    ],
  }
}

/** Returns the text about an order that was refunded in full. */
function outcome({ shipped: wasShipped }: MailData['order_refunded']): string {
  return `Your payment is now fully refunded, and your order is ${wasShipped === true ? 'returned' : 'canceled'}.`
}

function refundOpening(data: MailData['order_refunded']): RichText {
  const { reason, again, whole, paidAmount, amount } = data
  if (again === true) {
    const sent = `Your bank returned your refund of ${usd(amount)}, so we’ve sent it again.`
    return [whole === true && reason === 'requested' ? `${sent} ${outcome(data)}` : sent]
  }
  if (reason === 'duplicate') return ['Your order was paid twice, so we refunded the second payment in full.']
  if (reason === 'amount_mismatch') {
    return ['The amount paid didn’t match the price of your order, so we refunded it in full.']
  }
  return isWhole(data)
    ? [`We refunded ${usd(amount)}. ${outcome(data)}`]
    : [`We refunded ${usd(amount)} of the ${usd(paidAmount)} you paid.`]
}

function refunded(data: MailData['order_refunded'], siteUrl: string): MailContent {
  const { orderId, lines, shipTo, again, amount, refundedTotal } = data
  const subject = again === true ? 'We sent your refund again' : `Refund of ${usd(amount)}`
  return {
    subject: [`${subject}: ${shortTitle(lines)}`],
    heading: again === true ? 'Your refund is on its way again' : `We refunded ${usd(amount)}`,
    opening: [hello(shipTo), refundOpening(data)],
    facts: [
      { label: again === true ? 'Sent again' : 'Refunded', lines: [[usd(amount)]] },
      ...(refundedTotal > amount ? [{ label: 'Total refunded', lines: [[usd(refundedTotal)]] }] : []),
      linesFact(lines),
    ],
    step: orderStep(orderId, siteUrl),
    closing: [['Banks usually take 5 to 10 business days to show a refund.'], questions],
  }
}

/** Why a payment was refunded although nobody requested it. */
const notKeptReason = {
  duplicate: 'Your order was paid twice, and you owe only one of the payments.',
  seat_gone: 'We couldn’t accept one of your payments.',
  amount_mismatch: 'The amount paid didn’t match the price of your order, so we couldn’t accept it.',
}

function refundFailed(data: MailData['order_refund_failed'], siteUrl: string): MailContent {
  const { orderId, lines, shipTo, reason, untold } = data
  const isFirstMail = untold === true && reason !== 'requested'
  const { subject, heading, paragraphs, closing } = failedRefund(
    data,
    isFirstMail ? [notKeptReason[reason]] : undefined,
  )
  return {
    subject: [`${subject}: ${shortTitle(lines)}`],
    heading,
    opening: [hello(shipTo), ...paragraphs],
    facts: [{ label: 'Not refunded yet', lines: [[formatMoney(data)]] }, linesFact(lines)],
    step: orderStep(orderId, siteUrl),
    closing,
  }
}

/** Returns the content of the mail about a shipped parcel, also for an order that was refunded. */
function shipped(
  { orderId, lines, shipTo, trackingNumber }: MailData['order_shipped'],
  { siteUrl, isRefunded }: MailOptions,
): MailContent {
  return {
    subject: [`${isRefunded ? 'Shipped before your refund' : 'On its way'}: ${shortTitle(lines)}`],
    heading: isRefunded ? 'Your package had already shipped' : 'Your order is on its way',
    opening: [
      hello(shipTo),
      [
        isRefunded
          ? 'Your order was refunded. Your package had shipped before that, so it may still reach you.'
          : 'We shipped your package today.',
      ],
    ],
    facts: [
      linesFact(lines),
      ...(trackingNumber === null ? [] : [{ label: 'Tracking number', lines: [richText`${trackingNumber}`] }]),
      ...(shipTo ? [addressFact(shipTo)] : []),
    ],
    step: orderStep(orderId, siteUrl),
    closing: [questions],
  }
}

/** Composes a mail about a shop order. */
export function shopOrderMail<Kind extends OrderKind>(
  kind: Kind,
  data: MailData[Kind],
  options: MailOptions,
): RenderedMail {
  const contents: { [One in OrderKind]: (data: MailData[One]) => MailContent } = {
    order_paid: (one) => paid(one, options.siteUrl),
    order_refunded: (one) => refunded(one, options.siteUrl),
    order_refund_failed: (one) => refundFailed(one, options.siteUrl),
    order_shipped: (one) => shipped(one, options),
  }
  return renderMail({ ...contents[kind](data), picture: pictureOfProduct(data.lines[0]?.sku) })
}
