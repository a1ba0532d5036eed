import type { ClassesView } from './bff.ts'
import type { MembershipPlans } from './billing.ts'
import type { LevelClassType } from './enrollment.ts'
import { type ProductSku, robotSpider, teddyBear } from './products.ts'
import type { ShopView } from './shop.ts'

/** The addresses that answer with a page: the web's router has a screen for each, and the BFF answers 404 to all others. */
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
  '/membership',
  '/membership/register',
  '/membership/login',
  '/confirm',
  '/success',
  '/oauth-redirect',
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

/** Each level's sign-up page. */
export const levelPages = {
  basic: '/robokidspage1',
  intermediate: '/robokidspage2',
  advanced: '/robokidspage3',
  custom: '/robokidspage4',
} as const satisfies Record<LevelClassType, PagePath>

/** Each product's own page. */
export const productPages = {
  [robotSpider]: '/shop/robot-spider',
  [teddyBear]: '/shop/teddy-bear',
} as const satisfies Record<ProductSku, PagePath>

/** Addresses that only lead elsewhere, permanently. */
export const redirects: Readonly<Record<string, PagePath>> = { '/admin': '/', '/guides': '/news-guides' }

/**
 * What a page shows that changes by the day, by the queries that the browser reads it with: the answers of `/api/classes`,
 * `/api/membership-plans` and `/api/shop`.
 */
export interface PageData {
  classes?: ClassesView
  plans?: MembershipPlans
  shop?: ShopView
}

/** Before and after a page's markup in its document. */
export const applicationMarks = ['<!--application-->', '<!--/application-->'] as const

/** The id of the script in a document that has its `PageData` as JSON, and runs nothing. */
export const pageDataId = 'page-data'

/**
 * Data in a document, as a script that runs nothing and that no text in it ends.
 *
 * @param attributes its markup's: `type`, and what it is found by.
 */
export const dataScript = (attributes: string, data: unknown): string =>
  `<script ${attributes}>${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>`

/**
 * Data that says to search engines what a page is about.
 *
 * @see https://schema.org
 */
export const structuredDataScript = (things: unknown[]): string =>
  things.length === 0
    ? ''
    : dataScript('type="application/ld+json"', { '@context': 'https://schema.org', '@graph': things })

/** Makes a page's markup of what is known today, as the browser takes it over. The web's build puts it out, for who serves the documents. */
export type RenderApplication = (path: PagePath, siteUrl: string, data: PageData) => Promise<string>

/** Stands in the built documents where the site's own address belongs, which is known only where they are served. */
export const buildOrigin = 'https://site.invalid'
