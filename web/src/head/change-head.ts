import { headOf } from './head-of.ts'

/** Updates the document's head on navigation, so that sharing and bookmarking use the page that is shown. */
export function changeHead(path: string, title: string): void {
  const { meta, links = [] } = headOf({ path, title, siteUrl: document.documentElement.dataset['site'] ?? '' })
  // Tags of the previous page, including those that the new one lacks.
  const stale =
    'meta[name="description"], meta[name="robots"], meta[name^="twitter:"], meta[property], link[rel="canonical"]'
  for (const element of document.head.querySelectorAll(`${stale}, script[type="application/ld+json"]`)) element.remove()
  for (const attributes of meta) if (!('title' in attributes)) append('meta', attributes)
  for (const attributes of links) append('link', attributes)
}

function append(tag: 'meta' | 'link', attributes: Record<string, string>): void {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  document.head.append(element)
}
