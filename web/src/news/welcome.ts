import type { Content } from '../reading/blocks.ts'
import { news } from './news-cards.ts'

export const welcome: Content = {
  kicker: 'News',
  title: news.welcome.title,
  lead: news.welcome.snippet,
  date: ['Published', news.welcome.date],
  picture: news.welcome.picture,
  parent: { to: '/news-guides', text: 'News & Guides' },
  opening: [
    'A robot is a wonderful teacher. It does exactly what it was told, it never gets tired of trying again, and it does not care who you are. If the wheel turns the wrong way, the wheel is wrong, not the child.',
    'That is the whole reason for Robo Kids Learning. We want children to meet engineering with their own hands, early, and in good company.',
  ],
  sections: [
    {
      id: 'mission',
      title: 'Our mission',
      blocks: [
        'Empowering Kids to Build the Future with Robotic Engineering. In everyday words: a child who has built a robot, and knows why it works, sees the world as something that can be understood, fixed and improved.',
        'We do not promise that every child becomes an engineer. We do promise that no child in our classes just watches.',
      ],
    },
    {
      id: 'how',
      title: 'How it works',
      blocks: [
        {
          kind: 'list',
          items: [
            [
              { strong: 'A box comes to your home.' },
              ' The kit has all the parts the build needs. We ship across the U.S.',
            ],
            [
              { strong: 'A coach comes on the call.' },
              ' Classes are live, in small groups of 5 to 10 students. The coach sees what is on the table and asks the next good question.',
            ],
            [
              { strong: 'Your child does the building.' },
              ' Mistakes included: they are where most of the learning is.',
            ],
          ],
        },
        [
          'There are four levels, from ',
          { to: '/robokidspage1', text: 'Foundations' },
          ' to the ',
          { to: '/robokidspage4', text: 'Custom Innovation Lab' },
          '. Older students who want to start something can find their path in the ',
          { to: '/innovator', text: 'Innovator Program' },
          '.',
        ],
      ],
    },
    {
      id: 'parents',
      title: 'What we ask of you',
      blocks: [
        'A table that may get messy, an adult within reach, and patience when the first program does nothing at all. It’s usually a semicolon.',
        [
          'Would you like to try before you decide? Our ',
          { to: '/news-guides', text: 'guides' },
          ' are free. Begin with ',
          { to: '/guides/light-switch', text: 'the light switch' },
          ' this weekend.',
        ],
      ],
    },
  ],
  next: [
    { to: '/robokidslanding', text: 'View Classes' },
    { to: '/news-guides', text: 'All news and guides' },
  ],
}
