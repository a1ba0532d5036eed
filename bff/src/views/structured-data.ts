import type { ClassesView } from '@robokids/contracts/bff'
import { classTimeZone } from '@robokids/contracts/class-date'
import { levelPages, productPages } from '@robokids/contracts/pages'
import type { ShopView } from '@robokids/contracts/shop'

type Level = ClassesView['levels'][number]
export type Thing = Record<string, unknown>

const price = ({ amount, currency }: { amount: number; currency: string }) => ({
  price: (amount / 100).toFixed(2),
  priceCurrency: currency.toUpperCase(),
})

const organization = { '@type': 'EducationalOrganization', name: 'Robo Kids Learning' }

/** A level as schema.org describes a course: today's price, and the dates that are open. */
function courseOf(level: Level, siteUrl: string): Thing {
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

/** A product as schema.org describes it. What cannot be bought is offered by nobody. */
function productOf({ sku, name, state, amount, currency }: ShopView['products'][number], siteUrl: string): Thing {
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

const coursesOf = (levels: Level[], siteUrl: string): Thing[] => levels.map((level) => courseOf(level, siteUrl))

/** The landing page's levels, in their order. */
export function courseList({ levels }: ClassesView, siteUrl: string): Thing[] {
  const itemListElement = coursesOf(levels, siteUrl).map((item, index) => ({
    '@type': 'ListItem',
    position: index + 1,
    item,
  }))
  return [{ '@type': 'ItemList', itemListElement }]
}

/** The course of a level's page. */
export function coursesOfLevel({ levels }: ClassesView, classType: Level['classType'], siteUrl: string): Thing[] {
  return coursesOf(
    levels.filter((level) => level.classType === classType),
    siteUrl,
  )
}

const isOwnPage = (sku: string): sku is keyof typeof productPages => Object.hasOwn(productPages, sku)

/** What the shop has, or of that the one. */
export function productsOf({ products }: ShopView, siteUrl: string, only?: string): Thing[] {
  return products
    .filter(({ sku, state }) => state !== 'withdrawn' && sku === (only ?? sku))
    .map((product) => productOf(product, siteUrl))
}
