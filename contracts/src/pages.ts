import type { ClassesView } from './bff.ts'
import type { MembershipPlans } from './billing.ts'
import type { LevelClassType } from './enrollment.ts'
import { type ProductSku, robotSpider, teddyBear } from './products.ts'
import type { ShopView } from './shop.ts'

/** The paths of all pages: the web's router has a screen for each, and the BFF responds 404 to all others. */
export const pagePaths = [
  '/',
  '/shop',
  '/shop/robot-spider',
  '/shop/teddy-bear',
  '/shop/success',
  '/shop/notice',
  '/robokidslanding',
  '/levels',
  '/robokids',
  '/robokidspage1',
  '/robokidspage2',
  '/robokidspage3',
  '/robokidspage4',
  '/robokids-payment',
  '/robokids/success',
  '/robokids-success',
  '/robokids/receipt',
  '/robokids/waiver',
  '/waiver',
  '/waitlist',
  '/membership',
  '/membership/register',
  '/membership/login',
  '/confirm',
  '/success',
  '/oauth-redirect',
  '/dashboard',
  '/dashboard/move',
  '/dashboard/correct',
  '/choice',
  '/dashboard/cancel',
  '/dashboard/book',
  '/profile',
  '/about',
  '/about/founder-robo-kids-learning',
  '/about/director-educational-services',
  '/contact',
  '/faq',
  '/privacy',
  '/terms',
  '/news',
  '/blog',
  '/news-guides',
  '/news/welcome',
  '/news/security-basics',
  '/news/fall-launch',
  '/news/bugbots',
  '/guides/light-switch',
  '/guides/motor-guide',
  '/guides/servo-guide',
  '/innovator',
  '/follow',
  '/design-system',
] as const
export type PagePath = (typeof pagePaths)[number]

/** The sign-up page of each level. */
export const levelPages = {
  basic: '/robokidspage1',
  intermediate: '/robokidspage2',
  advanced: '/robokidspage3',
  custom: '/robokidspage4',
} as const satisfies Record<LevelClassType, PagePath>

/** The page of each product. */
export const productPages = {
  [robotSpider]: '/shop/robot-spider',
  [teddyBear]: '/shop/teddy-bear',
} as const satisfies Record<ProductSku, PagePath>

/** Permanent redirects. */
export const redirects: Readonly<Record<string, PagePath>> = { '/admin': '/', '/guides': '/news-guides' }

/**
 * The data of a rendered page that changes over time, by the browser's queries: the responses of `/api/classes`,
 * `/api/membership-plans` and `/api/shop`.
 */
export interface PageData {
  classes?: ClassesView
  plans?: MembershipPlans
  shop?: ShopView
}

/** The markers before and after the page's markup in a document. */
export const applicationMarkers = ['<!--application-->', '<!--/application-->'] as const

/** The id of the data script with the `PageData` JSON of a document. */
export const pageDataId = 'page-data'

/**
 * Returns a data script: a `<script>` that runs nothing, with its JSON escaped so that no text in it can end the script.
 *
 * @param attributes the attributes of the tag: `type`, and an id to find it by.
 */
export const dataScript = (attributes: string, data: unknown): string =>
  `<script ${attributes}>${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>`

/**
 * Returns the JSON-LD that describes a page to search engines.
 *
 * @see https://schema.org
 */
export const structuredDataScript = (items: unknown[]): string =>
  items.length === 0
    ? ''
    : dataScript('type="application/ld+json"', { '@context': 'https://schema.org', '@graph': items })

/** Renders the markup of a page with today's data, for the browser to hydrate. The web's build exports it to the BFF. */
export type RenderApplication = (path: PagePath, siteUrl: string, data: PageData) => Promise<string>

/** A placeholder in the built documents for the site's origin, which is known only when they are served. */
export const buildOrigin = 'https://site.invalid'
