import { levelPages } from '@robokids/contracts/pages'
import { type PageAbout, pageMetadata } from './page-metadata.ts'

/** `/robokids` shows the same as the first level's page, which is the one to be found. */
export const canonicalPath = (path: string): string => (path === '/robokids' ? levelPages.basic : path)

interface HeadOf {
  path: string
  title: string
  siteUrl: string
}

/** What a page says about itself where it is not shown: in tabs, in results of a search, and when somebody shares it. */
export function headOf({ path, title, siteUrl }: HeadOf) {
  const fullTitle = `${title} · Robo Kids Learning`
  const about: PageAbout | undefined = pageMetadata[path]
  if (!about) return { meta: [{ title: fullTitle }, { name: 'robots', content: 'noindex' }] }
  const address = siteUrl + canonicalPath(path)
  return {
    meta: [
      { title: fullTitle },
      { name: 'robots', content: 'max-image-preview:large' },
      { name: 'description', content: about.description },
      { property: 'og:site_name', content: 'Robo Kids Learning' },
      { property: 'og:type', content: about.type === 'article' ? 'article' : 'website' },
      { property: 'og:title', content: title },
      { property: 'og:description', content: about.description },
      { property: 'og:url', content: address },
      { property: 'og:image', content: `${siteUrl}/og/${about.image}.png` },
      { property: 'og:image:width', content: '1200' },
      { property: 'og:image:height', content: '630' },
      { property: 'og:image:alt', content: imageAlts[about.image] },
      { name: 'twitter:card', content: 'summary_large_image' },
    ],
    links: [{ rel: 'canonical', href: address }],
  }
}

/** Each kind of page has a picture for those who share it. */
export const imageAlts = {
  home: 'A spider robot, a rover and a walker beside the words Robo Kids Learning',
  classes: 'Four robots, one for each level of our live classes',
  membership: 'A laptop with a small group on a live video call, and a rover beside it',
  innovator: 'A student at a bench with the plan of a spider robot',
  guides: 'An LED and a button, a gear motor and a servo with its arm',
  news: 'A waving robot, a calendar with a kit box, and a bug robot',
  shop: 'A kit box, a spider robot and a teddy bear robot',
  about: 'The founder and the director at their benches',
} as const
export type ShareImage = keyof typeof imageAlts
