import type { ClassesView } from '@robokids/contracts/bff'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { levelPages, type PageData, type PagePath, productPages } from '@robokids/contracts/pages'
import type { Offers } from '../offers.ts'
import type { Cached } from '../cached.ts'
import { courseList, coursesOfLevel, productsOf, type JsonLd } from './structured-data.ts'

export interface DynamicPage {
  data: PageData
  /** Structured data for search engines. */
  jsonLd: JsonLd[]
}

/** Reads a page's data: the same object until the data changes, undefined if it is unavailable. */
export type ReadPage = () => Promise<DynamicPage | undefined>

/** Composes a page again only if its source has changed. */
function composed<Source>(cached: Cached<Source>, compose: (source: Source) => DynamicPage): ReadPage {
  let last: { source: Source; page: DynamicPage } | undefined
  return async () => {
    const source = await cached.get()
    if (source === undefined) return undefined
    if (last?.source !== source) last = { source, page: compose(source) }
    return last.page
  }
}

/** The pages with prices, dates or products, which change while the site runs. */
export function dynamicPages({ cached }: Offers, siteUrl: string): ReadonlyMap<PagePath, ReadPage> {
  const withClasses = (jsonLdOf: (classes: ClassesView) => JsonLd[]) =>
    composed(cached.classes, (classes) => ({ data: { classes }, jsonLd: jsonLdOf(classes) }))
  const ofLevel = (classType: LevelClassType) => withClasses((classes) => coursesOfLevel(classes, classType, siteUrl))
  const withShop = (sku?: string) =>
    composed(cached.shop, (shop) => ({ data: { shop }, jsonLd: productsOf(shop, siteUrl, sku) }))
  const withPlans = composed(cached.plans, (plans) => ({ data: { plans }, jsonLd: [] }))
  return new Map<PagePath, ReadPage>([
    ['/robokidslanding', withClasses((classes) => courseList(classes, siteUrl))],
    ['/robokids', ofLevel('basic')],
    ...(Object.entries(levelPages) as [LevelClassType, PagePath][]).map(
      ([classType, path]) => [path, ofLevel(classType)] as const,
    ),
    ['/levels', withClasses((classes) => courseList(classes, siteUrl))],
    ['/news/fall-launch', withClasses(() => [])],
    ['/shop', withShop()],
    ...Object.entries(productPages).map(([sku, path]) => [path, withShop(sku)] as const),
    ['/membership', withPlans],
    ['/membership/register', withPlans],
    ['/terms', withPlans],
  ])
}
