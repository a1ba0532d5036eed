import type { LevelClassType } from './enrollment.ts'

/** The addresses that answer with a page: the web's router has a screen for each, and the BFF answers 404 to all others. */
export const pagePaths = [
  '/',
  '/shop',
  '/shop/success',
  '/shop/notice',
  '/robokidslanding',
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

/** Addresses that only lead elsewhere, permanently. */
export const redirects: Readonly<Record<string, PagePath>> = { '/admin': '/', '/guides': '/news-guides' }

/** Stands in the built documents where the site's own address belongs, which is known only where they are served. */
export const buildOrigin = 'https://site.invalid'
