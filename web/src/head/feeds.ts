import { pagePaths } from '@robokids/contracts/pages'
import { newsCards } from '../news/news-cards.ts'
import { canonicalPath } from './head-of.ts'
import { pageMetadata } from './page-metadata.ts'

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function sitemap(siteUrl: string): string {
  const dates = new Map<string, string | undefined>(newsCards.map(({ link, date }) => [link, date]))
  const entries = pagePaths
    .filter((path) => path in pageMetadata && canonicalPath(path) === path)
    .map((path) => {
      const date = dates.get(path)
      return `  <url><loc>${siteUrl}${path}</loc>${date ? `<lastmod>${date}</lastmod>` : ''}</url>`
    })
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join('\n')}
</urlset>
`
}

function rss(siteUrl: string): string {
  const items = newsCards
    .toSorted((one, other) => (other.date ?? '').localeCompare(one.date ?? ''))
    .map(
      ({ title, snippet, link, date }) => `    <item>
      <title>${escaped(title)}</title>
      <link>${siteUrl}${link}</link>
      <guid>${siteUrl}${link}</guid>
      <description>${escaped(snippet)}</description>
      <pubDate>${new Date(`${date}T16:00:00Z`).toUTCString().replace('GMT', '+0000')}</pubDate>
    </item>`,
    )
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
  <channel>
    <title>News of Robo Kids Learning</title>
    <link>${siteUrl}/news</link>
    <description>What is new at Robo Kids Learning: classes, research worth knowing, and help for parents.</description>
    <language>en-US</language>
    <atom:link href="${siteUrl}/news/rss.xml" rel="self" type="application/rss+xml"/>
${items.join('\n')}
  </channel>
</rss>
`
}

/** Personal pages have `noindex`: crawlers must be allowed to read it. */
const robots = (siteUrl: string) => `User-agent: *
Disallow: /api/
Allow: /

Sitemap: ${siteUrl}/sitemap.xml
`

/** Files for crawlers and feed readers, by name. */
export function feeds(siteUrl: string): Record<string, string> {
  return { 'sitemap.xml': sitemap(siteUrl), 'robots.txt': robots(siteUrl), 'news/rss.xml': rss(siteUrl) }
}
