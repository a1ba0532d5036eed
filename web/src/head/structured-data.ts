import { signUpContent } from '../classes/sign-up-texts.ts'
import { supportEmail } from '../contact/support-email.ts'
import { faq as allQuestions } from '../content/faq.ts'
import { guides } from '../guides/guide-cards.ts'
import { blog } from '../news/blog.ts'
import { news } from '../news/news-cards.ts'
import type { Card } from '../reading/blocks.ts'
import { plain } from '../reading/text.ts'
import { pageMetadata } from './page-metadata.ts'
import { imageAlts } from './share-images.ts'

type Thing = Record<string, unknown>

const articles = new Map<string, Card>(
  [...Object.values(news), ...Object.values(guides)].map((card) => [card.link, card]),
)

const faqs: Record<string, (typeof signUpContent)[keyof typeof signUpContent]['faq']> = {
  '/faq': allQuestions.sections
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (typeof block === 'object' && 'kind' in block && block.kind === 'questions' ? block.items : []))
    .map(({ question, answer }) => ({ question, answer: answer.map(plain).join(' ') })),
  '/robokids': signUpContent.basic.faq,
  '/robokidspage1': signUpContent.basic.faq,
  '/robokidspage2': signUpContent.intermediate.faq,
  '/robokidspage3': signUpContent.advanced.faq,
  '/robokidspage4': signUpContent.custom.faq,
}

/** The breadcrumbs of a page, after the home page. */
function parentsOf(path: string): { path: string; name: string }[] {
  if (articles.has(path)) return [{ path: '/news-guides', name: 'News & Guides' }]
  if (path.startsWith('/shop/')) return [{ path: '/shop', name: 'Shop' }]
  if (path === '/levels' || (path in faqs && path !== '/faq'))
    return [{ path: '/robokidslanding', name: 'Robo Kids Learning classes' }]
  if (path.startsWith('/about/')) return [{ path: '/about', name: 'About' }]
  if (path.startsWith('/membership/')) return [{ path: '/membership', name: 'Membership' }]
  return []
}

/**
 * The static JSON-LD of a page; the server adds prices, dates and seats
 * when it serves the page.
 */
export function structuredData(path: string, title: string, siteUrl: string): Thing[] {
  const about = pageMetadata[path]
  if (!about) return []
  const image = `${siteUrl}/og/${about.image}.png`
  const organization = {
    '@type': 'EducationalOrganization',
    '@id': `${siteUrl}/#organization`,
    name: 'Robo Kids Learning',
    url: `${siteUrl}/`,
    logo: `${siteUrl}/icons/icon-512.png`,
  }
  const things: Thing[] = []
  if (path === '/') {
    things.push(
      {
        ...organization,
        description: about.description,
        email: supportEmail,
        image,
        location: { '@type': 'Place', name: 'Silicon Valley, California' },
      },
      { '@type': 'WebSite', name: 'Robo Kids Learning', url: `${siteUrl}/`, publisher: { '@id': organization['@id'] } },
    )
  } else {
    const trail = [{ path: '/', name: 'Home' }, ...parentsOf(path), { path, name: title }]
    things.push({
      '@type': 'BreadcrumbList',
      itemListElement: trail.map((step, index) => ({
        '@type': 'ListItem',
        position: index + 1,
        name: step.name,
        item: siteUrl + step.path,
      })),
    })
  }
  const article = (headline: string, url: string, more: Thing) => ({
    headline,
    url,
    image: { '@type': 'ImageObject', url: image, width: 1200, height: 630, caption: imageAlts[about.image] },
    author: organization,
    publisher: organization,
    ...more,
  })
  const card = articles.get(path)
  if (card) {
    things.push({
      '@type': card.category === 'News' ? 'Article' : 'TechArticle',
      ...article(card.title, siteUrl + path, {
        description: card.snippet,
        mainEntityOfPage: siteUrl + path,
        ...(card.date ? { datePublished: card.date } : {}),
      }),
    })
  }
  if (path === '/blog') {
    for (const { id, title: headline, date } of blog.sections) {
      things.push({ '@type': 'Article', ...article(headline, `${siteUrl}${path}#${id}`, { datePublished: date }) })
    }
  }
  const faq = faqs[path]
  if (faq) {
    things.push({
      '@type': 'FAQPage',
      mainEntity: faq.map(({ question, answer }) => ({
        '@type': 'Question',
        name: question,
        acceptedAnswer: { '@type': 'Answer', text: answer },
      })),
    })
  }
  return things
}
