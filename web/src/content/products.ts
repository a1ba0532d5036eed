import { type ProductSku, robotSpider, teddyBear } from '@robokids/contracts/products'

interface ProductTexts {
  paragraphs: readonly string[]
  facts: readonly (readonly [name: string, value: string])[]
}

/** What a product's own page says of it, beside what the shop does. */
export const productTexts: Record<ProductSku, ProductTexts> = {
  [robotSpider]: {
    paragraphs: [
      'It came out of our workshop, where we build small personal robots and the electromagnetic muscles that move them. The spider is the one that children ask for by name.',
      'You order ahead: your card is charged today, and the spider ships as soon as it is made. We mail you when it is on its way.',
    ],
    facts: [
      ['Legs', 'Eight, each with its own joints'],
      ['Where it stands', 'In final production'],
      ['Ships to', 'Addresses within the U.S.'],
      ['Paid', 'By card, when you order'],
    ],
  },
  [teddyBear]: {
    paragraphs: [
      'It is not for sale yet. Leave your email, and we write once, when it can be had: that is free, and you are bound to nothing.',
      'The price is the one that we plan with. What counts is the price on the day that you order.',
    ],
    facts: [
      ['Outside', 'Soft, for arms of any size'],
      ['Inside', 'A small computer'],
      ['Where it stands', 'Coming soon'],
    ],
  },
}
