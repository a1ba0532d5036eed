/** The addresses that answer with a page: the web's router has a screen for each, and the BFF answers 404 to all others. */
export const pagePaths = [
  '/',
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
] as const
export type PagePath = (typeof pagePaths)[number]

/** Addresses that only lead elsewhere, permanently. */
export const redirects: Readonly<Record<string, PagePath>> = { '/admin': '/' }
