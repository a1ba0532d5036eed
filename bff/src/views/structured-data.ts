import type { ClassesView } from '@robokids/contracts/bff'
import { classTimeZone } from '@robokids/contracts/class-date'
import { levelPages, type PagePath } from '@robokids/contracts/pages'
import { productsSchema } from '@robokids/contracts/shop'
import type { z } from 'zod'
import type { Services } from '../upstream.ts'
import { classesView } from './classes.ts'

type Level = ClassesView['levels'][number]
type Thing = Record<string, unknown>

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
function productOf(
  { sku, name, state, amount, currency }: z.infer<typeof productsSchema>['products'][number],
  siteUrl: string,
): Thing {
  const url = `${siteUrl}/shop`
  const forSale = state === 'available' || state === 'pre_order'
  return {
    '@type': 'Product',
    '@id': `${url}#${sku.split(':').at(-1)}`,
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

/** What each page has to say that changes by the day. */
export function liveThings(services: Services, siteUrl: string): ReadonlyMap<PagePath, () => Promise<Thing[]>> {
  const courses = async () => {
    const { levels } = await classesView(services)
    return levels
  }
  const ofLevel = (classType: Level['classType']) => async () => {
    const levels = await courses()
    return levels.filter((level) => level.classType === classType).map((level) => courseOf(level, siteUrl))
  }
  return new Map<PagePath, () => Promise<Thing[]>>([
    [
      '/robokidslanding',
      async () => [
        {
          '@type': 'ItemList',
          itemListElement: (await courses()).map((level, index) => ({
            '@type': 'ListItem',
            position: index + 1,
            item: courseOf(level, siteUrl),
          })),
        },
      ],
    ],
    ['/robokids', ofLevel('basic')],
    ...(Object.entries(levelPages) as [Level['classType'], PagePath][]).map(
      ([classType, path]) => [path, ofLevel(classType)] as const,
    ),
    [
      '/shop',
      async () => {
        const { products } = await services.billing.call('GET', '/products', { answer: productsSchema })
        return products.filter(({ state }) => state !== 'withdrawn').map((product) => productOf(product, siteUrl))
      },
    ],
  ])
}

/** As markup for a document's head. It runs nothing, and no text in it ends it. */
export function structuredData(things: Thing[]): string {
  if (things.length === 0) return ''
  const json = JSON.stringify({ '@context': 'https://schema.org', '@graph': things }).replaceAll('<', '\\u003c')
  return `<script type="application/ld+json">${json}</script>`
}
