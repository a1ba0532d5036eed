import type { ClassesView } from '@robokids/contracts/bff'
import { classTimeZone } from '@robokids/contracts/class-date'
import { levelPages, productPages } from '@robokids/contracts/pages'
import type { ShopView } from '@robokids/contracts/shop'

type Level = ClassesView['levels'][number]
export type JsonLd = Record<string, unknown>

const price = ({ amount, currency }: { amount: number; currency: string }) => ({
  price: (amount / 100).toFixed(2),
  priceCurrency: currency.toUpperCase(),
})

const organization = { '@type': 'EducationalOrganization', name: 'Robo Kids Learning' }

/** A level as a schema.org course, with its current price and open dates. */
function courseOf(level: Level, siteUrl: string): JsonLd {
  const url = siteUrl + levelPages[level.classType]
  return {
    '@type': 'Course',
    '@id': `${url}#course`,
    name: level.title,
    description: level.description,
    url,
    provider: { ...organization, url: siteUrl },
    typicalAgeRange: `${level.recommendedAges.from}-${level.recommendedAges.to}`,
    offers: { '@type': 'Offer', category: 'Paid', url, ...price(level.price) },
    hasCourseInstance: level.sessions.map(({ date, startTime, durationMinutes, timeZone, seatsLeft }) => {
      const start = Temporal.PlainDate.from(date).toZonedDateTime({
        timeZone: timeZone || classTimeZone,
        plainTime: startTime,
      })
      return {
        '@type': 'CourseInstance',
        courseMode: 'Online',
        startDate: start.toString({ timeZoneName: 'never', smallestUnit: 'second' }),
        courseWorkload: `PT${durationMinutes}M`,
        location: { '@type': 'VirtualLocation', url },
        offers: {
          '@type': 'Offer',
          category: 'Paid',
          url,
          availability: `https://schema.org/${seatsLeft > 0 ? 'InStock' : 'SoldOut'}`,
          ...price(level.price),
        },
      }
    }),
  }
}

const availability = {
  available: 'InStock',
  pre_order: 'PreOrder',
  coming_soon: 'OutOfStock',
  withdrawn: 'Discontinued',
} as const

/** A schema.org product. Only what can be bought has an offer. */
function productOf({ sku, name, state, amount, currency }: ShopView['products'][number], siteUrl: string): JsonLd {
  const url = siteUrl + (isOwnPage(sku) ? productPages[sku] : '/shop')
  const forSale = state === 'available' || state === 'pre_order'
  return {
    '@type': 'Product',
    '@id': `${siteUrl}/shop#${sku.split(':').at(-1)}`,
    name,
    sku,
    url,
    image: `${siteUrl}/og/shop.png`,
    brand: { '@type': 'Brand', name: 'Robo Kids Learning' },
    ...(forSale
      ? {
          offers: {
            '@type': 'Offer',
            url,
            availability: `https://schema.org/${availability[state]}`,
            ...price({ amount, currency }),
          },
        }
      : {}),
  }
}

const coursesOf = (levels: Level[], siteUrl: string): JsonLd[] => levels.map((level) => courseOf(level, siteUrl))

/** The levels of the landing page, in order. */
export function courseList({ levels }: ClassesView, siteUrl: string): JsonLd[] {
  const itemListElement = coursesOf(levels, siteUrl).map((item, index) => ({
    '@type': 'ListItem',
    position: index + 1,
    item,
  }))
  return [{ '@type': 'ItemList', itemListElement }]
}

/** The course of a level's page. */
export function coursesOfLevel({ levels }: ClassesView, classType: Level['classType'], siteUrl: string): JsonLd[] {
  return coursesOf(
    levels.filter((level) => level.classType === classType),
    siteUrl,
  )
}

const isOwnPage = (sku: string): sku is keyof typeof productPages => Object.hasOwn(productPages, sku)

/** The shop's products, or only one of them. */
export function productsOf({ products }: ShopView, siteUrl: string, only?: string): JsonLd[] {
  return products
    .filter(({ sku, state }) => state !== 'withdrawn' && sku === (only ?? sku))
    .map((product) => productOf(product, siteUrl))
}
