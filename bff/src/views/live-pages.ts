import type { ClassesView } from '@robokids/contracts/bff'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { levelPages, type PageData, type PagePath, productPages } from '@robokids/contracts/pages'
import type { Offers } from '../offers.ts'
import type { Recent } from '../recent.ts'
import { courseList, coursesOfLevel, productsOf, type Thing } from './structured-data.ts'

export interface LivePage {
  data: PageData
  /** What it says to search engines. */
  things: Thing[]
}

/** What a page shows, by what of it is known: the same as long as that is. */
export type ReadPage = () => Promise<LivePage | undefined>

/** Composes a page anew only where what it is of is another. */
function composed<Answer>(recent: Recent<Answer>, compose: (answer: Answer) => LivePage): ReadPage {
  let last: { answer: Answer; page: LivePage } | undefined
  return async () => {
    const answer = await recent.get()
    if (answer === undefined) return undefined
    if (last?.answer !== answer) last = { answer, page: compose(answer) }
    return last.page
  }
}

/** The pages that show what changes by the day. */
export function livePages({ recently }: Offers, siteUrl: string): ReadonlyMap<PagePath, ReadPage> {
  const withClasses = (thingsOf: (classes: ClassesView) => Thing[]) =>
    composed(recently.classes, (classes) => ({ data: { classes }, things: thingsOf(classes) }))
  const ofLevel = (classType: LevelClassType) => withClasses((classes) => coursesOfLevel(classes, classType, siteUrl))
  const withShop = (sku?: string) =>
    composed(recently.shop, (shop) => ({ data: { shop }, things: productsOf(shop, siteUrl, sku) }))
  const withPlans = composed(recently.plans, (plans) => ({ data: { plans }, things: [] }))
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
