import type { ClassesView } from '@robokids/contracts/bff'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { levelPages, type PageData, type PagePath } from '@robokids/contracts/pages'
import type { Services } from '../upstream.ts'
import { classesView } from './classes.ts'
import { shopView } from './shop.ts'
import { courseList, coursesOfLevel, productsOf, type Thing } from './structured-data.ts'

export interface LivePage {
  data: PageData
  /** What it says to search engines. */
  things: Thing[]
}

/** The pages that show what changes by the day. */
export function livePages(services: Services, siteUrl: string): ReadonlyMap<PagePath, () => Promise<LivePage>> {
  const withClasses = (thingsOf: (classes: ClassesView) => Thing[]) => async () => {
    const classes = await classesView(services)
    return { data: { classes }, things: thingsOf(classes) }
  }
  const ofLevel = (classType: LevelClassType) => withClasses((classes) => coursesOfLevel(classes, classType, siteUrl))
  const withShop = async () => {
    const shop = await shopView(services)
    return { data: { shop }, things: productsOf(shop, siteUrl) }
  }
  return new Map<PagePath, () => Promise<LivePage>>([
    ['/robokidslanding', withClasses((classes) => courseList(classes, siteUrl))],
    ['/robokids', ofLevel('basic')],
    ...(Object.entries(levelPages) as [LevelClassType, PagePath][]).map(
      ([classType, path]) => [path, ofLevel(classType)] as const,
    ),
    ['/news/fall-launch', withClasses(() => [])],
    ['/shop', withShop],
  ])
}
