import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { questions } from './phrases.ts'
import { pictureOfProduct } from './pictures.ts'

const stockAlertUrl = (siteUrl: string, noticeId: string) => `${siteUrl}/shop/notice?reference=${noticeId}`

/** Composes the mail that asks to confirm a stock alert, so that no one gets alerts that somebody else requested. */
export function stockAlertRequestedMail(
  { noticeId, productName, sku }: MailData['notice_asked'],
  siteUrl: string,
): RenderedMail {
  return renderMail({
    subject: [`Do you want an alert for the ${productName}?`],
    heading: 'Please confirm your request',
    picture: pictureOfProduct(sku),
    opening: [
      ['Hello,'],
      [`Someone asked us to email this address when the ${productName} is available: one email, nothing else.`],
    ],
    facts: [],
    step: {
      text: ['If it was you, please confirm on this page. You can also remove your address there at any time.'],
      label: 'Yes, notify me',
      url: stockAlertUrl(siteUrl, noticeId),
    },
    closing: [['If it wasn’t you, you don’t need to do anything, and we won’t email you about this again.'], questions],
  })
}

/** Composes the stock alert. */
export function productAvailableMail(
  { noticeId, productName, sku, state }: MailData['product_available'],
  siteUrl: string,
): RenderedMail {
  const can = state === 'available' ? 'is here' : 'can be pre-ordered now'
  return renderMail({
    subject: [`The ${productName} ${can}`],
    heading: `The ${productName} ${can}`,
    picture: pictureOfProduct(sku),
    opening: [['Hello,'], [`You asked us to let you know: the ${productName} ${can}.`]],
    facts: [],
    step: { text: ['You can find it in our shop.'], label: 'Go to the shop', url: `${siteUrl}/shop` },
    aside: {
      text: ['This is the one email you asked for. You can also remove your address:'],
      label: 'Remove my address',
      url: stockAlertUrl(siteUrl, noticeId),
    },
    closing: [questions],
  })
}
