import { guideCards } from '../guides/guide-cards.ts'
import type { Content } from '../reading/blocks.ts'
import { newsCards } from './news-cards.ts'

export const newsAndGuides: Content = {
  kicker: 'News & Guides',
  title: 'Things to read, things to build',
  lead: 'What is new at our bench, and free guides with wiring, code and troubleshooting for yours.',
  picture: 'guide-scene',
  sections: [
    { id: 'news', title: 'News', blocks: [{ kind: 'cards', cards: newsCards }] },
    { id: 'guides', title: 'Guides', blocks: [{ kind: 'cards', cards: guideCards }] },
  ],
}

export const newsPage: Content = {
  kicker: 'News',
  title: 'What is new',
  lead: 'From our classes, from the world of small robots, and for parents who like to know how things work.',
  picture: 'pin-board',
  parent: { to: '/news-guides', text: 'News & Guides' },
  sections: [{ id: 'latest', title: 'Latest news', blocks: [{ kind: 'cards', cards: newsCards }] }],
  next: [
    { to: '/news-guides', text: 'All news and guides' },
    { to: '/blog', text: 'Read the blog' },
  ],
}
