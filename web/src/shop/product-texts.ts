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
        'It’s a pre-order: your card is charged today, and the spider ships as soon as it’s made. We’ll email you when it’s on its way.',
    },
    facts: [
      ['Legs', 'Eight, each with its own joints'],
      ['Ships to', 'Addresses within the U.S.'],
      ['Paid', 'By card, when you order'],
    ],
  },
  [teddyBear]: {
    about: 'Soft enough for bedtime, and smart enough to make a child ask how it decides what to do.',
    while: {
      coming_soon:
        'It’s not for sale yet. Leave your email and we’ll write once, when it’s available: it’s free, with no obligation. The price on the day you order applies.',
    },
    facts: [
      ['Outside', 'Soft, for arms of any size'],
      ['Inside', 'A small computer'],
      ['Ships to', 'Addresses within the U.S.'],
    ],
  },
}
