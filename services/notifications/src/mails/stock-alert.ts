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
    subject: [`Shall we tell you about the ${productName}?`],
    heading: 'Please confirm your request',
    picture: pictureOfProduct(sku),
    opening: [
      ['Hello,'],
      [`Somebody asked us to write to this address when there is news of the ${productName}: one email, nothing else.`],
    ],
    facts: [],
    step: {
      text: ['If it was you, please confirm it on this page. There you can also remove your address at any time.'],
      label: 'Yes, tell me',
      url: stockAlertUrl(siteUrl, noticeId),
    },
    closing: [['If it was not you, do nothing, and we will not write to you about it again.'], questions],
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
    opening: [['Hello,'], [`You asked us to tell you: the ${productName} ${can}.`]],
    facts: [],
    step: { text: ['You can find it in our shop.'], label: 'Go to the shop', url: `${siteUrl}/shop` },
    aside: {
      text: ['This was the one email you asked for; your request is done. You can also have your address removed:'],
      label: 'Remove my address',
      url: stockAlertUrl(siteUrl, noticeId),
    },
    closing: [questions],
  })
}
