import { formatClassDate } from '@robokids/contracts/class-date'
import { showLevelPrice } from '../classes/LevelPrice.tsx'
import type { Content } from '../reading/blocks.ts'
import { news } from './news-cards.ts'

/** The first days of the fall 2025 season, which is over: they do not change. */
export const fall2025Days = ['2025-10-03', '2025-10-04', '2025-10-05', '2025-10-06'] as const
export const kitsShipFrom = '2025-08-25'
export const promotionDays = ['2025-08-23', '2025-10-10'] as const

export const fallLaunch: Content = {
  showPrice: showLevelPrice,
  kicker: 'News',
  title: news.fallLaunch.title,
  lead: news.fallLaunch.snippet,
  date: ['Published', news.fallLaunch.date],
  picture: news.fallLaunch.picture,
  parent: { to: '/news-guides', text: 'News & Guides' },
  opening: [
    'The benches are cleared and the boxes are packed: this fall, all four levels of Robo Kids Learning begin. Every class is live on a video call, in a small group of 5 to 10 students, with a kit that we ship to your home.',
  ],
  sections: [
    {
      id: 'dates',
      title: 'When it begins',
      blocks: [
        'Choose one of four start dates for your child. All levels start from 4:00 PM Pacific on a live video call.',
        { kind: 'list', items: fall2025Days.map(formatClassDate) },
        `Kits ship from ${formatClassDate(kitsShipFrom)}, as soon as you sign the waiver, and arrive before the program starts.`,
        [
          'Reading this later? The ',
          { to: '/robokidslanding', text: 'class page' },
          ' always has the dates that are open now.',
        ],
      ],
    },
    {
      id: 'levels',
      title: 'Which level?',
      blocks: [
        {
          kind: 'table',
          caption: 'The four levels of fall 2025',
          head: ['Level', 'Recommended ages', 'Program', 'Price'],
          rows: [
            [[{ to: '/robokidspage1', text: 'Level 1 Foundations' }], '6 to 13', '6 weeks', [{ priceOf: 'basic' }]],
            [
              [{ to: '/robokidspage2', text: 'Level 2 Smart Robotics and Coding' }],
              '8 to 14',
              '6 weeks',
              [{ priceOf: 'intermediate' }],
            ],
            [
              [{ to: '/robokidspage3', text: 'Level 3 Autonomous Mastery' }],
              '10 to 15',
              '8 weeks',
              [{ priceOf: 'advanced' }],
            ],
            [
              [{ to: '/robokidspage4', text: 'Level X Custom Innovation Lab' }],
              '11 to 16',
              '6 to 8 weeks',
              [{ priceOf: 'custom' }],
            ],
          ],
        },
        'The price includes the live sessions, the kit and shipping. Ages are recommendations: you know your child best.',
      ],
    },
    {
      id: 'siblings',
      title: 'A sibling joins free',
      blocks: [
        `Enroll one child in Level 1, 2 or 3 and a sibling joins free, from ${formatClassDate(promotionDays[0])} to ${formatClassDate(promotionDays[1])}. Two children on one bench argue a little and learn a lot.`,
      ],
    },
    {
      id: 'how',
      title: 'How to register',
      blocks: [
        {
          kind: 'steps',
          items: [
            'Choose a level and a date, and fill in the form. You register as the parent or guardian, 18 or older.',
            'Pay by card on the next page.',
            'Sign the waiver. It takes a few minutes.',
            'The kit ships, and we email you the class link.',
          ],
        },
      ],
    },
  ],
  next: [
    { to: '/robokidslanding', text: 'View Classes' },
    { to: '/news-guides', text: 'All news and guides' },
  ],
}
