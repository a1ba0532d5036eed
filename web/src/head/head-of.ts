import { levelPages } from '@robokids/contracts/pages'
import { type PageAbout, pageMetadata } from './page-metadata.ts'
import { imageAlts } from './share-images.ts'

/** `/robokids` shows the same as the first level's page, which is the canonical one. */
export const canonicalPath = (path: string): string => (path === '/robokids' ? levelPages.basic : path)

interface HeadOf {
  path: string
  title: string
  siteUrl: string
}

/** A page's metadata for tabs, search results and shared links. */
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
