import { type ProductSku, type ProductState, robotSpider, teddyBear } from '@robokids/contracts/products'

interface ProductTexts {
  about: string
  /** True only in this state. */
  while: Partial<Record<ProductState, string>>
  facts: readonly (readonly [name: string, value: string])[]
}

/** A product page's texts, besides those of the shop. */
export const productTexts: Record<ProductSku, ProductTexts> = {
  [robotSpider]: {
    about:
      'It came out of our workshop, where we build small personal robots and the electromagnetic muscles that move them.',
    while: {
      pre_order:
        'You order ahead: your card is charged today, and the spider ships as soon as it is made. We mail you when it is on its way.',
    },
    facts: [
      ['Legs', 'Eight, each with its own joints'],
      ['Ships to', 'Addresses within the U.S.'],
      ['Paid', 'By card, when you order'],
    ],
  },
  [teddyBear]: {
    about: 'Soft enough for a bed, and curious enough to be asked how it decides what to do.',
    while: {
      coming_soon:
        'It is not for sale yet. Leave your email, and we write once, when it can be had: that is free, and you are bound to nothing. The price that counts is the one on the day that you order.',
    },
    facts: [
      ['Outside', 'Soft, for arms of any size'],
      ['Inside', 'A small computer'],
      ['Ships to', 'Addresses within the U.S.'],
    ],
  },
}
